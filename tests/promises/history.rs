//! The changes and reads of several threads.
//!
//! Every call is recorded with the ticks of a shared clock at which it began and ended. A read *must* show a change
//! that ended before the read began, and *must not* show one that began after the read ended. Otherwise both are right.
//! `bounds` compares, `tell` reports errors.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use model::{ContentId, Entry, Page, PageRequest, Restriction, Side, UserId};

/// Counts calls that begin and end.
#[derive(Debug, Default)]
pub(crate) struct Clock(AtomicU64);

impl Clock {
    pub(crate) fn tick(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst)
    }

    /// Makes a call. Its window is the span of ticks around it.
    pub(crate) fn during<T>(&self, call: impl FnOnce() -> T) -> (Window, T) {
        let began = self.tick();
        let result = call();
        (Window { began, ended: self.tick() }, result)
    }
}

/// The interval of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) began: u64,
    pub(crate) ended: u64,
}

impl Window {
    pub(crate) fn is_before(&self, other: &Self) -> bool {
        self.ended < other.began
    }
}

/// An item's life.
#[derive(Debug, Clone)]
pub(crate) struct Life {
    pub(crate) entry: Entry,
    pub(crate) published: Window,
    /// Whether the server gave the time.
    pub(crate) of_server: bool,
    /// Whether its time may not have come yet: then pages upwards may lack it.
    pub(crate) ahead: bool,
    /// The window of the publish that named it first.
    pub(crate) named: Window,
    /// The number of its text before the first edit here. Each edit adds one.
    pub(crate) version: usize,
    pub(crate) edits: Vec<Window>,
    /// Deletes and restores, in order, each with whether the item is live after it.
    pub(crate) turns: Vec<(Window, bool)>,
    /// The sources that it was published on.
    pub(crate) on: Vec<UserId>,
    /// Those that it was taken off.
    pub(crate) off: Vec<(UserId, Window)>,
    /// Whether rules and reads that leave out reposts leave it out.
    pub(crate) is_repost: bool,
    pub(crate) for_followers: bool,
}

impl Life {
    pub(crate) fn new(entry: Entry, published: Window) -> Self {
        let (named, on) = (published, vec![entry.author]);
        Self {
            entry,
            published,
            of_server: false,
            ahead: false,
            named,
            version: 0,
            edits: Vec::new(),
            turns: Vec::new(),
            on,
            off: Vec::new(),
            is_repost: false,
            for_followers: false,
        }
    }

    /// Whether a read must, and whether it may, find the item on the page of a source that it was published on.
    pub(crate) fn stays_on(&self, source: UserId, read: &Window) -> (bool, bool) {
        let off = self.off.iter().find(|(other, _)| *other == source);
        off.map_or((true, true), |(_, window)| (read.is_before(window), !window.is_before(read)))
    }

    /// The sources that it is on when all calls have ended.
    pub(crate) fn paths(&self) -> impl Iterator<Item = UserId> {
        self.on.iter().copied().filter(|source| self.off.iter().all(|(off, _)| off != source))
    }

    pub(crate) fn must_live(&self, read: &Window) -> bool {
        self.states(read).0
    }

    pub(crate) fn may_live(&self, read: &Window) -> bool {
        self.states(read).1
    }

    fn states(&self, read: &Window) -> (bool, bool) {
        states(&[&[(self.published, true)], self.turns.as_slice()].concat(), read)
    }

    /// Whether the item is live when all calls have ended.
    pub(crate) fn lives(&self) -> bool {
        self.turns.last().is_none_or(|(_, live)| *live)
    }

    /// Whether a read may see the text with this number.
    pub(crate) fn may_say(&self, version: usize, read: &Window) -> bool {
        let Some(edits) = version.checked_sub(self.version) else { return false };
        let begun = edits == 0 || self.edits.get(edits - 1).is_some_and(|edit| !read.is_before(edit));
        begun && self.edits.get(edits).is_none_or(|next| !next.is_before(read))
    }
}

