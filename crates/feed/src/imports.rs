//! Imports of files: a line as if it were sent alone, but without events for streams. Neighbouring lines may be one
//! change.

use std::any::Any;

use crate::core::Core;
use crate::feed::Feed;
use crate::follows::tables::{Approval, too_many_follows};
use crate::items::new_content::{each_once, paths};
use crate::items::publish::{check, content_exists};
use crate::items::tables::{Batch, Published, Push};
use crate::memory::kinds::too_many_kinds;
use crate::streaming::ChangeTime;
use crate::writer::command::{Change, Command, ImportFollows, ImportItems, ImportLine, Made, no_outcome};
use crate::writer::entry_times::lists_of_follows;
use crate::writer::txn::Txn;
use crate::{erasure, follows, ids, items, kinds, visibility, writer};
use kv::Tier;
use model::error::{Code, Error, Result};
use model::{
    ContentId, ExternalId, KindId, MOST_KINDS, Millis, NamedRule, NewContent, Order, Reacted, Relation, Rule, Side,
    Span, Time, UserId,
};

/// Most lines of an import in one change, so that others do not wait long for it.
const MOST_LINES: usize = 64;

/// The refusal of a new item that has a new name, if it is refused. The name has no number yet. `found` has the numbers of its
/// ids.
fn refused_name(feed: &Core, new_item: &NewContent, found: &[ContentId], at: ChangeTime) -> Result<Option<Error>> {
    let new = new_item.ids().zip(found).find(|(_, found)| **found == ContentId::UNKNOWN);
    let Some((new, _)) = new else { return Ok(None) };
    let time = new_item.published_at.map_or(0, |Time(time)| time);
    if let Err(refused) = ids::accepts(feed, new).and_then(|()| writer::not_ahead(feed, "published_at", time, at)) {
        return Ok(Some(refused));
    }
    // If the id of the item is known, the new name is another one.
    let id = if new_item.content_id.is_some() { found[0] } else { ContentId::UNKNOWN };
    let exists = id != ContentId::UNKNOWN
        && (!visibility::live_contents(feed.read(), &[id])?.is_empty()
            || items::tables::deleted(&feed.store, &[id], Tier::Disk)? == [true]);
    Ok(exists.then(|| content_exists("content_id")))
}

/// The refusal of a new item with a new kind if there is no number left. `new` has the kinds of earlier new items that get
/// numbers, and takes this one.
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

/// Returns for each follow of a user whether it is new, or its refusal. Gives no number to a name. A failure of this server
/// is the error of the whole call.
fn judge_follows(
    feed: &Core,
    ImportFollows { user, follows, awaited, .. }: &ImportFollows,
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
    let judge = |((target, since), there): (&(ExternalId, Option<Millis>), Relation)| {
        if target == user {
            return Err(Code::SelfFollow.into());
        }
        for (id, _) in [(user, me), (target, there.target)].iter().filter(|(_, found)| *found == UserId::UNKNOWN) {
            ids::accepts(feed, id)?;
        }
        let present = there.following_since.or(there.requested_since.filter(|_| *awaited));
        // A follow that is there with this time is a repeat.
        if let Some(since) = since.filter(|since| present != Some(*since)) {
            writer::not_ahead(feed, "since", since, at)?;
        }
        if blocked.contains(&there.target) {
            return Err(Code::Blocked.into());
        }
        let is_new = present.is_none();
        let grows = is_new && there.requested_since.is_none();
        left = left.checked_sub(u64::from(grows)).ok_or_else(|| too_many_follows(limit))?;
        Ok(is_new)
    };
    Ok(follows.iter().zip(relations).map(judge).collect())
}

