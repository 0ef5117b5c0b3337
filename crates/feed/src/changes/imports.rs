//! Imports: lines of files, as if each were sent alone, but without events for streams. Neighbours share a write.

use std::collections::HashSet;
use std::hash::Hash;

use crate::core::Core;
use crate::feed::Feed;
use crate::items::drafts::{each_once, paths};
use crate::items::publish::{check, content_exists};
use crate::read::Visibility;
use crate::streaming::ChangeTime;
use crate::writer::command::{
    Change, Follow, ImportFollows, ImportItems, ImportedItem, ImportedName, NumberReactions, React, Reacting, Wish,
};
use crate::writer::entry_times::lists_of_follows;
use crate::writer::txn::Txn;
use crate::{follows, ids, items, kinds, sight, writer};
use model::error::{Code, Error, Result};
use model::store::{Approval, Batch, Published, Push, Tier, too_many_follows, too_many_kinds};
use model::{
    ContentId, Draft, HostId, KindId, MOST_KINDS, Millis, Order, Relation, Rule, RuleDraft, Side, Span, Time, UserId,
    store,
};

/// Most lines of an import in one change, so that others do not wait long for it.
const MOST_LINES: usize = 64;

fn import_ids(feed: &Feed, ids: &[HostId]) -> Result<Vec<Result<bool>>> {
    let found: Vec<UserId> = feed.read().look_up(&ids.iter().collect::<Vec<_>>())?;
    let mut new = HashSet::new();
    let judge = |(id, found)| {
        if found != UserId::UNKNOWN {
            return Ok(false);
        }
        ids::accepts(feed, id)?;
        Ok(new.insert(id))
    };
    let results: Vec<_> = ids.iter().zip(found).map(judge).collect();
    let given: Vec<_> = ids.iter().zip(&results).filter(|(_, new)| matches!(new, Ok(true))).map(|(id, _)| id).collect();
    if !given.is_empty() {
        ids::give_all::<UserId>(feed, given)?;
    }
    Ok(results)
}

/// The refusal of a draft with a new name, before the name gets a number. `found` has its ids in the store.
fn refused_name(feed: &Core, draft: &Draft, found: &[ContentId], at: ChangeTime) -> Result<Option<Error>> {
    let new = draft.ids().zip(found).find(|(_, found)| **found == ContentId::UNKNOWN);
    let Some((new, _)) = new else { return Ok(None) };
    let time = draft.published_at.map_or(0, |Time(time)| time);
    if let Err(refused) = ids::accepts(feed, new).and_then(|()| writer::not_ahead(feed, "published_at", time, at)) {
        return Ok(Some(refused));
    }
    // An item that exists has no new name, so this is another one.
    let id = if draft.content_id.is_some() { found[0] } else { ContentId::UNKNOWN };
    let exists = id != ContentId::UNKNOWN
        && (!sight::live_contents(feed.read(), &[id])?.is_empty()
            || items::tables::deleted(&feed.store, &[id], Tier::Disk)? == [true]);
    Ok(exists.then(|| content_exists("content_id")))
}

/// The refusal of a draft with a new kind if there is no number left for it; `new` are the kinds of drafts before it
/// that get numbers.
fn refused_kind(feed: &Core, kind: &str, known: Option<KindId>, new: &mut Vec<String>) -> Result<Option<Error>> {
    if known.is_some() || new.iter().any(|other| other == kind) {
        return Ok(None);
    }
    if items::tables::kind_names(&feed.store)?.len() + new.len() >= MOST_KINDS {
        return Ok(Some(too_many_kinds(kind)));
    }
    new.push(kind.to_owned());
    Ok(None)
}

