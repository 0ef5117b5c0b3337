//! Comparing what a timeline shows with what it should.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::Feed;
use crate::error::Result;
use crate::model::{ContentId, Cursor, Entry, Order, Page, PageRequest, Span, UserId};
use crate::store::Tier;

/// The diff of the fast answer against a pure pull.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// How many items were compared.
    pub compared: usize,
    /// Whether the comparison reached the end of the timeline.
    pub complete: bool,
    /// Items that the fast answer lacks.
    pub missing: Vec<Entry>,
    /// Items that the fast answer has and should not have, or has twice or out of order.
    pub extra: Vec<Entry>,
}

/// Why an item is, or is not, in a timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Whether the timeline shows it.
    pub listed: bool,
    /// The deciding reason as a stable word: `listed`, `no_content`, `deleted`, `not_broadcast`,
    /// `not_following`, `muted`, `hidden`, `changed_meanwhile`.
    pub reason: &'static str,
    /// The item's place and author, if it is there.
    pub entry: Option<Entry>,
    /// Whether the user follows the author.
    pub following: bool,
    /// Whether the user has muted the author.
    pub muted: bool,
    /// Whether the author hides its content from the user.
    pub hidden: bool,
    /// Whether the pair of user and author has a settle job still to come.
    pub unsettled: bool,
    /// Whether the item's fan-out is not done.
    pub pending: bool,
    /// Whether the item's row is in the inbox, above the floor.
    pub in_inbox: bool,
    /// The floor of the inbox.
    pub floor: Option<Cursor>,
    /// Whether a read pulls the author's outbox at the item's place.
    pub pulled: bool,
}

/// How often a difference is looked at again before it counts.
const ATTEMPTS: usize = 3;
/// Items a page of a comparison.
const PAGE: usize = 100;

impl Feed {
    /// Compares the newest `depth` items of a user's timeline with a pull of all outboxes.
    /// A difference is looked at again, so that a change made meanwhile does not count as one.
    pub fn verify(&self, user: UserId, depth: usize) -> Result<Verification> {
        let mut result = self.verify_once(user, depth)?;
        for _ in 1..ATTEMPTS {
            if result.missing.is_empty() && result.extra.is_empty() {
                break;
            }
            result = self.verify_once(user, depth)?;
        }
        Ok(result)
    }

    fn verify_once(&self, user: UserId, depth: usize) -> Result<Verification> {
        let fast = self.scroll(depth, |request| self.peeked_timeline(user, request, Tier::Disk))?;
        let pulled = self.scroll(depth, |request| self.pulled_timeline(user, request, Tier::Disk))?;
        let right: BTreeSet<_> = pulled.0.iter().map(|entry| entry.cursor).collect();
        let mut shown = BTreeSet::new();
        let mut extra = Vec::new();
        let mut last = None;
        for entry in &fast.0 {
            let in_order = last.is_none_or(|last| entry.cursor < last);
            if !right.contains(&entry.cursor) || !shown.insert(entry.cursor) || !in_order {
                extra.push(*entry);
            }
            last = Some(entry.cursor);
        }
        let missing = pulled.0.iter().filter(|entry| !shown.contains(&entry.cursor)).copied().collect();
        Ok(Verification { compared: pulled.0.len(), complete: pulled.1, missing, extra })
    }

    /// Follows `next` until `depth` items or the end; also says whether it was the end.
    fn scroll(
        &self,
        depth: usize,
        page: impl Fn(&PageRequest<ContentId>) -> Result<Page<Entry, ContentId>>,
    ) -> Result<(Vec<Entry>, bool)> {
        let mut items = Vec::new();
        let mut before = None;
        while items.len() < depth {
            let limit = PAGE.min(depth - items.len());
            let part = page(&PageRequest { span: Span { before, after: None }, limit })?;
            items.extend(part.items);
            before = part.next;
            if before.is_none() {
                return Ok((items, true));
            }
        }
        Ok((items, false))
    }

    /// Says why an item is, or is not, in a user's timeline.
    pub fn explain(&self, user: UserId, id: ContentId) -> Result<Explanation> {
        let floor =
            self.store.inbox(user, Span::ALL, Order::NewestFirst, Tier::Disk, &mut |_| ControlFlow::Break(()))?;
        let mut explanation = Explanation {
            listed: false,
            reason: "no_content",
            entry: None,
            following: false,
            muted: false,
            hidden: false,
            unsettled: false,
            pending: false,
            in_inbox: false,
            floor,
            pulled: false,
        };
        let Some(content) = self.store.contents(&[id], Tier::Disk)?.pop().flatten() else {
            if self.store.deleted(&[id], Tier::Disk)? == [true] {
                explanation.reason = "deleted";
            }
            return Ok(explanation);
        };
        let entry = content.entry();
        explanation.entry = Some(entry);
        let shown = self.authors(user, Tier::Disk)?.binary_search(&entry.author).is_ok();
        for relation in self.store.relations(user, &[entry.author], Tier::Disk)? {
            explanation.following = relation.following_since.is_some();
            explanation.muted = relation.muted_since.is_some();
        }
        for relation in self.store.relations(entry.author, &[user], Tier::Disk)? {
            explanation.hidden = relation.hidden_since.is_some();
        }
        explanation.unsettled = self.backlog.unsettled(user).binary_search(&entry.author).is_ok();
        explanation.pending = self.backlog.is_pending(entry);
        let place = Span { before: entry.cursor.next_newer(), after: None };
        self.store.inbox(user, place, Order::NewestFirst, Tier::Disk, &mut |row| {
            explanation.in_inbox = row == entry;
            ControlFlow::Break(())
        })?;
        let activity = self.store.activity(user, Tier::Disk)?;
        explanation.pulled = shown
            && (entry.author == user
                || explanation.unsettled
                || !activity.has_inbox()
                || Some(entry.cursor) <= floor
                || self.store.unpushed(entry.author, Tier::Disk)?.leaves_gaps(floor, activity.is_active()));
        let page = self.peeked_timeline(user, &PageRequest { span: place, limit: 1 }, Tier::Disk)?;
        explanation.listed = page.items.first() == Some(&entry);
        explanation.reason = match &explanation {
            Explanation { listed: true, .. } => "listed",
            _ if !content.broadcast => "not_broadcast",
            _ if shown => "changed_meanwhile",
            Explanation { following: false, .. } => "not_following",
            Explanation { muted: true, .. } => "muted",
            Explanation { hidden: true, .. } => "hidden",
            _ => "changed_meanwhile",
        };
        Ok(explanation)
    }
}