impl Feed {
    /// Makes the changes of lines, in order: names, follows, items, reactions, profiles, and [`ImportLine`](crate::ImportLine)s.
    /// Returns for each line whether it changed something, or its refusal. Waits while the queue of jobs is full.
    pub fn import(&self, lines: Vec<Command>) -> Result<Vec<Result<bool>>> {
        let mut changes: Vec<(Command, usize)> = Vec::new();
        // A change with a user who is being erased is refused as a whole.
        let most = if erasure::tables::has_erasures(&self.store) { 1 } else { MOST_LINES };
        for line in lines {
            let last = changes.last_mut().filter(|(_, lines)| *lines < most);
            let apart = match last {
                None => Some(line),
                Some((change, lines)) => {
                    let apart = join(change, line);
                    *lines += usize::from(apart.is_none());
                    apart
                }
            };
            changes.extend(apart.map(|line| (line, 1)));
        }
        let (changes, lines): (Vec<_>, Vec<_>) = changes.into_iter().unzip();
        for change in &changes {
            if let Command::React(change) = change {
                // The change itself tells what is wrong.
                let _ = change.warm(self.read());
            }
        }
        let made = self.make(changes)?.into_iter().zip(lines);
        Ok(made.flat_map(|(made, lines)| of_lines(made).unwrap_or_else(|error| vec![Err(error); lines])).collect())
    }
}

/// Adds a line to the change of the lines before it. Returns the line if the two cannot be one change.
fn join(change: &mut Command, line: Command) -> Option<Command> {
    use Command::{GiveNumbers, ImportFollows, ImportItems, NumberReactions, PutProfiles, React};
    match (change, line) {
        (ImportFollows(before), ImportFollows(line))
            if before.user == line.user
                && before.awaited == line.awaited
                && !before.follows.iter().any(|(target, _)| line.follows.iter().any(|(other, _)| target == other)) =>
        {
            if !line.rules.is_empty() {
                before.rules.resize(before.follows.len(), NamedRule::All);
            }
            before.rules.extend(line.rules);
            before.follows.extend(line.follows);
        }
        (ImportItems(before), ImportItems(line))
            if !before
                .new_items
                .iter()
                .any(|one| line.new_items.iter().any(|other| one.content_id == other.content_id)) =>
        {
            if !line.edited.is_empty() {
                before.edited.resize(before.new_items.len(), None);
            }
            before.edited.extend(line.edited);
            before.new_items.extend(line.new_items);
        }
        (React(before), React(line)) if before.item == line.item => before.requests.extend(line.requests),
        (PutProfiles(before), PutProfiles(line)) => before.profiles.extend(line.profiles),
        (GiveNumbers(before), GiveNumbers(line)) => before.ids.extend(line.ids),
        (NumberReactions(before), NumberReactions(line)) => before.kinds.extend(line.kinds),
        (_, line) => return Some(line),
    }
    None
}

/// The result of each line of a change.
fn of_lines(made: Made) -> Result<Vec<Result<bool>>> {
    let outcome: Box<dyn Any> = made?;
    let changed = |reacted: Box<Vec<Result<Reacted>>>| {
        reacted.into_iter().map(|reacted| reacted.map(|reacted| reacted.changed)).collect()
    };
    outcome
        .downcast()
        .map(|results| *results)
        .or_else(|outcome| outcome.downcast().map(changed))
        .or_else(|outcome| outcome.downcast().map(|changed| vec![Ok(*changed)]))
        .map_err(|_| no_outcome())
}

impl ImportItems {
    /// An item with the time of its last edit, if it was edited.
    pub fn one(new_item: NewContent, edited_at: Option<Millis>) -> Self {
        Self { new_items: vec![new_item], edited: edited_at.map(Some).into_iter().collect() }
    }
}

impl ImportFollows {
    /// A follow.
    pub fn one(user: ExternalId, target: ExternalId, since: Option<Millis>, rule: NamedRule) -> Self {
        let rules = if rule == NamedRule::All { Vec::new() } else { vec![rule] };
        Self { user, follows: vec![(target, since)], rules, awaited: false }
    }
}

impl Change for ImportItems {
    type Outcome = Vec<Result<bool>>;

    fn bytes(&self) -> usize {
        self.new_items.iter().map(NewContent::bytes).sum()
    }

    fn jobs(&self) -> usize {
        self.new_items.iter().map(NewContent::paths).sum()
    }