/// For each follow of a user whether it is new, or its refusal, before a name gets a number. A failure of this server is
/// no refusal.
fn judge_follows(
    feed: &Core,
    user: &HostId,
    follows: &[(HostId, Option<Millis>)],
    at: ChangeTime,
) -> Result<Vec<Result<bool>>> {
    let me: UserId = feed.read().known(user)?;
    let targets: Vec<UserId> = feed.read().look_up(&follows.iter().map(|(target, _)| target).collect::<Vec<_>>())?;
    let (limit, following) =
        (feed.config.graph.follow_limit, follows::tables::user_counts(&feed.store, me, Tier::Disk)?.following);
    let requests = Span::ALL.scan(Order::NewestFirst, usize::MAX);
    let waiting = follows::tables::members(&feed.store, me, Side::SentRequests, requests, Tier::Disk)?.len() as u64;
    let relations = match following + waiting {
        0 => targets.iter().map(|target| Relation::none(me, *target)).collect(),
        _ => follows::tables::relations(&feed.store, me, &targets, Tier::Disk)?,
    };
    let blocked = follows::tables::blocked_among(&feed.store, me, &targets, Tier::Disk)?;
    let mut left = (limit as u64).saturating_sub(following + waiting);
    let judge = |((target, since), there): (&(HostId, Option<Millis>), Relation)| {
        if target == user {
            return Err(Code::SelfFollow.into());
        }
        for (id, _) in [(user, me), (target, there.target)].iter().filter(|(_, found)| *found == UserId::UNKNOWN) {
            ids::accepts(feed, id)?;
        }
        // One that is there with this time is a repeat.
        if let Some(since) = since.filter(|since| there.following_since != Some(*since)) {
            writer::not_ahead(feed, "since", since, at)?;
        }
        if blocked.contains(&there.target) {
            return Err(Code::Blocked.into());
        }
        let is_new = there.following_since.is_none();
        let grows = is_new && there.requested_since.is_none();
        left = left.checked_sub(u64::from(grows)).ok_or_else(|| too_many_follows(limit))?;
        Ok(is_new)
    };
    Ok(follows.iter().zip(relations).map(judge).collect())
}

impl Feed {
    /// Publishes each valid draft, in order. Returns for each whether it is new. Waits while the queue of jobs is full.
    /// Streams get a reset instead of the events.
    ///
    /// Errors of a draft: `content_exists` if the id belongs to another item, or to a deleted one; `time_ahead`;
    /// `too_many_kinds`.
    pub fn import(&self, drafts: Vec<Draft>) -> Result<Vec<Result<bool>>> {
        self.import_items(drafts.into_iter().map(|draft| ImportedItem { draft, edited_at: None }).collect())
    }

    /// Publishes each valid item as [`Feed::import`] does, with the time of its last edit. One that is there keeps its own.
    pub fn import_items(&self, items: Vec<ImportedItem>) -> Result<Vec<Result<bool>>> {
        let groups = groups(items, MOST_LINES, |_| (), |item| item.draft.content_id.clone());
        let of_items = |items: Vec<ImportedItem>| {
            let is_edited = items.iter().any(|item| item.edited_at.is_some());
            let (drafts, edited): (_, Vec<_>) = items.into_iter().map(|item| (item.draft, item.edited_at)).unzip();
            ImportItems { drafts, edited: if is_edited { edited } else { Vec::new() } }
        };
        Ok(self.submit_all(groups.into_iter().map(of_items))?.into_iter().flatten().collect())
    }

    /// Gives numbers to names of users and items, and to kinds of reactions, each in order: they have this order at equal
    /// times. Returns for each whether it is new to the server. A number of the host is never new.
    ///
    /// Errors of a line: `invalid_id` if the server accepts only numbers; `too_many_kinds`.
    pub fn import_names(&self, lines: Vec<ImportedName>) -> Result<Vec<Result<bool>>> {
        let (mut ids, mut kinds) = (Vec::new(), Vec::new());
        let is_id: Vec<_> = lines.iter().map(|line| matches!(line, ImportedName::Id(_))).collect();
        for line in lines {
            match line {
                ImportedName::Id(id) => ids.push(id),
                ImportedName::Reaction(kind) => kinds.push(kind),
            }
        }
        let mut ids = import_ids(self, &ids)?.into_iter();
        let mut kinds = if kinds.is_empty() { Vec::new() } else { self.submit(NumberReactions { kinds })? }.into_iter();
        Ok(is_id.into_iter().filter_map(|is_id| if is_id { ids.next() } else { kinds.next() }).collect())
    }

