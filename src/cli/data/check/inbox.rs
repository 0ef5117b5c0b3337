//! Compares one inbox with its source outboxes.

use std::collections::hash_map::Entry as HashEntry;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use super::Findings;
use crate::prelude::*;
use feed::erasure::tables::is_erasing;
use feed::ids::tables::shown;
use feed::inbox::tables as inboxes;
use feed::items::tables as items;
use kv::Tier;
use model::{Activity, Entry, Order, Span, Unpushed, UserId};

/// Outbox entries read at a time.
const PAGE: usize = 4096;

/// Checks the part of a user's inbox above its floor; an inbox claims nothing below. No job may be waiting, but erasures may:
/// no page shows an entry of a user who is being erased, and nobody reads that user's inbox.
pub(super) fn check(store: &Store, user: UserId, followees: &[UserId], findings: &mut Findings) -> Result<()> {
    if is_erasing(store, user) {
        return Ok(());
    }
    let is_left = |entry: &Entry| !is_erasing(store, entry.source) && !is_erasing(store, entry.author);
    let activity = inboxes::activity(store, user, Tier::Disk)?;
    let mut rows = Vec::new();
    let floor = inboxes::inbox(store, user, Span::ALL, Order::NewestFirst, Tier::Disk, &mut |entry| {
        rows.push(entry);
        ControlFlow::Continue(())
    })?;
    rows.retain(|entry| Some(entry.cursor) > floor);
    let mut span = Span { before: None, after: floor };
    let mut rows = rows.as_slice();
    let mut unpushed = HashMap::new();
    loop {
        let mut expected = items::outboxes(store, followees, span.newest(PAGE), Tier::Disk)?;
        let mut last = None;
        if let Some(entry) = expected.get(PAGE - 1).copied() {
            // The last item may have more entries.
            expected.retain(|other| other.cursor != entry.cursor);
            last = expected.last().map(|entry| entry.cursor);
        }
        let covered = last.map_or(rows.len(), |last| rows.partition_point(|row| row.cursor >= last));
        let (part, rest) = rows.split_at(covered);
        for entry in without(&expected, part).into_iter().filter(|entry| activity.has_inbox() && is_left(entry)) {
            let of_source = match unpushed.entry(entry.source) {
                HashEntry::Occupied(known) => *known.get(),
                HashEntry::Vacant(free) => *free.insert(inboxes::unpushed(store, entry.source, Tier::Disk)?),
            };
            if !may_lack(&entry, of_source, activity) {
                let (user, place, source) = (shown(store, user), place(store, &entry), shown(store, entry.source));
                findings.add(|| format!("user {user}: inbox lacks {place} of source {source}"));
            }
        }
        // A node of a cluster leaves the entries of a dropped inbox as they are; the rebuild for a user who returns does not.
        let has: Vec<_> =
            without(part, &expected).into_iter().filter(|entry| activity.has_inbox() && is_left(entry)).collect();
        let ids: Vec<_> = has.iter().map(|entry| entry.cursor.id).collect();
        let taken_off =
            items::taken_off(store, &mut has.iter().map(|entry| (entry.cursor.id, entry.source)), Tier::Disk)?;
        for (entry, deleted) in has.iter().zip(items::deleted(store, &ids, Tier::Disk)?) {
            if !deleted && !taken_off.contains(&(entry.cursor.id, entry.source)) {
                findings.add(|| surplus(store, user, entry, followees));
            }
        }
        rows = rest;
        match last {
            Some(last) => span = span.older_than(last),
            None => return Ok(()),
        }
    }
}

/// The entries that are not among others.
fn without(entries: &[Entry], others: &[Entry]) -> Vec<Entry> {
    let others: HashSet<_> = others.iter().collect();
    entries.iter().filter(|entry| !others.contains(entry)).copied().collect()
}

/// Whether an inbox may lack an entry because the entry was never pushed there; reads pull it.
fn may_lack(entry: &Entry, unpushed: Unpushed, activity: Activity) -> bool {
    let skipped_dormant = unpushed.to_active >= Some(entry.cursor);
    unpushed.to_nobody >= Some(entry.cursor) || (skipped_dormant && !activity.is_active())
}

/// The place of an entry, with its id as the host writes it.
fn place(store: &Store, entry: &Entry) -> String {
    format!("{}-{}", entry.cursor.at, shown(store, entry.cursor.id))
}

fn surplus(store: &Store, user: UserId, entry: &Entry, followees: &[UserId]) -> String {
    let why =
        if followees.contains(&entry.source) { "that is not in the outbox" } else { "that the user does not follow" };
    let (user, place, source) = (shown(store, user), place(store, entry), shown(store, entry.source));
    format!("user {user}: inbox has {place} of source {source} {why}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{ContentId, Cursor};

    fn cursor(at: u64, id: u64) -> Cursor {
        Cursor { at, id: ContentId::new(id).expect("in range") }
    }

    fn user(raw: u64) -> UserId {
        UserId::new(raw).expect("in range")
    }

    fn entry(at: u64, id: u64, author: u64) -> Entry {
        Entry::plain(cursor(at, id), user(author))
    }

    #[test]
    fn only_what_was_never_pushed_may_be_absent() {
        let (active, returning) =
            (Activity::Active { seen: 1 }, Activity::Returning { seen: 1, empty: false, rebuild: 1 });
        let item = entry(5, 5, 1);
        let nobody = |at| Unpushed { to_nobody: Some(cursor(at, 5)), to_active: None };
        let some = |at| Unpushed { to_nobody: None, to_active: Some(cursor(at, 5)) };
        for activity in [active, returning, Activity::default()] {
            assert!(!may_lack(&item, Unpushed::default(), activity));
            assert!(may_lack(&item, nobody(5), activity) && may_lack(&item, nobody(6), activity));
            assert!(!may_lack(&item, nobody(4), activity) && !may_lack(&item, some(4), activity));
        }
        assert!(may_lack(&item, some(5), Activity::default()) && may_lack(&item, some(5), returning));
        assert!(!may_lack(&item, some(9), active));
    }
}
