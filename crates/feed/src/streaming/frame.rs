//! Events as they are sent.

use std::collections::HashMap;
use std::sync::Arc;

use super::memory::{Memory, Share};
use super::personal::Note;
use super::shown::Shown;
use model::{Cursor, Event, KindId, Reactions, UserId};

/// What an event needs to know of a reader.
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
    author: UserId,
    /// The paths of its item.
    paths: Box<[UserId]>,
    /// The kind of its item.
    kind: KindId,
    /// Paths on which the item is still: who is shown one of these does not get the event. For an item taken off a path.
    still: Box<[UserId]>,
    text: String,
    /// The byte of the text where the viewer's reactions go, if the event shows an item.
    viewer_at: Option<usize>,
    /// What is known of readers; until the delivery, also where it is the default. `None` if that is so for all readers:
    /// nobody reacted, and the author is the only path.
    viewers: Option<HashMap<UserId, Viewer>>,
    /// Its share of the memory.
    _share: Share,
}

impl Frame {
    pub(super) fn new(event: &Event, text: String, memory: &Memory) -> Self {
        let _share = memory.hold(text.len());
        let viewers = event.to.is_some().then(HashMap::new);
        Self {
            author: event.entry.author,
            paths: event.paths().collect(),
            kind: event.entry.kind,
            still: Box::default(),
            text,
            viewer_at: None,
            viewers,
            _share,
        }
    }

    /// A frame of an event that shows an item: the viewer's reactions go at this byte of the text. `reacted` says
    /// whether anybody reacted.
    pub fn with_viewer(self, at: usize, reacted: bool) -> Self {
        Self { viewer_at: Some(at), viewers: self.viewers.or(reacted.then(HashMap::new)), ..self }
    }

    /// A frame of an event that an item was taken off a path, and is on these still.
    pub fn still_on(self, paths: Vec<UserId>) -> Self {
        Self { still: paths.into(), ..self }
    }

    /// Adds what is known of some readers.
    pub fn add_viewers(&mut self, viewers: impl IntoIterator<Item = (UserId, Viewer)>) {
        self.viewers.get_or_insert_default().extend(viewers);
    }

    /// Whether this reader still has to be looked up.
    pub(super) fn lacks(&self, reader: UserId) -> bool {
        self.viewers.as_ref().is_some_and(|viewers| !viewers.contains_key(&reader))
    }

    /// Drops defaults: no reader is looked up any more.
    pub(super) fn ready(mut self, memory: &Memory) -> Arc<Self> {
        if let Some(viewers) = &mut self.viewers {
            viewers.retain(|_, viewer| *viewer != Viewer::default());
            viewers.shrink_to_fit();
        }
        self._share = memory.hold(self.bytes());
        Arc::new(self)
    }

    /// The event for a reader: the reader's reactions go between the two texts, if it shows an item.
    pub fn parts(&self, reader: UserId) -> (&str, Option<Reactions>, &str) {
        let Some((before, after)) = self.viewer_at.and_then(|at| self.text.split_at_checked(at)) else {
            return (&self.text, None, "");
        };
        (before, Some(self.viewer(reader).reactions), after)
    }

    fn viewer(&self, reader: UserId) -> Viewer {
        self.viewers.as_ref().and_then(|viewers| viewers.get(&reader)).copied().unwrap_or_default()
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        const VIEWER: usize = size_of::<(UserId, Viewer)>() + 2;
        self.text.len() + VIEWER * self.viewers.as_ref().map_or(0, HashMap::capacity)
    }

    /// The paths of its item.
    pub(super) fn paths(&self) -> &[UserId] {
        &self.paths
    }

    /// Whether it is for a reader who is shown one of its paths.
    pub(super) fn is_for(&self, reader: UserId) -> bool {
        !self.viewer(reader).silences
    }

    /// Whether one of its paths is shown, by a rule that admits its kind.
    pub(super) fn comes(&self, shown: &Shown) -> bool {
        let is_on = |paths: &[UserId]| paths.iter().any(|path| shown.admits(*path, self.kind));
        is_on(&self.paths) && !is_on(&self.still)
    }
}

/// The next output for a client.
#[derive(Debug, Clone)]
pub enum Item {
    /// An event.
    Frame(Arc<Frame>),
    /// What concerns the reader alone.
    Note(Arc<Note>),
    /// Events were left out. Changes committed before the client gets this are in its timeline. The stream continues
    /// after this cursor.
    Reset(Cursor),
}

impl Item {
    /// Whether it is for a reader who is shown this.
    pub(super) fn is_for(&self, shown: &Shown) -> bool {
        match self {
            Self::Frame(frame) => frame.comes(shown) && shown.silenced.binary_search(&frame.author).is_err(),
            Self::Note(note) => !note.is_of(&shown.silenced),
            Self::Reset(_) => true,
        }
    }
}
