//! Compares what a timeline shows with what it should show, while changes go on.
//!
//! The fast answer and a pull of all outboxes are read one page at a time, one right after the other. A change between
//! the two rightly makes them differ, so a difference is only a suspicion. The page is read again while changes wait.
//! Each item that still differs is checked alone, while changes wait, too. Then three must agree: the stored item, the
//! fast answer at its place, and the pull there.

use std::collections::HashSet;
use std::time::Duration;

use super::tables;
use crate::pages::segment::ReadStart;
use crate::read::Read;
use crate::{items, restrictions, timeline};
use model::error::Result;
use model::{ContentId, ContentPage, Cursor, Entry, Order, PageRequest, Span, UserId};

/// The diff of the fast answer against a pure pull.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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

/// Items on a page of a comparison.
const PAGE: usize = 100;
/// Attempts to check an item that is being published.
const ATTEMPTS: usize = 100;
/// The pause between them.
const PAUSE: Duration = Duration::from_millis(1);

/// The result of a second check of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Right,
    Missing,
    Extra,
    /// The item is being published: an answer may have it or lack it.
    Open,
}

/// Compares the newest `depth` items of a user's timeline with a pull of all outboxes. Changes made meanwhile are
/// no difference. While a page or an item is checked again, changes of suspect items and of the user's authors
/// wait.
pub fn verify(read: Read<'_>, user: UserId, depth: usize) -> Result<Verification> {
    let mut result = Verification::default();
    let mut before = None;
    while result.compared < depth {
        let request = PageRequest { span: Span { before, after: None }, limit: PAGE.min(depth - result.compared) };
        let (mut pulled, mut suspects) = differences(read, user, &request)?;
        if !suspects.is_empty() {
            // One added or removed author makes many items differ.
            let _still = read.feed.streaming.hold_changes();
            (pulled, suspects) = differences(read, user, &request)?;
        }
        for entry in suspects {
            match look_again(read, user, entry)? {
                Verdict::Missing => result.missing.push(entry),
                Verdict::Extra => result.extra.push(entry),
                Verdict::Right | Verdict::Open => {}
            }
        }
        result.compared += pulled.items.len();
        before = pulled.next;
        if before.is_none() {
            result.complete = true;
            break;
        }
    }
    Ok(result)
}

/// A pulled page, and the entries in which the fast answer differs.
fn differences(read: Read<'_>, user: UserId, request: &PageRequest<ContentId>) -> Result<(ContentPage, Vec<Entry>)> {
    let pulled = timeline::pulled_page(read, user, request)?;
    let shown = shown(read, user, request.span.before, pulled.next)?;
    let right: HashSet<_> = pulled.items.iter().collect();
    let (mut seen, mut suspects, mut last) = (HashSet::new(), Vec::new(), None);
    for entry in &shown {
        let in_order = last.is_none_or(|last| entry.cursor < last);
        if !seen.insert(entry) || !right.contains(entry) || !in_order {
            suspects.push(*entry);
        }
        last = Some(entry.cursor);
    }
    suspects.extend(pulled.items.iter().filter(|entry| !seen.contains(entry)));
    Ok((pulled, suspects))
}

/// The fast answer below a place, down to and including `last`, or to the end.
fn shown(read: Read<'_>, user: UserId, mut before: Option<Cursor>, last: Option<Cursor>) -> Result<Vec<Entry>> {
    let mut shown = Vec::new();
    loop {
        let request = PageRequest { span: Span { before, after: None }, limit: PAGE };
        let page = timeline::inbox_page(read, user, &request)?;
        shown.extend(page.items.into_iter().filter(|entry| Some(entry.cursor) >= last));
        // A page may be empty and lead on.
        before = page.next.filter(|next| Some(*next) > last);
        if before.is_none() {
            return Ok(shown);
        }
    }
}

fn look_again(read: Read<'_>, user: UserId, entry: Entry) -> Result<Verdict> {
    for _ in 0..ATTEMPTS {
        let verdict = {
            let _still = read.feed.streaming.hold_changes();
            look(read, user, entry)?
        };
        if verdict != Verdict::Open {
            return Ok(verdict);
        }
        std::thread::sleep(PAUSE);
    }
    Ok(Verdict::Open)
}

/// Checks an item. Of its changes only its publish can come meanwhile.
fn look(read: Read<'_>, user: UserId, entry: Entry) -> Result<Verdict> {
    let is_listed = belongs(read, user, entry)?;
    // After that: the job of a found item is known, and its place in the order is fixed.
    let start = ReadStart::of(read);
    let mut before_start = vec![entry];
    start.keep_older(&mut before_start, Order::NewestFirst);
    if before_start.is_empty() {
        return Ok(Verdict::Open);
    }
    // Two items, so that a duplicate is seen.
    let request = PageRequest { span: Span::up_to(entry.cursor), limit: 2 };
    let has =
        |items: &[Entry]| items.first() == Some(&entry) && items.get(1).is_none_or(|next| next.cursor < entry.cursor);
    let shown = timeline::inbox_page(read, user, &request)?.items;
    let pulled = timeline::pulled_page(read, user, &request)?.items;
    let agree = has(&shown) == is_listed && has(&pulled) == is_listed;
    Ok(if belongs(read, user, entry)? != is_listed {
        Verdict::Open
    } else if agree {
        Verdict::Right
    } else if shown.contains(&entry) {
        Verdict::Extra
    } else {
        Verdict::Missing
    })
}

/// Whether a timeline has an item by definition.
fn belongs(read: Read<'_>, user: UserId, entry: Entry) -> Result<bool> {
    let content = items::tables::contents(&read.feed.store, &[entry.cursor.id], read.tier)?.pop().flatten();
    let Some(content) = content.filter(|content| content.shown_as() == entry) else { return Ok(false) };
    let suspended = read.suspended_among(content.paths().chain([content.author]))?;
    if suspended.contains(&content.author) {
        return Ok(false);
    }
    let authors = tables::authors(&read.feed.store, user, read.tier)?;
    let is_own = |source| read.feed.config.timeline.include_own && source == user;
    let counts = |source| !suspended.contains(&source) && (is_own(source) || authors.admits(source, content.kind_id));
    let silences = || restrictions::tables::silences(&read.feed.store, &[(user, content.author)], read.tier);
    Ok(content.paths().any(counts) && (content.author == user || silences()? == [false]))
}
