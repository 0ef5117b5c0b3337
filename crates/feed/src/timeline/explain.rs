//! Why an item is, or is not, in a timeline.

use std::ops::ControlFlow;

use crate::Feed;
use model::error::Result;
use model::store::Tier;
use model::{ContentId, Cursor, Entry, Order, PageRequest, Span, UserId};

/// Why an item is, or is not, in a timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Whether the timeline shows it.
    pub listed: bool,
    /// The deciding reason as a stable word: `listed`, `no_content`, `deleted`, `not_broadcast`,
    /// `not_following`, `muted`, `hidden`, `changed_meanwhile`.
    pub reason: &'static str,
    /// The item's cursor and author, if it exists.
    pub entry: Option<Entry>,
    /// Whether the user follows the author.
    pub following: bool,
    /// Whether the user has muted the author.
    pub muted: bool,
    /// Whether the author hides its content from the user.
    pub hidden: bool,
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

impl Feed {
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
        let floor = self.store.inbox(user, place, Order::NewestFirst, Tier::Disk, &mut |row| {
            explanation.in_inbox = row == entry;
            ControlFlow::Break(())
        })?;
        // This look may be the one that finds damage.
        explanation.floor = floor;
        let activity = self.activity(user, Tier::Disk)?;
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
