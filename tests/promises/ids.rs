//! Ids that the server makes, if others have taken them.

use std::sync::Arc;

use config::Config;
use feed::backlog::Backlog;
use feed::items::tables::{Batch, Push};
use feed::store::Store;
use feed::streaming::Streaming;
use feed::{Feed, ImportItems, PublishItems};
use model::clock::now;
use model::{Content, ContentId, Cursor, Event, EventKind, Publish, UserId};

use super::shape::ANY;

#[test]
fn made_ids_that_are_taken_are_left_behind() {
    let store = Arc::new(Store::in_memory().expect("opens"));
    // Far ahead of the clock, so that the server's next times and ids follow this time.
    let at = now() + 86_400_000;
    let event = Event::new(1, EventKind::Publish, true, at, at);
    let content = Content::plain(ContentId::MIN, UserId::MIN, 1);
    let first = Publish { content, time_given: true, audience_given: true, id_made: false, event: Some(event) };
    feed::items::tables::publish(&store, &[first], Batch::AllOrNone, Push::Queued).expect("publishes");
    let mut config = Config::default();
    config.content.max_ahead = ANY;
    let (backlog, streaming) = (Arc::new(Backlog::new(100_000)), Arc::new(Streaming::new(1)));
    let feed = Feed::new(store, backlog, streaming, &config).expect("opens");
    let new_item = |id: String| serde_json::from_str(&format!(r#"{{"author_id":1{id}}}"#)).expect("a new_item");
    let next = ((at + 1) << 20) + 1;
    let taken = (next..next + 20_000).map(|id| new_item(format!(r#","published_at":1,"content_id":{id}"#)));
    feed.import(taken.map(|new_item| ImportItems::one(new_item, None).into()).collect()).expect("imports");
    let mut last = Cursor::OLDEST;
    for _ in 0..3 {
        let published =
            feed.submit(PublishItems::all((0..100).map(|_| new_item(String::new())).collect())).expect("finds ids");
        for (content, is_new) in published {
            assert!(is_new && content.cursor() > last && content.published_at > at);
            last = content.cursor();
        }
    }
}
