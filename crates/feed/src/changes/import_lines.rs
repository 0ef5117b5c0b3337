//! Lines of an import that are changes of their own: all but follows, items, reactions and profiles, of which neighbours
//! share a write.

use super::command::{
    Change, ChangeMembers, DeleteItem, ImportLine, MoveMarker, MoveNoticeMarker, PutList, PutSettings, SetBarrier,
    SetSuspension,
};
use super::entry_times::lists_of_follows;
use super::line::Line;
use super::txn::Txn;
use crate::timeline::ids::missing;
use crate::{Feed, Visibility};
use model::error::{Code, Error, Result};
use model::store;
use model::store::{Approval, Tier};
use model::{HostId, Millis, Relation, RuleDraft};

impl Feed {
    /// Takes lines in their order. Returns for each whether it changed something, or the refusal of the change that it is.
    /// What stands already keeps its time. Waits while the queue of jobs is full.
    pub fn import_lines(&self, lines: Vec<Line>) -> Result<Vec<Result<bool>>> {
        self.submit_each(lines.into_iter().map(|line| ImportLine { line }))
    }

    fn is_member(&self, user: &HostId, list: &str, source: &HostId) -> Result<bool> {
        let list = self.read().list_named(self.read().find(user)?, list)?.id;
        Ok(self.store.memberships(list, &[self.read().find(source)?], Tier::Disk)?.iter().any(Option::is_some))
    }

    /// Takes the id of an item that was purged elsewhere; `content_exists` if there is an item.
    fn import_taken_id(&self, item: &HostId) -> Result<bool> {
        let id = self.ids_for_change([item])?.pop().ok_or_else(missing)?;
        let is_there = "content_id: the item is here, live or deleted, so it is not purged";
        self.store.take_id(id)?.ok_or_else(|| Error::refused(Code::ContentExists, is_there))
    }

    /// Makes a request of one user to follow another, unless the user has asked or follows already.
    fn import_request<'f>(
        &'f self,
        txn: &mut Txn<'f>,
        user: &HostId,
        target: &HostId,
        since: Option<Millis>,
        rule: Option<&RuleDraft>,
    ) -> Result<bool> {
        if user == target {
            return Err(Code::SelfFollow.into());
        }
        let Relation { requested_since, following_since, .. } = self.relation(user, target)?;
        if requested_since.or(following_since).is_some() {
            return Ok(false);
        }
        let (user, target) = (self.user_for_change(user)?, self.user_for_change(target)?);
        let rule = rule.map(|rule| self.numbered(rule)).transpose()?;
        let since = since.map_or_else(|| txn.entry_time(lists_of_follows(user, &[target])), Ok)?;
        let change = store::Change { rule, approval: Approval::Awaited, ..store::Change::new(target, Some(since)) };
        self.write_follows(txn, user, &[change], self.backlog.reserve_in_any_case(0))?;
        Ok(true)
    }
}

impl Change for ImportLine {
    type Outcome = bool;

    fn apply(self, txn: &mut Txn<'_>) -> Result<bool> {
        let (feed, at) = (txn.feed, txn.at);
        let given = self.line.since();
        let since = || given.unwrap_or_else(|| at.now());
        let name = if matches!(self.line, Line::Deletion { .. }) { "deleted_at" } else { "since" };
        let ahead = given.map_or(Ok(()), |since| feed.not_ahead(name, since, at));
        match self.line {
            Line::Barrier { user, target, barrier, .. } => {
                if user != target && feed.relation(&user, &target)?.barred_since(barrier).is_some() {
                    return Ok(false);
                }
                ahead?;
                let room = |settles| Ok(feed.room_of_import(settles, at));
                SetBarrier { user, target, barrier, raised: true }.set(txn, given, room)?;
            }
            Line::Request { user, target, rule, .. } => {
                ahead?;
                return feed.import_request(txn, &user, &target, given, rule.as_ref());
            }
            Line::List { user, list, settings } => {
                let present = feed.store.list(feed.read().find(&user)?, &list, Tier::Disk)?;
                if present.is_some_and(|present| present.settings == settings) {
                    return Ok(false);
                }
                PutList { user, list, settings }.apply(txn)?;
            }
            Line::Member { user, list, source, rule, .. } => {
                if feed.is_member(&user, &list, &source)? {
                    return Ok(false);
                }
                ahead?;
                ChangeMembers { user, list, add: vec![source], remove: Vec::new(), rule }.change(txn, given)?;
            }
            Line::Marker { user, place, list } => {
                let stored = || -> Result<_> {
                    let user = feed.read().find(&user)?;
                    let list = list.as_ref().map(|list| feed.read().list_named(user, list)).transpose()?;
                    feed.read().marker(user, list.map(|list| list.id))
                };
                let before = stored()?;
                let sight = Visibility::Application;
                let after = MoveMarker { user: user.clone(), place, sight, list: list.clone() }.apply(txn)?;
                return Ok(before != Some(after));
            }
            Line::NoticeMarker { user, place } => {
                let before = feed.read().notice_marker(feed.read().find(&user)?)?;
                let after = MoveNoticeMarker { user, place, sight: Visibility::Application }.apply(txn)?;
                return Ok(before != Some(after));
            }
            Line::Settings { user, settings } => return PutSettings { user, settings }.apply(txn),
            Line::Deletion { item, purged: true, .. } => return feed.import_taken_id(&item),
            Line::Deletion { item, .. } => {
                if feed.store.deleted(&[feed.read().find_content(&item)?], Tier::Disk)? == [true] {
                    return Ok(false);
                }
                ahead?;
                DeleteItem { item, purge: false }.set(txn, since())?;
            }
            Line::Suspension { user, .. } => {
                if feed.read().suspended_since(feed.read().find(&user)?)?.is_some() {
                    return Ok(false);
                }
                ahead?;
                SetSuspension { user, suspended: true }.set(txn, since())?;
            }
        }
        Ok(true)
    }
}
