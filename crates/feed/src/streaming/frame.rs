//! Events as they are sent, and their memory.

use std::collections::HashMap;
use std::sync::Arc;

use model::sync::atomic::{AtomicU64, Ordering};
use model::{Cursor, Fill, Reactions, UserId};

/// Most bytes of texts that wait for clients, all streams together. Above it a client that lags loses its waiting
/// events, and one that catches up gets one event at a time.
pub(super) const MEMORY: u64 = 64 << 20;

/// The memory of waiting events, all streams together.
#[derive(Debug, Clone, Default)]
pub struct Memory(Arc<AtomicU64>);

impl Memory {
    /// Counts this many bytes, even without room for them.
    pub fn hold(&self, bytes: usize) -> Share {
        self.0.fetch_add(bytes as u64, Ordering::Relaxed);
        Share { memory: self.clone(), bytes }
    }

    /// Reserves this many bytes, if there is room for them.
    pub fn reserve(&self, bytes: usize) -> Option<Share> {
        let more = |used: u64| Some(used.saturating_add(bytes as u64)).filter(|used| *used <= MEMORY);
        let reserved = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        reserved.is_ok().then(|| Share { memory: self.clone(), bytes })
    }

    pub(super) fn fill(&self) -> Fill {
        Fill { used: self.0.load(Ordering::Relaxed), limit: MEMORY }
    }

    /// Whether clients that lag lose their waiting events.
    pub(super) fn is_short(&self) -> bool {
        self.0.load(Ordering::Relaxed) > MEMORY
    }
}

/// Some of the memory, counted until this is dropped.
#[derive(Debug)]
pub struct Share {
    memory: Memory,
    bytes: usize,
}

impl Drop for Share {
    fn drop(&mut self) {
        self.memory.0.fetch_sub(self.bytes as u64, Ordering::Relaxed);
    }
}

/// An event as it is sent: one text for all streams, without the viewer's reactions to its item.
#[derive(Debug)]
pub struct Frame {
    author: UserId,
    text: String,
    /// The byte of the text where the viewer's reactions go, if the event shows an item.
    viewer_at: Option<usize>,
    /// Readers' reactions to the item; until the delivery, also empty ones. `None` if nobody reacted.
    viewers: Option<HashMap<UserId, Reactions>>,
    memory: Memory,
    /// Its share of the memory.
    _share: Share,
}

impl Frame {
    pub(super) fn new(author: UserId, text: String, memory: Memory) -> Self {
        let _share = memory.hold(text.len());
        Self { author, text, viewer_at: None, viewers: None, memory, _share }
    }

    /// A frame of an event that shows an item: the viewer's reactions go at this byte of the text. `reacted` says
    /// whether anybody reacted.
    pub fn with_viewer(self, at: usize, reacted: bool) -> Self {
        Self { viewer_at: Some(at), viewers: reacted.then(HashMap::new), ..self }
    }

    /// Adds the reactions of some readers.
    pub fn add_viewers(&mut self, viewers: impl IntoIterator<Item = (UserId, Reactions)>) {
        self.viewers.get_or_insert_default().extend(viewers);
    }

    /// Whether this reader's reactions still have to be looked up.
    pub(super) fn lacks(&self, reader: UserId) -> bool {
        self.viewers.as_ref().is_some_and(|viewers| !viewers.contains_key(&reader))
    }

    /// Drops empty reactions: no reader is looked up any more.
    pub(super) fn ready(mut self) -> Arc<Self> {
        if let Some(viewers) = &mut self.viewers {
            viewers.retain(|_, reactions| *reactions != Reactions::default());
            viewers.shrink_to_fit();
        }
        self._share = self.memory.hold(self.bytes());
        Arc::new(self)
    }

    /// The event for a reader: the reader's reactions go between the two texts, if it shows an item.
    pub fn parts(&self, reader: UserId) -> (&str, Option<Reactions>, &str) {
        let Some((before, after)) = self.viewer_at.and_then(|at| self.text.split_at_checked(at)) else {
            return (&self.text, None, "");
        };
        let viewer = self.viewers.as_ref().and_then(|viewers| viewers.get(&reader)).copied();
        (before, Some(viewer.unwrap_or_default()), after)
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        const VIEWER: usize = size_of::<(UserId, Reactions)>() + 2;
        self.text.len() + VIEWER * self.viewers.as_ref().map_or(0, HashMap::capacity)
    }

    /// The author of its item.
    pub(super) fn author(&self) -> UserId {
        self.author
    }

    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }
}

/// The next output for a client.
#[derive(Debug, Clone)]
pub enum Item {
    /// An event.
    Frame(Arc<Frame>),
    /// Events were left out. Changes committed before the client gets this are in its timeline. The stream continues
    /// after this cursor.
    Reset(Cursor),
}

impl Item {
    /// Whether it is for a reader who is shown these authors, ascending.
    pub(super) fn is_for(&self, authors: &[UserId]) -> bool {
        match self {
            Self::Frame(frame) => authors.binary_search(&frame.author).is_ok(),
            Self::Reset(_) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::ReactionKind;

    #[test]
    fn each_reader_gets_its_own_part_and_who_did_nothing_takes_no_room() {
        let (memory, liked) = (Memory::default(), Reactions::from_iter([ReactionKind::LIKE]));
        let user = |raw| UserId::new(raw).expect("in range");
        let plain = Frame::new(UserId::MIN, "plain".to_owned(), memory.clone()).ready();
        assert_eq!(plain.parts(user(1)), ("plain", None, ""));
        let quiet = Frame::new(UserId::MIN, "ab".to_owned(), memory.clone()).with_viewer(1, false);
        assert!(!quiet.lacks(user(1)));
        assert_eq!(quiet.ready().parts(user(1)), ("a", Some(Reactions::default()), "b"));
        let mut frame = Frame::new(UserId::MIN, "abc".to_owned(), memory.clone()).with_viewer(2, true);
        assert!(frame.lacks(user(1)));
        frame.add_viewers((1..=1000).map(|raw| (user(raw), if raw == 1 { liked } else { Reactions::default() })));
        assert!(!frame.lacks(user(1)) && frame.lacks(user(1001)));
        let frame = frame.ready();
        assert_eq!(frame.parts(user(1)), ("ab", Some(liked), "c"));
        assert_eq!(frame.parts(user(2)), ("ab", Some(Reactions::default()), "c"));
        assert!((8 + 20..200).contains(&memory.fill().used), "{}", memory.fill().used);
        drop((plain, frame));
        assert_eq!(memory.fill().used, 0);
    }

    #[test]
    fn memory_is_set_aside_where_there_is_some() {
        let memory = Memory::default();
        let (all, more) = (memory.reserve(MEMORY as usize - 10), memory.hold(10));
        assert!(all.is_some() && memory.reserve(1).is_none());
        let beyond = memory.hold(10);
        drop((more, beyond));
        assert!(memory.reserve(11).is_none() && memory.reserve(10).is_some());
        drop(all);
        assert_eq!(memory.fill().used, 0);
    }
}