/// The result of a read.
#[derive(Debug, Clone)]
pub(crate) enum Seen {
    /// A page of the home timeline.
    Timeline(PageRequest<ContentId>, Page<Entry, ContentId>),
    /// A page of the home timeline without reposts.
    Posts(PageRequest<ContentId>, Page<Entry, ContentId>),
    /// A page of the timeline of the user's exclusive list.
    Apart(PageRequest<ContentId>, Page<Entry, ContentId>),
    /// The home timeline from the top to the end by `next`.
    Scroll(Vec<Entry>),
    /// A page of the user's own page.
    Outbox(PageRequest<ContentId>, Page<Entry, ContentId>),
    /// Requested items, and the numbers of the texts of those returned.
    Texts(Vec<ContentId>, Vec<(ContentId, usize)>),
    /// Requested items, and those of them that the user sees.
    Sight(Vec<ContentId>, Vec<ContentId>),
    /// All followees or followers of the user.
    Members(Side, Vec<UserId>),
}

/// One read, by or of a user.
#[derive(Debug, Clone)]
pub(crate) struct Read {
    pub(crate) user: UserId,
    pub(crate) window: Window,
    pub(crate) seen: Seen,
}

/// For each pair of users the requested states in order, such as to follow or not. Only one thread changes a pair.
pub(crate) type Pairs = HashMap<(UserId, UserId), Vec<(Window, bool)>>;

/// The history of one thread, or of all together.
#[derive(Debug, Default, Clone)]
pub(crate) struct History {
    pub(crate) lives: Vec<Life>,
    pub(crate) pairs: Pairs,
    /// The pairs of user and muted user.
    pub(crate) mutes: Pairs,
    /// The pairs of user and user hidden from.
    pub(crate) hides: Pairs,
    /// The pairs of user and blocked user.
    pub(crate) blocks: Pairs,
    /// Pairs of a user and a member of the user's exclusive list.
    pub(crate) apart: Pairs,
    /// The pairs of user and followee whose rule leaves out reposts.
    pub(crate) rules: Pairs,
    /// Suspended users, each paired with itself.
    pub(crate) suspensions: Pairs,
    pub(crate) reads: Vec<Read>,
}

impl History {
    pub(crate) fn relate(&mut self, user: UserId, target: UserId, window: Window, follow: bool) {
        self.pairs.entry((user, target)).or_default().push((window, follow));
        if !follow {
            self.rule(user, target, window, false);
        }
    }

    /// The rule of a follow or a request leaves out reposts, or no more.
    pub(crate) fn rule(&mut self, user: UserId, target: UserId, window: Window, leaves_out: bool) {
        self.rules.entry((user, target)).or_default().push((window, leaves_out));
    }

