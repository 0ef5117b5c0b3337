//! The life of a community while it is served: a few users post, comment, like and follow.

use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::people::{CLOCK, MUTED, READER, writes_chinese};
use super::{Community, texts};
use crate::clock::now;
use crate::error::{Error, Result};
use crate::feed::Feed;
use crate::model::{Barrier, CommentDraft, ContentId, Draft, HostId, Reaction, ReactionKind, UserId};
use crate::store::Tier;

/// Something happens this often; every second time, the clock posts.
const BEAT: Duration = Duration::from_secs(2);
/// Most items that somebody may still answer.
const REMEMBERED: usize = 30;

/// Mutes a followee of the reader.
pub(super) fn prepare(feed: &Feed, community: &Community) -> Result<()> {
    if (community.users as usize) <= MUTED {
        return Ok(());
    }
    let [reader, muted] = [READER, MUTED].map(|user| community.host_user(user).and_then(|id| feed.give::<UserId>(&id)));
    feed.set_barrier(reader?, muted?, Barrier::Mute, true).map(drop)
}

/// Starts the life; it ends with the server.
pub(super) fn start(feed: &Arc<Feed>, community: Community) -> Result<()> {
    let feed = Arc::downgrade(feed);
    let life = Life { feed, community, random: Rng::new(), recent: Vec::new() };
    let thread = thread::Builder::new().name("demo".to_owned()).spawn(move || life.go_on());
    thread.map(drop).map_err(|e| Error::Setup(format!("cannot start a thread: {e}")))
}

struct Life {
    /// Weak, so that the server can stop.
    feed: Weak<Feed>,
    community: Community,
    random: Rng,
    /// The newest posts.
    recent: Vec<(ContentId, HostId)>,
}

impl Life {
    fn go_on(mut self) {
        for beat in 0_u64.. {
            thread::sleep(BEAT);
            let Some(feed) = self.feed.upgrade() else { return };
            let done = if beat.is_multiple_of(2) { self.tell_the_tide(&feed) } else { self.let_somebody_act(&feed) };
            if let Err(error) = done {
                tracing::warn!(%error, "nothing happened in the demo this time; the next attempt follows");
            }
        }
    }

    fn tell_the_tide(&mut self, feed: &Feed) -> Result<()> {
        let clock = CLOCK.min(self.community.users as usize - 1);
        self.post(feed, clock, texts::tide(now()), &["tide"])
    }

    fn let_somebody_act(&mut self, feed: &Feed) -> Result<()> {
        let user = self.random.usize(..self.community.users as usize);
        let id = self.community.host_user(user)?;
        let recent = self.random.choice(&self.recent).cloned();
        match (self.random.u8(..10), recent) {
            (0..3, Some((post, _))) => {
                let wish = Reaction { user: feed.give(&id)?, kind: ReactionKind::Like, since: Some(now()) };
                feed.react(post, wish).map(drop)
            }
            (3..5, Some((_, post))) => {
                let text = texts::comment(&mut self.random);
                let draft: CommentDraft = request(json!({"author_id": id, "text": text}))?;
                feed.comment(&post, draft).map(drop)
            }
            (5, _) if user != READER => {
                let ids = [&id, &self.community.host_user(READER)?].map(|id| feed.give::<UserId>(id));
                let [user, reader] = ids;
                feed.relate(user?, &[(reader?, None)], &[]).map(drop)
            }
            _ if user != READER => {
                let (text, topics) = texts::post(writes_chinese(self.community.seed, user), &mut self.random);
                self.post(feed, user, text.to_owned(), topics)
            }
            _ => Ok(()),
        }
    }

    fn post(&mut self, feed: &Feed, author: usize, text: String, topics: &[&str]) -> Result<()> {
        let author_id = self.community.host_user(author)?;
        let draft: Draft = request(json!({"author_id": author_id, "text": text, "topics": topics}))?;
        for (content, _) in feed.publish(vec![draft])? {
            let id = content.id;
            let (_, ids) = feed.named(content, Tier::Disk)?;
            self.recent.push((id, ids.of(id)));
        }
        let old = self.recent.len().saturating_sub(REMEMBERED);
        self.recent.drain(..old);
        Ok(())
    }
}

/// A request as the API takes it.
fn request<T: DeserializeOwned>(body: Value) -> Result<T> {
    serde_json::from_value(body).map_err(|e| Error::Setup(e.to_string()))
}
