//! Counters, which the engine merges.

use std::collections::BTreeMap;

use super::{Value, corrupt};
use model::error::Result;

/// A counter of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count(pub(crate) i64);

impl Value for Count {
    const FORM: &'static str = "8 bytes little-endian, a merged sum; dropped at compaction if it is zero";

    fn read(_: &[u8], bytes: &[u8]) -> Result<Self> {
        read_count(bytes).map(Self).ok_or_else(|| corrupt("counter"))
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        Ok(count(self.0).to_vec())
    }
}

/// One step of a counter, and its merged sum.
pub(crate) fn count(step: i64) -> [u8; 8] {
    step.to_le_bytes()
}

pub(crate) fn read_count(bytes: &[u8]) -> Option<i64> {
    Some(i64::from_le_bytes(bytes.try_into().ok()?))
}

/// Steps of the counters of an item, and their merged sums.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ItemSteps {
    /// By [`ItemCounter`](model::ItemCounter).
    pub(crate) pointing: [i64; 2],
    /// By the byte of the kind of reaction.
    pub(crate) reactions: BTreeMap<u8, i64>,
}

impl ItemSteps {
    /// Adds further steps.
    pub(crate) fn add(&mut self, steps: &Self) {
        for (sum, step) in self.pointing.iter_mut().zip(steps.pointing) {
            *sum = sum.wrapping_add(step);
        }
        for (kind, step) in &steps.reactions {
            let sum = self.reactions.entry(*kind).or_default();
            *sum = sum.wrapping_add(*step);
        }
    }
}

impl Value for ItemSteps {
    const FORM: &'static str = "its [counts](#counts); merged sums; dropped at compaction if all are zero";

    fn read(_: &[u8], bytes: &[u8]) -> Result<Self> {
        read_item_counts(bytes).ok_or_else(|| corrupt("counters"))
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        Ok(item_counts(self))
    }
}

/// The counters, those of reactions without zeros.
pub(crate) fn item_counts(steps: &ItemSteps) -> Vec<u8> {
    let mut bytes: Vec<u8> = steps.pointing.into_iter().flat_map(count).collect();
    for (kind, step) in steps.reactions.iter().filter(|(_, step)| **step != 0) {
        bytes.push(*kind);
        bytes.extend(count(*step));
    }
    bytes
}

pub(crate) fn read_item_counts(bytes: &[u8]) -> Option<ItemSteps> {
    let (pointing, reactions) = bytes.split_at_checked(16)?;
    let pointing = [read_count(&pointing[..8])?, read_count(&pointing[8..])?];
    let reactions = reactions.chunks(9).map(|part| Some((*part.first()?, read_count(&part[1..])?)));
    Some(ItemSteps { pointing, reactions: reactions.collect::<Option<_>>()? })
}