    pub(crate) fn bar(&mut self, user: UserId, target: UserId, restriction: Restriction, window: Window, raised: bool) {
        let pairs = match restriction {
            Restriction::Mute => &mut self.mutes,
            Restriction::Hide => &mut self.hides,
            Restriction::Block => &mut self.blocks,
        };
        pairs.entry((user, target)).or_default().push((window, raised));
        if restriction == Restriction::Block && raised {
            self.relate(user, target, window, false);
            self.relate(target, user, window, false);
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.lives.extend(other.lives);
        self.pairs.extend(other.pairs);
        self.mutes.extend(other.mutes);
        self.hides.extend(other.hides);
        self.blocks.extend(other.blocks);
        self.apart.extend(other.apart);
        self.rules.extend(other.rules);
        self.suspensions.extend(other.suspensions);
        self.reads.extend(other.reads);
    }

    /// Forgets all but the state at the end: deleted items and ended follows must not show again.
    pub(crate) fn forget(&mut self) {
        self.reads.clear();
        self.lives.retain(Life::lives);
        for life in &mut self.lives {
            life.published = life.turns.last().map_or(life.published, |(restored, _)| *restored);
            life.turns.clear();
            life.version += life.edits.len();
            life.edits.clear();
            life.on = life.paths().collect();
            life.off.clear();
        }
        let Self { pairs, mutes, hides, blocks, apart, rules, suspensions, .. } = self;
        for pairs in [pairs, mutes, hides, blocks, apart, rules, suspensions] {
            pairs.retain(|_, changes| {
                changes.drain(..changes.len().saturating_sub(1));
                changes.first().is_some_and(|(_, holds)| *holds)
            });
        }
    }

    /// Of two names, the one that was seen later has the greater number. Those of users were seen before all items.
    pub(crate) fn check_numbers(&self, users: &[UserId]) -> Result<(), String> {
        let last_user = users.iter().max().map_or(0, |user| user.get());
        let is_new = |life: &&Life| life.entry.cursor.id.is_name() && life.entry.cursor.id.get() > last_user;
        let mut named: Vec<_> = self.lives.iter().filter(is_new).collect();
        named.sort_by_key(|life| life.entry.cursor.id);
        let mut last: Option<&Life> = None;
        for life in named {
            if let Some(last) = last.filter(|last| life.named.is_before(&last.named)) {
                return Err(format!("{:?} was named before {:?}, and has the greater number", life, last));
            }
            last = last.filter(|last| last.named.began >= life.named.began).or(Some(life));
        }
        Ok(())
    }

    /// Number of changes.
    pub(crate) fn changes(&self) -> usize {
        let of_life = |life: &Life| 1 + life.edits.len() + life.turns.len() + life.off.len();
        let of_pairs = |pairs: &Pairs| pairs.values().map(Vec::len).sum::<usize>();
        let Self { pairs, mutes, hides, blocks, apart, rules, suspensions, .. } = self;
        let pairs = [pairs, mutes, hides, blocks, apart, rules, suspensions];
        self.lives.iter().map(of_life).sum::<usize>() + pairs.into_iter().map(of_pairs).sum::<usize>()
    }

    /// Whether a read must, and whether it may, see that a user follows an author.
    pub(crate) fn follows(&self, user: UserId, author: UserId, read: &Window) -> (bool, bool) {
        holds(&self.pairs, user, author, read)
    }

    /// Whether a read must, and whether it may, see that an author is suspended.
    pub(crate) fn suspended(&self, author: UserId, read: &Window) -> (bool, bool) {
        holds(&self.suspensions, author, author, read)
    }

    /// Whether a read must, and whether it may, see a user's restriction.
    pub(crate) fn restricted(
        &self,
        user: UserId,
        target: UserId,
        restriction: Restriction,
        read: &Window,
    ) -> (bool, bool) {
        match restriction {
            Restriction::Mute => holds(&self.mutes, user, target, read),
            Restriction::Hide => holds(&self.hides, user, target, read),
            Restriction::Block => holds(&self.blocks, user, target, read),
        }
    }

    /// Whether one of two users has blocked the other when all calls have ended.
    pub(crate) fn blocked_now(&self, user: UserId, other: UserId) -> bool {
        let last = |pair| self.blocks.get(&pair).and_then(|changes| changes.last());
        [(user, other), (other, user)].into_iter().filter_map(last).any(|(_, stands)| *stands)
    }

    /// Whether a read must, and whether it may, show an author's content to a reader.
    pub(crate) fn shows(&self, reader: UserId, author: UserId, read: &Window) -> (bool, bool) {
        let ((must, may), apart) = (self.follows(reader, author, read), self.apart(reader, author, read));
        self.unrestricted((must && !apart.1, may && !apart.0), reader, author, read)
    }

    /// Whether a read must, and whether it may, show an author's content in the exclusive list of a reader.
    pub(crate) fn shows_apart(&self, reader: UserId, author: UserId, read: &Window) -> (bool, bool) {
        self.unrestricted(self.apart(reader, author, read), reader, author, read)
    }

    fn apart(&self, user: UserId, member: UserId, read: &Window) -> (bool, bool) {
        holds(&self.apart, user, member, read)
    }

    /// Whether a read must, and whether it may, leave out the reposts of a followee because of the rule of the follow.
    pub(crate) fn leaves_out_reposts(&self, user: UserId, source: UserId, read: &Window) -> (bool, bool) {
        holds(&self.rules, user, source, read)
    }

    /// Whether nothing keeps a reader from an author on any path.
    pub(crate) fn is_open(&self, reader: UserId, author: UserId, read: &Window) -> (bool, bool) {
        if reader == author { (true, true) } else { self.unrestricted((true, true), reader, author, read) }
    }

    /// Whether a viewer must, and whether it may, see a live item of an author who is not suspended: neither hide nor block
    /// lies between, and the item is public, or the viewer is its author or one of its paths, or follows one.
    pub(crate) fn sees(&self, viewer: UserId, life: &Life, read: &Window) -> (bool, bool) {
        let author = life.entry.author;
        if viewer == author {
            return (true, true);
        }
        let hidden = self.restricted(author, viewer, Restriction::Hide, read);
        let blocked = self.restricted(viewer, author, Restriction::Block, read);
        let blocks = self.restricted(author, viewer, Restriction::Block, read);
        all([self.is_for(viewer, life, read), not(hidden), not(blocked), not(blocks)])
    }

    /// Whether an item is public, or for a viewer by one of its paths.
    pub(crate) fn is_for(&self, viewer: UserId, life: &Life, read: &Window) -> (bool, bool) {
        if !life.for_followers || viewer == life.entry.author {
            return (true, true);
        }
        let counts = |source: &UserId| {
            let follows = if *source == viewer { (true, true) } else { self.follows(viewer, *source, read) };
            let hidden = self.restricted(*source, viewer, Restriction::Hide, read);
            all([follows, not(hidden), not(self.suspended(*source, read)), life.stays_on(*source, read)])
        };
        any(life.on.iter().map(counts))
    }

    fn unrestricted(&self, (must, may): (bool, bool), reader: UserId, author: UserId, read: &Window) -> (bool, bool) {
        let muted = self.restricted(reader, author, Restriction::Mute, read);
        let hidden = self.restricted(author, reader, Restriction::Hide, read);
        let blocked = self.restricted(reader, author, Restriction::Block, read);
        let blocks = self.restricted(author, reader, Restriction::Block, read);
        let restrictions = [muted, hidden, blocked, blocks];
        (must && restrictions.iter().all(|bar| !bar.1), may && restrictions.iter().all(|bar| !bar.0))
    }

    /// Whether a user follows an author when all calls have ended.
    pub(crate) fn follows_now(&self, user: UserId, author: UserId) -> bool {
        self.pairs.get(&(user, author)).and_then(|changes| changes.last()).is_some_and(|(_, follow)| *follow)
    }
}

/// Whether a read must, and whether it may, see the contrary.
pub(crate) fn not((must, may): (bool, bool)) -> (bool, bool) {
    (!may, !must)
}

/// Whether a read must, and whether it may, see all of these states.
pub(crate) fn all(states: impl IntoIterator<Item = (bool, bool)>) -> (bool, bool) {
    states.into_iter().fold((true, true), |all, one| (all.0 && one.0, all.1 && one.1))
}

/// Whether a read must, and whether it may, see one of these states.
pub(crate) fn any(states: impl IntoIterator<Item = (bool, bool)>) -> (bool, bool) {
    states.into_iter().fold((false, false), |any, one| (any.0 || one.0, any.1 || one.1))
}

/// Whether a read must, and whether it may, see the requested state of a pair.
fn holds(pairs: &Pairs, one: UserId, other: UserId, read: &Window) -> (bool, bool) {
    pairs.get(&(one, other)).map_or((false, false), |changes| states(changes, read))
}

/// Whether a read must, and whether it may, see a state that is changed by calls one after the other. Before the first
/// change it is false.
fn states(changes: &[(Window, bool)], read: &Window) -> (bool, bool) {
    let before = changes.iter().rev().find(|(window, _)| window.is_before(read)).is_some_and(|(_, so)| *so);
    let meanwhile = || changes.iter().filter(|(window, _)| !window.is_before(read) && !read.is_before(window));
    (before && meanwhile().all(|(_, so)| *so), before || meanwhile().any(|(_, so)| *so))
}
