//! Lines of an import that are changes of their own: all but follows, items, reactions and profiles, of which neighbours
//! share a write.

use crate::core::Core;
use crate::feed::Feed;
use crate::ids::missing;
use crate::read::Visibility;
use crate::writer::command::{
    Change, ChangeMembers, DeleteItem, ImportLine, MoveMarker, MoveNoticeMarker, PutList, PutSettings, SetBarrier,
    SetSuspension,
};
use crate::writer::entry_times::lists_of_follows;
use crate::writer::line::Line;
use crate::writer::txn::Txn;
use crate::{follows, ids, items, kinds, lists, notices, timeline, users, writer};
use model::error::{Code, Error, Result};
use model::store::{Approval, Tier};
use model::{HostId, Millis, Relation, RuleDraft, store};

fn is_member(feed: &Core, user: &HostId, list: &str, source: &HostId) -> Result<bool> {
    let list = lists::named(feed.read(), feed.read().find(user)?, list)?.id;
    Ok(lists::tables::memberships(&feed.store, list, &[feed.read().find(source)?], Tier::Disk)?
        .iter()
        .any(Option::is_some))
}

/// Takes the id of an item that was purged elsewhere; `content_exists` if there is an item.
fn import_taken_id(feed: &Core, item: &HostId) -> Result<bool> {
    let id = ids::for_change(feed, [item])?.pop().ok_or_else(missing)?;
    let is_there = "content_id: the item is here, live or deleted, so it is not purged";
    items::tables::take_id(&feed.store, id)?.ok_or_else(|| Error::refused(Code::ContentExists, is_there))
}

/// Makes a request of one user to follow another, unless the user has asked or follows already.
fn import_request<'f>(
    feed: &'f Core,
    txn: &mut Txn<'f>,
    user: &HostId,
    target: &HostId,
    since: Option<Millis>,
    rule: Option<&RuleDraft>,
) -> Result<bool> {
    if user == target {
        return Err(Code::SelfFollow.into());
    }
    let Relation { requested_since, following_since, .. } = follows::relation(feed, user, target)?;
    if requested_since.or(following_since).is_some() {
        return Ok(false);
    }
    let (user, target) = (ids::user_for_change(feed, user)?, ids::user_for_change(feed, target)?);
    let rule = rule.map(|rule| kinds::numbered(feed, rule)).transpose()?;
    let since = since.map_or_else(|| txn.entry_time(lists_of_follows(user, &[target])), Ok)?;
    let change = store::Change { rule, approval: Approval::Awaited, ..store::Change::new(target, Some(since)) };
    follows::write_follows(feed, txn, user, &[change], feed.backlog.reserve_in_any_case(0))?;
    Ok(true)
}

impl Feed {
    /// Takes lines in their order. Returns for each whether it changed something, or the refusal of the change that it is.
    /// What stands already keeps its time. Waits while the queue of jobs is full.
    pub fn import_lines(&self, lines: Vec<Line>) -> Result<Vec<Result<bool>>> {
        self.submit_each(lines.into_iter().map(|line| ImportLine { line }))
    }
}

impl Change for ImportLine {
    type Outcome = bool;

    fn apply(self, txn: &mut Txn<'_>) -> Result<bool> {
        let (feed, at) = (txn.feed, txn.at);
        let given = self.line.since();
        let since = || given.unwrap_or_else(|| at.now());
        let name = if matches!(self.line, Line::Deletion { .. }) { "deleted_at" } else { "since" };
        let ahead = given.map_or(Ok(()), |since| writer::not_ahead(feed, name, since, at));
        match self.line {
            Line::Barrier { user, target, barrier, .. } => {
                if user != target && follows::relation(feed, &user, &target)?.barred_since(barrier).is_some() {
                    return Ok(false);
                }
                ahead?;
                SetBarrier { user, target, barrier, raised: true }
                    .set(txn, given, |txn, settles| Ok(txn.room_of_import(settles)))?;
            }
            Line::Request { user, target, rule, .. } => {
                ahead?;
                return import_request(feed, txn, &user, &target, given, rule.as_ref());
            }
            Line::List { user, list, settings } => {
                let present = lists::tables::list(&feed.store, feed.read().find(&user)?, &list, Tier::Disk)?;
                if present.is_some_and(|present| present.settings == settings) {
                    return Ok(false);
                }
                PutList { user, list, settings }.apply(txn)?;
            }
            Line::Member { user, list, source, rule, .. } => {
                if is_member(feed, &user, &list, &source)? {
                    return Ok(false);
                }
                ahead?;
                ChangeMembers { user, list, add: vec![source], remove: Vec::new(), rule }.change(txn, given)?;
            }
            Line::Marker { user, place, list } => {
                let stored = || -> Result<_> {
                    let user = feed.read().find(&user)?;
                    let list = list.as_ref().map(|list| lists::named(feed.read(), user, list)).transpose()?;
                    timeline::marker(feed.read(), user, list.map(|list| list.id))
                };
                let before = stored()?;
                let sight = Visibility::Application;
                let after = MoveMarker { user: user.clone(), place, sight, list: list.clone() }.apply(txn)?;
                return Ok(before != Some(after));
            }
            Line::NoticeMarker { user, place } => {
                let before = notices::marker(feed.read(), feed.read().find(&user)?)?;
                let after = MoveNoticeMarker { user, place, sight: Visibility::Application }.apply(txn)?;
                return Ok(before != Some(after));
            }
            Line::Settings { user, settings } => return PutSettings { user, settings }.apply(txn),
            Line::Deletion { item, purged: true, .. } => return import_taken_id(feed, &item),
            Line::Deletion { item, .. } => {
                if items::tables::deleted(&feed.store, &[feed.read().find_content(&item)?], Tier::Disk)? == [true] {
                    return Ok(false);
                }
                ahead?;
                DeleteItem { item, purge: false }.set(txn, since())?;
            }
            Line::Suspension { user, .. } => {
                if users::suspended_since(feed.read(), feed.read().find(&user)?)?.is_some() {
                    return Ok(false);
                }
                ahead?;
                SetSuspension { user, suspended: true }.set(txn, since())?;
            }
        }
        Ok(true)
    }
}
