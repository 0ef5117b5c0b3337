//! The positions of the receivers of changes, each in a note.
//!
//! They are commands, so that every node of a cluster has them: whoever goes on with a receiver of a lost node, under its name
//! or another one, knows how far it is. Each node that sends to a receiver has a line of its own: it may name another URL.

use crate::core::Core;
use crate::events::position::ChangePosition;
use crate::feed::Feed;
use crate::store::Store;
use crate::writer::command::{Change, KeepReceiver};
use crate::writer::txn::Txn;
use model::error::{Code, Error, Result};

/// Most nodes whose lines a note has.
const MOST_LINES: usize = 64;

/// The name of the note of a receiver.
fn note_of(name: &str) -> String {
    format!("webhook:{name}")
}

/// The lines of the note of a receiver, that which was written last at the end: a node, which has no name without a cluster,
/// and its position. `None` if they are damaged.
fn lines(store: &Store, name: &str) -> Result<Option<Vec<(String, ChangePosition)>>> {
    let note = store.note(&note_of(name))?.unwrap_or_default();
    let read = |line: &str| {
        let (node, position) = line.split_once(' ').unwrap_or(("", line));
        Some((node.to_owned(), position.parse().ok()?))
    };
    Ok(std::str::from_utf8(&note).ok().and_then(|text| text.lines().map(read).collect()))
}

/// The position of a receiver that this node has kept, or else another one last. `None` if none has; `Corrupt` if it is
/// damaged.
pub(crate) fn kept_position(feed: &Core, name: &str) -> Result<Option<ChangePosition>> {
    let lines = lines(&feed.store, name)?.ok_or_else(|| Error::Corrupt("its position is damaged".to_owned()))?;
    let own = lines.iter().find(|(node, _)| node == feed.config.cluster.node.as_str());
    Ok(own.or(lines.last()).map(|(_, position)| *position))
}

/// Keeps the position of a receiver. A crash may take it back: then changes are sent again.
pub fn keep_receiver(feed: &Feed, name: &str, position: ChangePosition) -> Result<()> {
    let node = feed.config.cluster.node.as_str().to_owned();
    feed.submit(KeepReceiver { receiver: name.to_owned(), node, position: position.to_string() })
}

impl Change for KeepReceiver {
    type Outcome = ();

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let feed = txn.feed;
        let Self { receiver, node, position } = self;
        let position = position.parse::<ChangePosition>().map_err(|e| Error::refused(Code::InvalidParameter, e))?;
        let mut lines = lines(&feed.store, &receiver)?.unwrap_or_default();
        lines.retain(|(writer, _)| *writer != node);
        lines.drain(..lines.len().saturating_sub(MOST_LINES - 1));
        lines.push((node, position));
        let write = |(node, position): &(String, ChangePosition)| match node.as_str() {
            "" => format!("{position}\n"),
            node => format!("{node} {position}\n"),
        };
        let note: String = lines.iter().map(write).collect();
        feed.store.put_notes(&[(&note_of(&receiver), Some(note.as_bytes()))])
    }
}