    /// Applies each valid follow, in order. None is a request: an import moves follows that were approved elsewhere. Returns
    /// for each whether it is new; another keeps its time and its rule. Waits while the queue of jobs is full.
    pub fn import_follows(&self, follows: Vec<Follow>) -> Result<Vec<Result<bool>>> {
        let groups = groups(follows, MOST_LINES, |line| line.user.clone(), |line| Some(line.target.clone()));
        let of_user = |lines: Vec<Follow>| {
            let user = lines[0].user.clone();
            let has_rules = lines.iter().any(|line| line.rule != RuleDraft::All);
            let (follows, rules): (_, Vec<_>) =
                lines.into_iter().map(|line| ((line.target, line.since), line.rule)).unzip();
            ImportFollows { user, follows, rules: if has_rules { rules } else { Vec::new() } }
        };
        Ok(self.submit_all(groups.into_iter().map(of_user))?.into_iter().flatten().collect())
    }

    /// Adds each valid reaction, in order, also to items of suspended authors. Returns for each whether it is new.
    pub fn import_reactions(&self, reactions: Vec<Reacting>) -> Result<Vec<Result<bool>>> {
        let groups = groups(reactions, MOST_LINES, |line| line.content.clone(), |_| None::<()>);
        let wish = |Reacting { user, kind, since, .. }: Reacting| Wish {
            user,
            kind,
            active: true,
            since,
            sight: Visibility::Application,
        };
        let to_item = |lines: Vec<Reacting>| {
            let item = lines[0].content.clone();
            React { item, wishes: lines.into_iter().map(wish).collect(), imported: true }
        };
        let reacted = self.submit_all(groups.into_iter().map(to_item))?.into_iter().flatten();
        Ok(reacted.map(|reacted| reacted.map(|reacted| reacted.changed)).collect())
    }
}

impl Change for ImportItems {
    type Outcome = Vec<Result<bool>>;

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let (feed, at) = (txn.feed, txn.at);
        let Self { drafts, edited } = self;
        each_once(drafts.iter().filter_map(|draft| draft.content_id.as_ref()), "content")?;
        let (mut kept, mut refused) = (Vec::with_capacity(drafts.len()), Vec::new());
        let (mut edited, mut kept_edits) = (edited.into_iter(), Vec::with_capacity(drafts.len()));
        let ids: Vec<_> = drafts.iter().flat_map(Draft::ids).collect();
        let mut found = feed.read().look_up(&ids)?.into_iter();
        let kinds: Vec<_> = drafts.iter().map(|draft| draft.kind.name()).collect();
        let (mut kinds, mut new_kinds) = (items::tables::known_kinds(&feed.store, &kinds)?.into_iter(), Vec::new());
        for (place, draft) in drafts.into_iter().enumerate() {
            let found: Vec<_> = found.by_ref().take(draft.ids().count()).collect();
            let (kind, edited_at) = (kinds.next().flatten(), edited.next().flatten());
            let is_ahead = edited_at.map_or(Ok(()), |edited_at| writer::not_ahead(feed, "edited_at", edited_at, at));
            if let Err(error) = is_ahead.and_then(|()| check(&draft, str::to_owned)) {
                refused.push((place, error));
                continue;
            }
            let refusal = match refused_name(feed, &draft, &found, at)? {
                None => refused_kind(feed, draft.kind.name(), kind, &mut new_kinds)?,
                refusal => refusal,
            };
            match refusal {
                None => {
                    kept.push(draft);
                    kept_edits.push(edited_at);
                }
                Some(error) => refused.push((place, error)),
            }
        }
        let ids: Vec<ContentId> = ids::for_change(feed, kept.iter().flat_map(Draft::ids))?;
        let mut items = items::completed(feed, kept, &ids)?;
        items.iter_mut().zip(kept_edits).for_each(|(item, edited_at)| item.content.edited_at = edited_at);
        let (mut items, ahead) = items::sift_items(feed, items, |_| "published_at".to_owned(), at)?;
        kinds::number(feed, &mut items)?;
        let (mut room, push) = match at {
            ChangeTime::Clock => (feed.backlog.reserve_in_any_case(paths(&items)), Push::Queued),
            ChangeTime::Log { .. } => txn.room_to_push(paths(&items))?,
        };
        txn.concerns_items(items.iter().map(|item| &item.content));
        items::make_ids(feed, &mut items)?;
        let gap = feed.streaming.sequencer().gap(&mut items).map_err(|refused| items::no_time(feed, refused))?;
        let published = items::tables::publish(&feed.store, &items, Batch::Each, push)?;
        txn.keep(items.iter().map(|item| feed.contents.change(item.content.id)).collect::<Vec<_>>());
        let jobs: Vec<_> = published.iter().flat_map(Published::jobs).copied().collect();
        txn.once_written(move || jobs.into_iter().for_each(|job| feed.backlog.add(&mut room, job)));
        if published.iter().any(|published| matches!(published, Published::New(_))) {
            txn.log(gap);
        }
        let mut results: Vec<_> = published
            .into_iter()
            .map(|published| match published {
                Published::New(_) => Ok(true),
                Published::Same(_) => Ok(false),
                Published::Taken => Err(content_exists("content_id")),
            })
            .collect();
        // In ascending order, so that each comes to its own place.
        ahead.into_iter().for_each(|(place, there)| results.insert(place, there.map(|_| false)));
        refused.into_iter().for_each(|(place, error)| results.insert(place, Err(error)));
        Ok(results)
    }
}

