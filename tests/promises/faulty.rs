//! An engine that changes rows on their way, by which a test shows that it detects a fault.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kv::{Change, Family, Kv, Op, Snapshot, TableStats, Usage, View};
use model::error::{Code, Error, Result};
use model::{EffectKind, NoticeKind};

/// A fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// An item has one of its paths only.
    OnePath,
    /// Outboxes do not tell the kinds of items: no rule is asked for pulled items.
    PulledWithoutKind,
    /// Follows have no rules.
    FollowsWithoutRule,
    /// A block ends no follow.
    BlockLeavesFollow,
    /// The feed of changes does not tell of the follows that a block ends.
    PartedUntold,
    /// The approval of a follow outlasts it: the next follow has its notice again.
    ApprovalOutlasts,
    /// An item that is a comment on an item of a user, and mentions the user, has two notices for the user.
    MentionTwice,
    /// Notices do not tell that their items are for followers only.
    NoticesForAll,
    /// None. But a node that writes an event, a name or the end of an erasure without the mark behind it ends the test: after a
    /// crash between the two it would make the commands before it once more.
    NotWithoutMark,
    /// As `NotWithoutMark`. And each fifth of these writes is refused, as on a full device.
    Refused,
}

/// The writes that were refused so far, by all engines.
pub(crate) static REFUSED: AtomicU64 = AtomicU64::new(0);

pub(crate) struct Faulty {
    pub(crate) engine: Arc<dyn Kv>,
    pub(crate) fault: Fault,
    /// The writes with a mark.
    marked: AtomicU64,
}

impl Faulty {
    pub(crate) fn new(engine: Arc<dyn Kv>, fault: Fault) -> Self {
        Self { engine, fault, marked: AtomicU64::new(0) }
    }
}

/// A change of a row: the value, a step, or none.
type Altered = (&'static Family, Vec<u8>, Op<Vec<u8>>);

/// The first byte of the row of an effect.
const EFFECT: u8 = 0x80;
/// The place of the inverted kind in the key of a notice.
const KIND: usize = 16;

impl Fault {
    /// The row in place of a row of a write that has a row of a block if `blocks`; `None` for none.
    fn alter(self, (table, key, op): Altered, blocks: bool, paths: &mut BTreeSet<Vec<u8>>) -> Vec<Altered> {
        let is_effect = |kind| matches!(&op, Op::Put(row) if row.first() == Some(&(EFFECT | kind as u8)));
        let is_notice = |kind| table.name == "notices" && key[KIND] == !(kind as u8);
        let keeps = match (self, table.name) {
            // Of the key without the source.
            (Self::OnePath, "outbox") => !matches!(op, Op::Put(_)) || paths.insert(key[8..].to_vec()),
            (Self::BlockLeavesFollow, "following") => op != Op::Delete || !blocks,
            (Self::PartedUntold, "events") => !blocks || !is_effect(EffectKind::FollowRemoved),
            (Self::ApprovalOutlasts, _) => op != Op::Delete || !is_notice(NoticeKind::RequestApproved),
            _ => true,
        };
        if !keeps {
            return Vec::new();
        }
        match (self, table.name, op) {
            (Self::PulledWithoutKind, "outbox", Op::Put(mut row)) => {
                row.get_mut(..2).iter_mut().for_each(|kind| kind[0] = 0);
                vec![(table, key, Op::Put(row))]
            }
            (Self::FollowsWithoutRule, "following", Op::Put(row)) => vec![(table, key, Op::Put(row[..8].to_vec()))],
            (Self::MentionTwice, _, Op::Put(row)) if is_notice(NoticeKind::Comment) => {
                let mut mention = key.clone();
                mention[KIND] = !(NoticeKind::Mention as u8);
                // It has no item on which it is.
                vec![(table, mention, Op::Put(row[..1].to_vec())), (table, key, Op::Put(row))]
            }
            (Self::NoticesForAll, "notices", Op::Put(mut row)) => {
                row.first_mut().into_iter().for_each(|flags| *flags = 0);
                vec![(table, key, Op::Put(row))]
            }
            (.., op) => vec![(table, key, op)],
        }
    }
}

impl Kv for Faulty {
    fn tables(&self) -> &[&'static Family] {
        self.engine.tables()
    }

    fn write(
        &self,
        changes: &mut dyn Iterator<Item = (&'static Family, Change<'_>)>,
        bytes: usize,
        sync: bool,
    ) -> Result<()> {
        let (mut ranges, mut rows) = (Vec::new(), Vec::new());
        for (table, change) in changes {
            match change {
                Change::Range(from, to) => ranges.push((table, from.to_vec(), to.to_vec())),
                Change::Row(key, Op::Put(value)) => rows.push((table, key.to_vec(), Op::Put(value.to_vec()))),
                Change::Row(key, Op::Merge(step)) => rows.push((table, key.to_vec(), Op::Merge(step.to_vec()))),
                Change::Row(key, Op::Delete) => rows.push((table, key.to_vec(), Op::Delete)),
            }
        }
        let is_of_command = |(table, _, op): &Altered| match table.name {
            "events" | "names" => matches!(op, Op::Put(_)),
            name => name == "erasures",
        };
        let has_mark = rows.iter().any(|(table, ..)| table.name == "notes");
        if matches!(self.fault, Fault::NotWithoutMark | Fault::Refused) && rows.iter().any(is_of_command) {
            assert!(has_mark, "a change without its mark: {rows:?}");
            if self.fault == Fault::Refused && self.marked.fetch_add(1, Ordering::Relaxed) % 5 == 4 {
                REFUSED.fetch_add(1, Ordering::Relaxed);
                return Err(Code::StorageUnavailable.into());
            }
        }
        let blocks = rows.iter().any(|(table, _, op)| table.name == "blocks" && *op != Op::Delete);
        let mut paths = BTreeSet::new();
        let rows: Vec<_> = rows.into_iter().flat_map(|row| self.fault.alter(row, blocks, &mut paths)).collect();
        let ranges = ranges.iter().map(|(table, from, to)| (*table, Change::Range(from, to)));
        let rows = rows.iter().map(|(table, key, op)| {
            let op = match op {
                Op::Put(value) => Op::Put(&**value),
                Op::Merge(step) => Op::Merge(&**step),
                Op::Delete => Op::Delete,
            };
            (*table, Change::Row(key, op))
        });
        self.engine.write(&mut ranges.chain(rows), bytes, sync)
    }

    fn now(&self) -> View<'_> {
        self.engine.now()
    }

    fn snapshot(&self) -> Snapshot<'_> {
        self.engine.snapshot()
    }

    fn sync(&self) -> Result<()> {
        self.engine.sync()
    }

    fn compact(&self) -> Result<()> {
        self.engine.compact()
    }

    fn size(&self, table: &'static Family) -> Result<TableStats> {
        self.engine.size(table)
    }

    fn usage(&self) -> Result<Usage> {
        self.engine.usage()
    }

    fn refused(&self, cause: &str) -> Error {
        self.engine.refused(cause)
    }
}
