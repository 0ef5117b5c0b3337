//! Why an item is, or is not, in a timeline.

use std::ops::ControlFlow;

use super::home::{Reader, Timeline};
use super::read::Read;
use model::error::Result;
use model::{ContentId, Cursor, Entry, Order, PageRequest, Span, UserId};

/// Why an item is, or is not, in a timeline.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Explanation {
    /// Whether the timeline shows it.
    pub listed: bool,
    /// The deciding reason as a stable word: `listed`, `no_content`, `deleted`, `not_broadcast`,
    /// `blocked`, `not_following`, `muted`, `hidden`, `suspended`, `in_exclusive_list`, `changed_meanwhile`.
    pub reason: &'static str,
    /// The item's cursor and author, if it exists.
    pub entry: Option<Entry>,
    /// Whether the user follows the author.
    pub following: bool,
    /// Whether the user has muted the author.
    pub muted: bool,
    /// Whether the author hides its content from the user.
    pub hidden: bool,
    /// Whether the user has blocked the author, or the author the user.
    pub blocked: bool,
    /// Whether the author is suspended.
    pub suspended: bool,
    /// Whether the author is a member of an exclusive list of the user.
    pub in_exclusive_list: bool,
    /// Whether the pair of user and author is unsettled.
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

impl Read<'_> {
    /// Says why an item is, or is not, in a user's timeline.
    pub fn explain(&self, user: UserId, id: ContentId) -> Result<Explanation> {
        let (store, backlog, tier) = (&self.feed.store, &self.feed.backlog, self.tier);
        let floor = store.inbox(user, Span::ALL, Order::NewestFirst, tier, &mut |_| ControlFlow::Break(()))?;
        let mut explanation = Explanation { reason: "no_content", floor, ..Explanation::default() };
        let Some(content) = store.contents(&[id], tier)?.pop().flatten() else {
            if store.deleted(&[id], tier)? == [true] {
                explanation.reason = "deleted";
            }
            return Ok(explanation);
        };
        let entry = content.entry();
        explanation.entry = Some(entry);
        let timeline = Timeline::open(*self, user, Reader::Administrator)?;
        let shown = timeline.shows(entry.author);
        for relation in store.relations(user, &[entry.author], tier)? {
            explanation.following = relation.following_since.is_some();
            explanation.muted = relation.muted_since.is_some();
        }
        for relation in store.relations(entry.author, &[user], tier)? {
            explanation.hidden = relation.hidden_since.is_some();
        }
        explanation.blocked = !store.blocked_among(user, &[entry.author], tier)?.is_empty();
        explanation.suspended = self.suspended_since(entry.author)?.is_some();
        for list in store.lists(user, tier)?.iter().filter(|list| list.settings.exclusive) {
            explanation.in_exclusive_list |= !store.members_among(list.id, &[entry.author], tier)?.is_empty();
        }
        explanation.unsettled = backlog.unsettled(user).binary_search(&entry.author).is_ok();
        explanation.pending = backlog.is_pending(entry);
        let span = Span::up_to(entry.cursor);
        // This look may be the one that finds damage.
        explanation.floor = store.inbox(user, span, Order::NewestFirst, tier, &mut |row| {
            explanation.in_inbox = row == entry;
            ControlFlow::Break(())
        })?;
        explanation.pulled = shown && timeline.pulls(entry, explanation.floor)?;
        let page = self.peeked_timeline(user, &PageRequest { span, limit: 1 })?;
        explanation.listed = page.items.first() == Some(&entry);
        explanation.reason = match &explanation {
            Explanation { listed: true, .. } => "listed",
            _ if !content.broadcast => "not_broadcast",
            Explanation { suspended: true, .. } => "suspended",
            _ if shown => "changed_meanwhile",
            Explanation { blocked: true, .. } => "blocked",
            Explanation { following: false, .. } => "not_following",
            Explanation { muted: true, .. } => "muted",
            Explanation { hidden: true, .. } => "hidden",
            Explanation { in_exclusive_list: true, .. } => "in_exclusive_list",
            _ => "changed_meanwhile",
        };
        Ok(explanation)
    }
}