impl Change for ImportFollows {
    type Outcome = Vec<Result<bool>>;

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let (feed, at) = (txn.feed, txn.at);
        let Self { user, follows, rules } = self;
        each_once(follows.iter().map(|(target, _)| target), "user")?;
        let mut results = judge_follows(feed, &user, &follows, at)?;
        let mut new = Vec::new();
        let mut rules = rules.into_iter();
        for ((target, since), result) in follows.iter().zip(&mut results) {
            let rule = rules.next().unwrap_or_default();
            if !matches!(result, Ok(true)) {
                continue;
            }
            // Only a follow that is made gives numbers to kinds.
            match kinds::numbered(feed, &rule) {
                Ok(rule) => new.push((target, *since, rule)),
                Err(error) if error.code() == Some(Code::TooManyKinds) => *result = Err(error),
                Err(error) => return Err(error),
            }
        }
        if !new.is_empty() {
            let user = ids::user_for_change(feed, &user)?;
            let targets: Vec<UserId> = ids::for_change(feed, new.iter().map(|(target, ..)| *target))?;
            let room = txn.room_of_import(new.len());
            let now = match new.iter().all(|(_, since, _)| since.is_some()) {
                true => at.now(),
                false => txn.entry_time(lists_of_follows(user, &targets))?,
            };
            let change = |(target, (_, since, rule)): (&UserId, &(_, Option<Millis>, Option<Rule>))| store::Change {
                rule: Some(*rule),
                approval: Approval::Unasked,
                ..store::Change::new(*target, Some(since.unwrap_or(now)))
            };
            let changes: Vec<_> = targets.iter().zip(&new).map(change).collect();
            follows::write_follows(feed, txn, user, &changes, room)?;
        }
        Ok(results)
    }
}

/// Cuts lines into groups of at most `most` neighbours that are of the same `whole`, and of which no two have one key.
fn groups<T, W: PartialEq, K: Hash + Eq>(
    lines: Vec<T>,
    most: usize,
    whole: impl Fn(&T) -> W,
    key: impl Fn(&T) -> Option<K>,
) -> Vec<Vec<T>> {
    let (mut groups, mut keys) = (Vec::<Vec<T>>::new(), HashSet::new());
    for line in lines {
        let key = key(&line);
        let is_again = key.as_ref().is_some_and(|key| keys.contains(key));
        let joins =
            |group: &&mut Vec<T>| !is_again && group.len() < most && group.first().map(&whole) == Some(whole(&line));
        match groups.last_mut().filter(joins) {
            Some(group) => group.push(line),
            None => {
                keys.clear();
                groups.push(vec![line]);
            }
        }
        keys.extend(key);
    }
    groups
}
