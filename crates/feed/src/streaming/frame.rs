//! Events as they are sent.

use std::collections::HashMap;
use std::sync::Arc;

use super::memory::{Memory, Share};
use super::personal::Note;
use super::reader_sources::Shown;
use model::{Cursor, Event, Reactions, UserId};

/// The facts of a reader on which an event depends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Viewer {
    /// The reader's reactions to the item.
    pub reactions: Reactions,
    /// Whether the reader is not shown the author's content, on whatever path.
    pub silences: bool,
}

/// An event as it is sent: one text for all streams, without the viewer's reactions to its item.
#[derive(Debug)]
pub struct Frame {
    event: Event,
    /// Paths on which the item is still: who is shown one of these does not get the event. For an item taken off a path.
    still: Box<[UserId]>,
    text: String,
    /// The byte of the text where the viewer's reactions go, if the event shows an item.
    viewer_at: Option<usize>,
    /// Whether readers must be looked up: somebody has reacted, or the author is not the only path.
    asks: bool,
    /// Readers, as far as they differ from the default.
    viewers: HashMap<UserId, Viewer>,
    /// Its share of the memory.
    _share: Share,
}

impl Frame {
    pub(super) fn new(event: &Event, text: String, memory: &Memory) -> Self {
        let _share = memory.hold(text.len());
        Self {
            event: event.clone(),
            still: Box::default(),
            text,
            viewer_at: None,
            asks: event.to.is_some(),
            viewers: HashMap::new(),
            _share,
        }
    }

    /// A frame of an event that shows an item: the viewer's reactions go at this byte of the text. `reacted` says
    /// whether anybody reacted.
    pub fn with_viewer(self, at: usize, reacted: bool) -> Self {
        Self { viewer_at: Some(at), asks: self.asks || reacted, ..self }
    }

    /// A frame of an event that an item was taken off a path, and is on these still.
    pub fn still_on(self, paths: Vec<UserId>) -> Self {
        Self { still: paths.into(), ..self }
    }

    /// Whether readers must be looked up before the delivery.
    pub fn asks(&self) -> bool {
        self.asks
    }

    /// The event with what is known of readers.
    pub(super) fn ready(mut self, viewers: &[(UserId, Viewer)], memory: &Memory) -> Arc<Self> {
        self.viewers = viewers.iter().copied().filter(|(_, viewer)| *viewer != Viewer::default()).collect();
        self._share = memory.hold(self.bytes());
        Arc::new(self)
    }

    /// The event for a reader: the reader's reactions go between the two texts, if it shows an item.
    pub fn parts(&self, reader: UserId) -> (&str, Option<Reactions>, &str) {
        let Some((before, after)) = self.viewer_at.and_then(|at| self.text.split_at_checked(at)) else {
            return (&self.text, None, "");
        };
        (before, Some(self.viewers.get(&reader).copied().unwrap_or_default().reactions), after)
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        const VIEWER: usize = size_of::<(UserId, Viewer)>() + 2;
        self.text.len() + VIEWER * self.viewers.capacity()
    }

    /// The paths of its item.
    pub(super) fn paths(&self) -> impl Iterator<Item = UserId> {
        self.event.paths()
    }

    /// Whether one of its paths is shown, by a rule that admits its kind.
    pub(super) fn comes(&self, shown: &Shown) -> bool {
        let is_shown = |path: UserId| shown.admits(path, self.event.entry.kind);
        self.paths().any(is_shown) && !self.still.iter().copied().any(is_shown)
    }
}

/// The next output for a client.
#[derive(Debug, Clone)]
pub enum Item {
    /// An event.
    Frame(Arc<Frame>),
    /// An event of the reader alone.
    Note(Arc<Note>),
    /// Events were left out. Changes committed before the client gets this are in its timeline. The stream continues
    /// after this cursor.
    Reset(Cursor),
}

impl Item {
    /// Whether it is for a reader who is shown this.
    pub(super) fn is_for(&self, shown: &Shown) -> bool {
        match self {
            Self::Frame(frame) => {
                frame.comes(shown) && shown.silenced.binary_search(&frame.event.entry.author).is_err()
            }
            Self::Note(note) => !note.is_of(&shown.silenced),
            Self::Reset(_) => true,
        }
    }
}