    fn waits(&self) -> bool {
        true
    }

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let (feed, at) = (txn.feed, txn.at);
        let Self { new_items, edited } = self;
        each_once(new_items.iter().filter_map(|new_item| new_item.content_id.as_ref()), "content")?;
        let (mut kept, mut refused) = (Vec::with_capacity(new_items.len()), Vec::new());
        let (mut edited, mut kept_edits) = (edited.into_iter(), Vec::with_capacity(new_items.len()));
        let ids: Vec<_> = new_items.iter().flat_map(NewContent::ids).collect();
        let mut found = feed.read().look_up(&ids)?.into_iter();
        let kinds: Vec<_> = new_items.iter().map(|new_item| new_item.kind.name()).collect();
        let (mut kinds, mut new_kinds) = (items::tables::known_kinds(&feed.store, &kinds)?.into_iter(), Vec::new());
        for (place, new_item) in new_items.into_iter().enumerate() {
            let found: Vec<_> = found.by_ref().take(new_item.ids().count()).collect();
            let (kind, edited_at) = (kinds.next().flatten(), edited.next().flatten());
            let is_ahead = edited_at.map_or(Ok(()), |edited_at| writer::not_ahead(feed, "edited_at", edited_at, at));
            if let Err(error) = is_ahead.and_then(|()| check(&new_item, str::to_owned)) {
                refused.push((place, error));
                continue;
            }
            let refusal = match refused_name(feed, &new_item, &found, at)? {
                None => refused_kind(feed, new_item.kind.name(), kind, &mut new_kinds)?,
                refusal => refusal,
            };
            match refusal {
                None => {
                    kept.push(new_item);
                    kept_edits.push(edited_at);
                }
                Some(error) => refused.push((place, error)),
            }
        }
        let ids: Vec<ContentId> = ids::for_change(feed, kept.iter().flat_map(NewContent::ids))?;
        let mut items = items::completed(feed, kept, &ids)?;
        items.iter_mut().zip(kept_edits).for_each(|(item, edited_at)| item.content.edited_at = edited_at);
        let (mut items, ahead) = items::sift_items(feed, items, |_| "published_at".to_owned(), at)?;
        kinds::number(feed, &mut items)?;
        let (mut room, push) = match at {
            ChangeTime::Clock => (feed.backlog.reserve_in_any_case(paths(&items)), Push::Queued),
            ChangeTime::Log { .. } => txn.room_to_push(paths(&items))?,
        };
        items::make_ids(feed, &mut items)?;
        let gap = feed.streaming.sequencer().gap(&mut items).map_err(|refused| items::no_time(feed, refused))?;
        let published = items::tables::publish(&feed.store, &items, Batch::Each, push)?;
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

    fn settles(&self) -> usize {
        self.follows.len()
    }

    fn waits(&self) -> bool {
        true
    }

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let (feed, at) = (txn.feed, txn.at);
        each_once(self.follows.iter().map(|(target, _)| target), "user")?;
        let mut results = judge_follows(feed, &self, at)?;
        let Self { user, follows, rules, awaited } = self;
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
            let change =
                |(target, (_, since, rule)): (&UserId, &(_, Option<Millis>, Option<Rule>))| follows::tables::Change {
                    rule: Some(*rule),
                    approval: if awaited { Approval::Awaited } else { Approval::Unasked },
                    ..follows::tables::Change::new(*target, Some(since.unwrap_or(now)))
                };
            let changes: Vec<_> = targets.iter().zip(&new).map(change).collect();
            follows::write_follows(feed, txn, user, &changes, room)?;
        }
        Ok(results)
    }
}

impl Change for ImportLine {
    type Outcome = bool;

    fn settles(&self) -> usize {
        self.change.settles()
    }

    fn waits(&self) -> bool {
        true
    }

    fn is_alone(&self, at: ChangeTime) -> bool {
        at != ChangeTime::Clock
    }

    fn apply(self, txn: &mut Txn<'_>) -> Result<bool> {
        self.change.import(txn, self.since)
    }
}
