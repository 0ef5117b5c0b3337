//! Moderation of one path: an item leaves a group, and stays elsewhere.

use super::command::{Change, TakeOff};
use super::txn::Txn;
use crate::streaming::Kind;
use crate::{Feed, Read};
use model::error::{Error, Result};
use model::{ContentId, HostId, UserId};

impl Feed {
    /// Takes an item off one of its paths: it is on the own page of the source no more, and comes to no reader through it. Its
    /// other paths stay. There is no way back. `content_not_found` if it does not exist, or has no such path.
    pub fn take_off(&self, item: HostId, source: HostId) -> Result<()> {
        self.submit(TakeOff { item, source })
    }
}

impl Change for TakeOff {
    type Outcome = ();

    fn warm(&self, read: Read<'_>) -> Result<()> {
        read.warm_item(&self.item, [])
    }

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let (feed, at) = (txn.feed, txn.at);
        let id: ContentId = feed.read().find_content(&self.item)?;
        let source: UserId = feed.read().find(&self.source)?;
        let content = feed.read().live_contents(&[id])?.pop().ok_or_else(Error::content_not_found)?;
        txn.concerns_items([&**content]);
        let change = feed.contents.change(id);
        let event = feed.streaming.sequencer().take(Kind::TakenOff).of_path(&content, source);
        if !feed.store.take_off(id, source, at.now(), &event)? {
            return Err(Error::content_not_found());
        }
        // Before the event: streams look at the paths that are left.
        txn.keep(change);
        txn.log(event);
        Ok(())
    }
}
