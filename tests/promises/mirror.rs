//! A reader of the feed of changes. Each change must be a step from the state that the changes before it have led to, and
//! the state at the end must be that of the model: so no change is missing, invented, told twice or in another order.

use std::collections::{BTreeMap, BTreeSet};

use feed::Feed;
use feed::events::{self, ChangesAfter};
use model::error::Code;
use model::{Changed, ContentId, Effect, EffectKind, Millis, ReactionKinds, Restriction, UserId};

use crate::plain::Model;

type Pairs = BTreeSet<(UserId, UserId)>;

/// An item: its author and kind, whether it is live, and the paths that it was taken off.
type Item = (UserId, String, bool, BTreeSet<UserId>);

/// The state that changes have led to.
#[derive(Debug, Default, PartialEq)]
struct State {
    items: BTreeMap<ContentId, Item>,
    follows: Pairs,
    requests: Pairs,
    /// Those of mutes, hides and blocks.
    restrictions: [Pairs; 3],
    suspended: BTreeSet<UserId>,
    /// The members of each list.
    lists: BTreeMap<(UserId, String), BTreeSet<UserId>>,
    reactions: BTreeSet<(ContentId, String, UserId)>,
}

/// The reader, between two reads.
#[derive(Debug, PartialEq)]
pub(crate) struct Mirror {
    after: ChangesAfter,
    last: (u64, Millis),
    state: State,
}

impl Default for Mirror {
    fn default() -> Self {
        Self { after: ChangesAfter::Oldest, last: (0, 0), state: State::default() }
    }
}

impl Mirror {
    /// Reads on to the end of the feed, in pages of so many changes. After a break the history may be another one.
    pub(crate) fn read_on(&mut self, feed: &Feed, limit: usize, may_break: bool) -> Result<(), String> {
        loop {
            let page = match events::changes(feed.read(), self.after, limit, &[]) {
                Err(error) if may_break && error.code() == Some(Code::ChangesGone) => {
                    self.after = ChangesAfter::Newest;
                    continue;
                }
                page => page.map_err(|e| format!("a read of changes fails: {e}"))?,
            };
            for changed in &page.changes {
                self.take(changed).map_err(|wrong| format!("{wrong}: {changed:?} after {:?}", self.last))?;
                self.last = (changed.number, changed.at);
            }
            let at_end = page.changes.is_empty() && self.after == ChangesAfter::Position(page.end);
            self.after = ChangesAfter::Position(page.end);
            if at_end {
                return Ok(());
            }
        }
    }

    /// Compares the state with the model.
    pub(crate) fn compare(&self, model: &Model, kinds: &ReactionKinds) -> Result<(), String> {
        let should_be = State::of(model, kinds);
        ensure_eq!(self.state.items, should_be.items, "items by the changes");
        ensure_eq!(self.state.lists, should_be.lists, "lists by the changes");
        ensure_eq!(self.state.reactions, should_be.reactions, "reactions by the changes");
        ensure_eq!(self.state, should_be, "the state by the changes");
        Ok(())
    }

    fn take(&mut self, changed: &Changed) -> Result<(), String> {
        let (number, at) = self.last;
        ensure!(changed.number > number && changed.at >= at, "not in order");
        ensure!(self.state.take(&changed.effect).is_some(), "no such step");
        Ok(())
    }
}

/// Whether a set changes as it is told.
fn step<T: Ord>(set: &mut BTreeSet<T>, what: T, comes: bool) -> Option<()> {
    let did = if comes { set.insert(what) } else { set.remove(&what) };
    did.then_some(())
}

