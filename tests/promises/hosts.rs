//! The ids of a case as its host writes them, and the numbers that the store gave to the names among them.

use std::collections::{BTreeMap, HashMap};

use feed::store::Store;
use kv::Tier;
use model::{ExternalId, ExternalIds, Id, MAX_ID, Mentions, Millis, PageRequest, Position, Span, UserId};

use super::names::{IDS, Ids, USERS, id};
use crate::plain::Model;

/// The known names.
#[derive(Debug, Clone)]
pub(crate) struct Hosts {
    ids: Ids,
    numbers: HashMap<ExternalId, u64>,
    names: BTreeMap<u64, ExternalId>,
}

/// The rule for the names of a change that are new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum New {
    /// Each gets a number, in the order of the call.
    All,
    /// Each may get a number: the change was refused, perhaps after another write.
    Some,
    /// None gets a number: the change was refused before it needed them.
    None,
}

impl Hosts {
    pub(crate) fn new(ids: Ids) -> Self {
        Self { ids, numbers: HashMap::new(), names: BTreeMap::new() }
    }

    /// The id that stands for a number.
    pub(crate) fn host(&self, raw: u64) -> ExternalId {
        self.ids.host(raw)
    }

    /// The id in the store.
    pub(crate) fn known<I: Id>(&self, host: &ExternalId) -> I {
        let raw = match host {
            ExternalId::Number(raw) => Some(raw),
            ExternalId::Name(_) => self.numbers.get(host),
        };
        raw.map_or(I::UNKNOWN, |raw| I::of(*raw).expect("an id"))
    }

    pub(crate) fn user(&self, raw: u64) -> UserId {
        self.known(&self.host(raw))
    }

    pub(crate) fn everybody(&self) -> Vec<UserId> {
        USERS.into_iter().map(|raw| self.user(raw)).collect()
    }

    /// The id of the host. An end of all ids becomes the greatest number.
    pub(crate) fn back(&self, id: impl Into<u64>) -> ExternalId {
        match id.into() {
            raw @ 1..=MAX_ID => ExternalId::Number(raw),
            raw => self.names.get(&raw).cloned().unwrap_or(ExternalId::Number(MAX_ID)),
        }
    }

    pub(crate) fn place_back<I: Id>(&self, place: Position<I>) -> Position<ExternalId> {
        Position { at: place.at, id: self.back(place.id) }
    }

    /// The place in the store; `None` if its name is unknown.
    pub(crate) fn place<I: Id>(&self, place: &Position<ExternalId>) -> Option<Position<I>> {
        Some(Position { at: place.at, id: self.known(&place.id) }).filter(|place| place.id != I::UNKNOWN)
    }

    /// The request for a page; `None` if a name in it is unknown.
    pub(crate) fn request<I: Id>(&self, request: &PageRequest<ExternalId>) -> Option<PageRequest<I>> {
        // A name of a user that nobody knows leads to the edge of its millisecond.
        let begin = |at| Position { at, id: I::MIN };
        let bound = |bound: &Option<Position<ExternalId>>, edge: fn(Position<I>) -> Position<I>, ms: Millis| match bound
        {
            Some(bound) => self.place(bound).or(I::IS_USER.then(|| edge(begin(bound.at + ms)))).map(Some),
            None => Some(None),
        };
        let before = bound(&request.span.before, |place| place, 1)?;
        let span = Span { before, after: bound(&request.span.after, Position::just_below, 0)? };
        Some(PageRequest { span, limit: request.limit })
    }

    /// Whether an answer has the ids of the host.
    pub(crate) fn shows(&self, value: &impl Mentions, ids: &ExternalIds) -> Result<(), String> {
        let mut wrong = None;
        value.mentions(&mut |id| {
            let (is, should_be) = (ids.of(id), self.back(id));
            if is != should_be {
                wrong = Some(format!("{id} is shown as {is:?}, and not as {should_be:?}"));
            }
        });
        wrong.map_or(Ok(()), Err)
    }

    /// Takes over the numbers that a change gave to the names that it mentions, in this order: those above all others.
    pub(crate) fn learn<'i>(
        &mut self,
        store: &Store,
        mentioned: impl IntoIterator<Item = &'i ExternalId>,
        new: New,
    ) -> Result<(), String> {
        let mut highest = self.highest();
        for host in mentioned {
            let ExternalId::Name(name) = host else { continue };
            let is = number_of(store, name)?;
            match self.numbers.get(host) {
                Some(_) => ensure_eq!(is, self.numbers.get(host).copied(), "number of {name:?}"),
                None => {
                    ensure!(is.is_some() || new != New::All, "{name:?} got no number");
                    ensure!(is.is_none() || new != New::None, "{name:?} got a number for nothing");
                    if let Some(number) = is {
                        ensure!(number > highest, "{name:?} got {number}, after {highest} was given");
                        highest = number;
                        self.numbers.insert(host.clone(), number);
                        self.names.insert(number, host.clone());
                    }
                }
            }
        }
        Ok(())
    }

    /// The highest number given.
    fn highest(&self) -> u64 {
        self.names.keys().copied().fold(MAX_ID + 1, u64::max)
    }

    /// Learns the numbers of names in changes at one time, which may come in any order.
    pub(crate) fn learn_in_any_order(&mut self, store: &Store, mentioned: &[ExternalId]) -> Result<(), String> {
        let mut numbered = Vec::new();
        for host in mentioned {
            if let ExternalId::Name(name) = host {
                numbered.extend(number_of(store, name)?.map(|number| (number, host)));
            }
        }
        numbered.sort_unstable_by_key(|(number, _)| *number);
        self.learn(store, numbered.into_iter().map(|(_, host)| host), New::Some)
    }

    /// After a restart: a name that no item and no user of the model has may be lost.
    pub(crate) fn look_again(&mut self, store: &Store, model: &Model) -> Result<(), String> {
        for (number, host) in self.names.clone() {
            let ExternalId::Name(name) = &host else { continue };
            match number_of(store, name)? {
                None => {
                    ensure!(!model.mentions(number), "the number {number} of {name:?} is lost");
                    self.numbers.remove(&host);
                    self.names.remove(&number);
                }
                is => ensure_eq!(is, Some(number), "number of {name:?}"),
            }
        }
        Ok(())
    }

    /// No name that no change has mentioned has a number.
    pub(crate) fn check(&self, store: &Store) -> Result<(), String> {
        for host in USERS.into_iter().chain((1..=IDS).map(id)).map(|raw| self.host(raw)) {
            if let ExternalId::Name(name) = &host {
                ensure_eq!(number_of(store, name)?, self.numbers.get(&host).copied(), "number of {name:?}");
            }
        }
        let numbers: Vec<_> = self.names.keys().copied().collect();
        let names =
            feed::ids::tables::names(store, &numbers, Tier::Disk).map_err(|e| format!("names cannot be read: {e}"))?;
        let should_be: Vec<_> = self.names.values().map(ExternalId::to_string).collect();
        ensure_eq!(names.iter().map(|name| name.to_string()).collect::<Vec<_>>(), should_be, "names of numbers");
        Ok(())
    }
}

fn number_of(store: &Store, name: &str) -> Result<Option<u64>, String> {
    let numbers =
        feed::ids::tables::numbers(store, &[name], Tier::Disk).map_err(|e| format!("a name cannot be read: {e}"))?;
    Ok(numbers[0])
}
