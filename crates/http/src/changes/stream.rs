//! The feed of changes as a stream of server-sent events.

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::change::Change;
use crate::prelude::*;
use crate::streams::events;
use crate::streams::response::{self, Piece, Source};
use feed::events::{ChangePosition, ChangesAfter};
use model::EffectKind;

/// Changes that are sent at once, and the memory that is reserved for them, bytes.
const PIECE: usize = 64;
const PIECE_BYTES: usize = 32 << 10;

/// Answers with a stream of the changes of these kinds behind a place.
pub(super) async fn follow(call: Call, after: ChangesAfter, kinds: Vec<EffectKind>) -> Answer {
    let Some(place) = response::place(&call)? else { return Ok(response::head(events::MEDIA_TYPE)) };
    // The end as it was before the first read: later changes wake the reader.
    let news = call.api.end.subscribe();
    let kinds: Arc<[EffectKind]> = kinds.into();
    let read_kinds = Arc::clone(&kinds);
    let (first, told) = call.run(Wants::Read, move |feed| read(feed, after, &read_kinds)).await?;
    // A client without changes yet learns where to resume, too.
    let first = if first.bytes.is_empty() { events::place(told).into() } else { first };
    let (api, holder) = (Arc::clone(&call.api), call.caller.holder);
    response::answer(
        &call,
        place,
        (events::MEDIA_TYPE, None),
        (Some(first), Follower { api, holder, kinds, news, told }),
    )
}

/// The next changes behind a place, and the position behind them.
fn read(feed: &Feed, after: ChangesAfter, kinds: &[EffectKind]) -> Result<(Piece, ChangePosition)> {
    let memory = feed.streaming().streams().memory();
    let room = memory.reserve(PIECE_BYTES);
    let read = feed.read();
    let page = feed::events::changes(read, after, if room.is_some() { PIECE } else { 1 }, kinds)?;
    let (page, ids) = read.named(page)?;
    let mut text = String::new();
    for changed in &page.changes {
        let change = Change::new(&page, changed, &ids);
        text.push_str(&events::message("change", Some(change.position.clone()), reply::encode(&change)?)?);
    }
    let memory = Some(memory.hold(text.len()));
    Ok((Piece { bytes: text.into(), memory }, page.end))
}

/// A client of the feed of changes.
struct Follower {
    api: Arc<Api>,
    holder: Holder,
    kinds: Arc<[EffectKind]>,
    news: watch::Receiver<u64>,
    /// The position that the client knows.
    told: ChangePosition,
}

impl Source for Follower {
    async fn next(&mut self) -> Option<Piece> {
        let mut at = self.told;
        let silent_until = Instant::now() + self.api.config().presence.heartbeat.get();
        while !self.api.is_stopping() {
            self.news.borrow_and_update();
            // The client reconnects; a problem that stays is its answer then.
            let kinds = Arc::clone(&self.kinds);
            let read_on = move |feed: &Feed| read(feed, ChangesAfter::Position(at), &kinds);
            let (piece, end) = response::catch_up(&self.api, self.holder, read_on).await.ok()?;
            let is_end = end == at;
            at = end;
            if !piece.bytes.is_empty() {
                self.told = at;
                return Some(piece);
            }
            if !is_end {
                continue;
            }
            match timeout_at(silent_until, self.news.changed()).await {
                Ok(changed) => changed.ok()?,
                Err(_) => {
                    // Changes of other kinds were passed.
                    let text = if at == self.told { events::COMMENT.to_owned() } else { events::place(at) };
                    self.told = at;
                    return Some(text.into());
                }
            }
        }
        None
    }
}
