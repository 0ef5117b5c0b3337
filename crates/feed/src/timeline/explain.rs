//! The reasons that an item is, or is not, in a timeline.

use std::ops::ControlFlow;

use serde::Serialize;
use utoipa::ToSchema;

use crate::read::Read;
use crate::timeline::home::{Reader, Timeline};
use crate::{erasure, follows, inbox, items, lists, timeline, users};
use model::error::Result;
use model::{ContentId, Cursor, Entry, ExternalId, Order, PageRequest, Restriction, Span, UserId};

/// The reasons that an item is, or is not, in a timeline.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Explanation {
    /// Whether the timeline shows it.
    pub listed: bool,
    /// The deciding reason as a stable word: `listed`, `no_content`, `deleted`, `not_broadcast`,
    /// `blocked`, `requested`, `not_following`, `muted`, `hidden`, `suspended`, `in_exclusive_list`, `ruled_out`,
    /// `changed_meanwhile`.
    pub reason: &'static str,
    /// The item's cursor and author, if it exists.
    pub entry: Option<Entry>,
    /// Whether the user has muted the author.
    pub muted: bool,
    /// Whether the author hides its content from the user.
    pub hidden: bool,
    /// Whether the user has blocked the author, or the author the user.
    pub blocked: bool,
    /// Whether the author is suspended.
    pub suspended: bool,
    /// The floor of the inbox.
    pub floor: Option<Cursor>,
    /// Each path of the item: the author if it is broadcast, then further sources.
    pub paths: Vec<PathExplanation>,
}

/// The reason that an item is, or is not, in a timeline through one of its paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PathExplanation {
    /// The source.
    #[serde(skip)]
    pub source: UserId,
    /// The id of the source.
    pub source_id: ExternalId,
    /// The user follows the source.
    pub following: bool,
    /// A request of the user to follow the source waits.
    pub requested: bool,
    /// The user has muted the source.
    pub muted: bool,
    /// The source hides its content from the user.
    pub hidden: bool,
    /// The user has blocked the source, or the source the user.
    pub blocked: bool,
    /// The source is suspended.
    pub suspended: bool,
    /// The source is a member of an exclusive list of the user.
    pub in_exclusive_list: bool,
    /// The rule of the follow does not admit the kind of the item.
    pub ruled_out: bool,
    /// A follow or unfollow of this source is still being applied to the inbox.
    pub unsettled: bool,
    /// The fan-out of the item on this path has not ended.
    pub pending: bool,
    /// The inbox has a row for the item on this path, above the floor.
    pub in_inbox: bool,
    /// A read takes the item from the source's outbox.
    pub pulled: bool,
}

/// Says why an item is, or is not, in a user's timeline.
pub fn explain(read: Read<'_>, user: UserId, id: ContentId) -> Result<Explanation> {
    let (store, tier) = (&read.feed.store, read.tier);
    let floor =
        inbox::tables::inbox(store, user, Span::ALL, Order::NewestFirst, tier, &mut |_| ControlFlow::Break(()))?;
    let mut explanation = Explanation { reason: "no_content", floor, ..Explanation::default() };
    let Some(content) = items::tables::contents(store, &[id], tier)?.pop().flatten() else {
        if items::tables::deleted(store, &[id], tier)? == [true] {
            explanation.reason = "deleted";
        }
        return Ok(explanation);
    };
    if erasure::tables::is_erasing(store, content.author) {
        return Ok(Explanation { reason: "deleted", ..explanation });
    }
    let entry = content.shown_as();
    explanation.entry = Some(entry);
    let timeline = Timeline::open(read, user, Reader::Guest)?;
    let span = Span::up_to(entry.cursor);
    let mut in_inbox = Vec::new();
    // This look may be the one that finds damage.
    explanation.floor = inbox::tables::inbox(store, user, span, Order::NewestFirst, tier, &mut |row| {
        if row.cursor < entry.cursor {
            return ControlFlow::Break(());
        }
        in_inbox.push(row);
        ControlFlow::Continue(())
    })?;
    for entry in content.entries().filter(|entry| !erasure::tables::is_erasing(store, entry.source)) {
        let path = explain_path(read, user, entry, &in_inbox)?;
        let pulled = timeline.shows(entry.source) && timeline.pulls(entry, explanation.floor)?;
        explanation.paths.push(PathExplanation { pulled, ..path });
    }
    let author = explain_path(read, user, entry, &[])?;
    (explanation.muted, explanation.hidden) = (author.muted, author.hidden);
    (explanation.blocked, explanation.suspended) = (author.blocked, author.suspended);
    let page = timeline::page(read.peeking(true), user, &PageRequest { span, limit: 1 })?;
    explanation.listed = page.items.first() == Some(&entry);
    let paths = &explanation.paths;
    let any = |is_so: fn(&PathExplanation) -> bool| paths.iter().any(is_so);
    explanation.reason = match &explanation {
        Explanation { listed: true, .. } => "listed",
        _ if paths.is_empty() => "not_broadcast",
        Explanation { suspended: true, .. } => "suspended",
        Explanation { blocked: true, .. } => "blocked",
        Explanation { muted: true, .. } => "muted",
        Explanation { hidden: true, .. } => "hidden",
        _ if paths.iter().any(|path| timeline.shows(path.source) && !path.ruled_out) => "changed_meanwhile",
        _ if !any(|path| path.following) && any(|path| path.blocked) => "blocked",
        _ if !any(|path| path.following) && any(|path| path.requested) => "requested",
        _ if !any(|path| path.following) => "not_following",
        _ if any(|path| path.following && path.suspended) => "suspended",
        _ if any(|path| path.following && path.muted) => "muted",
        _ if any(|path| path.following && path.hidden) => "hidden",
        _ if any(|path| path.following && path.in_exclusive_list) => "in_exclusive_list",
        _ if any(|path| path.following && path.ruled_out) => "ruled_out",
        _ => "changed_meanwhile",
    };
    Ok(explanation)
}

fn explain_path(read: Read<'_>, user: UserId, entry: Entry, in_inbox: &[Entry]) -> Result<PathExplanation> {
    let (store, backlog, source) = (&read.feed.store, &read.feed.backlog, entry.source);
    let to = follows::tables::relations(store, user, &[source], read.tier)?.pop();
    let from = follows::tables::relations(store, source, &[user], read.tier)?.pop();
    let mut in_exclusive_list = false;
    for list in lists::tables::lists(store, user, read.tier)?.iter().filter(|list| list.settings.exclusive) {
        in_exclusive_list |= lists::tables::memberships(store, list.id, &[source], read.tier)? != [None];
    }
    Ok(PathExplanation {
        source,
        source_id: read.host_ids(&source)?.of(source),
        following: to.is_some_and(|relation| relation.following_since.is_some()),
        requested: to.is_some_and(|relation| relation.requested_since.is_some()),
        muted: to.is_some_and(|relation| relation.restricted_since(Restriction::Mute).is_some()),
        hidden: from.is_some_and(|relation| relation.restricted_since(Restriction::Hide).is_some()),
        blocked: !follows::tables::blocked_among(store, user, &[source], read.tier)?.is_empty(),
        suspended: users::suspended_since(read, source)?.is_some(),
        in_exclusive_list,
        ruled_out: to.and_then(|relation| relation.rule).is_some_and(|rule| !rule.admits(entry.kind)),
        unsettled: backlog.unsettled(user).binary_search(&source).is_ok(),
        pending: backlog.is_pending(entry),
        in_inbox: in_inbox.contains(&entry),
        pulled: false,
    })
}