impl State {
    fn of(model: &Model, kinds: &ReactionKinds) -> Self {
        let of = |pairs: &BTreeMap<(UserId, UserId), Millis>| pairs.keys().copied().collect();
        let items = model
            .items
            .iter()
            .map(|item| (item.id, (item.body.author, item.body.kind.to_owned(), !item.deleted, item.off.clone())));
        let lists = model.lists.iter().map(|(key, list)| (key.clone(), list.members.keys().copied().collect()));
        let reactions = model.reactions.keys().map(|(id, kind, user)| (*id, kinds.name(*kind).to_owned(), *user));
        Self {
            items: items.collect(),
            follows: of(&model.follows),
            requests: of(&model.requests),
            restrictions: [of(&model.mutes), of(&model.hides), of(&model.blocks)],
            suspended: model.suspended.keys().copied().collect(),
            lists: lists.collect(),
            reactions: reactions.collect(),
        }
    }

    /// Makes a step; `None` if it does not fit.
    fn take(&mut self, effect: &Effect) -> Option<()> {
        use EffectKind as Kind;
        let Effect { kind, user, .. } = *effect;
        let name = || effect.name.as_deref().map(str::to_owned);
        let pair = effect.target.map(|target| (user, target));
        let list = name().map(|name| (user, name));
        match kind {
            Kind::Published => {
                let item = (user, name()?, true, BTreeSet::new());
                self.items.insert(effect.item?, item).is_none().then_some(())
            }
            Kind::Edited | Kind::Deleted | Kind::Restored | Kind::TakenOff => {
                let (author, of, live, off) = self.items.get_mut(&effect.item?)?;
                let fits = *author == user && Some(&*of) == name().as_ref() && *live != (kind == Kind::Restored);
                if kind == Kind::TakenOff {
                    step(off, effect.target?, true)?;
                }
                *live = kind != Kind::Deleted;
                fits.then_some(())
            }
            Kind::Purged => {
                let (author, of, live, _) = self.items.get(&effect.item?)?;
                (*author == user && Some(of) == name().as_ref() && !live).then_some(())
            }
            Kind::FollowRequested | Kind::RequestRemoved => {
                step(&mut self.requests, pair?, kind == Kind::FollowRequested)
            }
            Kind::FollowCreated => {
                self.requests.remove(&pair?);
                step(&mut self.follows, pair?, true)
            }
            Kind::FollowRemoved => step(&mut self.follows, pair?, false),
            Kind::FollowChanged => {
                let has = self.follows.contains(&pair?) || self.requests.contains(&pair?);
                has.then_some(())
            }
            Kind::MuteCreated | Kind::MuteRemoved => self.bar(Restriction::Mute, pair?, kind),
            Kind::HideCreated | Kind::HideRemoved => self.bar(Restriction::Hide, pair?, kind),
            Kind::BlockCreated | Kind::BlockRemoved => self.bar(Restriction::Block, pair?, kind),
            Kind::ReactionCreated | Kind::ReactionRemoved => {
                let item = effect.item?;
                let (author, ..) = self.items.get(&item)?;
                step(&mut self.reactions, (item, name()?, user), kind == Kind::ReactionCreated)?;
                (Some(*author) == effect.target).then_some(())
            }
            Kind::UserErased => None,
            Kind::UserSuspended | Kind::UserUnsuspended => step(&mut self.suspended, user, kind == Kind::UserSuspended),
            Kind::ListChanged => {
                self.lists.entry(list?).or_default();
                Some(())
            }
            Kind::ListDeleted => self.lists.remove(&list?).map(|_| ()),
            Kind::MemberCreated | Kind::MemberRemoved => {
                step(self.lists.get_mut(&list?)?, effect.target?, kind == Kind::MemberCreated)
            }
            Kind::MemberChanged => self.lists.get(&list?)?.contains(&effect.target?).then_some(()),
            Kind::MarkerMoved if list.is_some() => self.lists.get(&list?).map(|_| ()),
            Kind::MarkerMoved | Kind::NoticeMarkerMoved | Kind::ProfileChanged | Kind::SettingsChanged => Some(()),
        }
    }

    fn bar(&mut self, restriction: Restriction, pair: (UserId, UserId), kind: EffectKind) -> Option<()> {
        let place = Restriction::ALL.iter().position(|other| *other == restriction)?;
        step(&mut self.restrictions[place], pair, kind == restriction.effects()[0])
    }
}
