use std::sync::mpsc::{Receiver, channel};

use super::*;
use crate::inbox::backlog::Backlog;
use crate::streaming::Streaming;
use crate::writer::command::{Relate, SetBarrier};
use crate::{Feed, erasure, follows, lists};
use config::{AcceptedIds, Config};
use model::{Barrier, HostId, MOST_KINDS, Relation, RuleDraft};
use store::Store;

fn feed(accept: AcceptedIds, jobs: usize) -> Feed {
    let mut config = Config::default();
    config.ids.accept = accept;
    let (store, backlog) = (Arc::new(Store::in_memory().expect("opens")), Arc::new(Backlog::new(jobs)));
    Feed::new(store, backlog, Arc::new(Streaming::new(1000)), &config).expect("opens")
}

fn draft(fields: &str) -> Draft {
    serde_json::from_str(&format!("{{{fields}}}")).expect("a draft")
}

/// Publishes as one group; returns the results in their order.
fn together(feed: &Feed, drafts: &[&str]) -> Vec<Result<PublishedItem>> {
    let still = feed.streaming.hold_changes();
    let ask = |fields: &&str| -> Receiver<_> {
        let (tell, told) = channel();
        let publish = PublishItems::one(draft(fields));
        items::ask(feed, publish, Box::new(move |result| tell.send(result).expect("heard"))).expect("has room");
        told
    };
    let told: Vec<_> = drafts.iter().map(ask).collect();
    drop(still);
    let shown = |told: Receiver<Result<(Content, bool)>>| items::published(feed.read(), &told.recv().expect("told")?);
    told.into_iter().map(shown).collect()
}

/// All of a result that does not depend on the moment.
fn summary(is_new: bool, content: &Content) -> String {
    let id = if content.text.as_deref() == Some("made") { 0 } else { content.id.get() };
    format!("{is_new} {id} {:?} {:?} {:?} {:?}", content.author, content.text, content.to, content.kind)
}

fn refusal(error: &Error) -> String {
    // The clock is in the detail of a time.
    match error.code() {
        Some(Code::TimeAhead) => "time_ahead".to_owned(),
        _ => error.to_string(),
    }
}

#[test]
fn each_publish_of_a_group_has_the_result_that_it_has_alone() {
    let ahead = u64::MAX / 4;
    let drafts = [
        r#""author_id":1,"content_id":10,"text":"first""#.to_owned(),
        r#""author_id":1,"text":"made""#.to_owned(),
        r#""author_id":1,"content_id":10,"text":"first""#.to_owned(),
        r#""author_id":1,"content_id":10,"text":"other""#.to_owned(),
        format!(r#""author_id":1,"content_id":11,"published_at":{ahead}"#),
        r#""author_id":1,"content_id":12,"to":[7,7]"#.to_owned(),
        r#""author_id":1,"content_id":12,"to":[7,8],"published_at":5"#.to_owned(),
        r#""author_id":1,"mentions":[4,4]"#.to_owned(),
        r#""author_id":66,"content_id":13,"to":[7,7]"#.to_owned(),
        r#""author_id":2,"content_id":14,"mentions":[66]"#.to_owned(),
        r#""author_id":"ana","content_id":"post","text":"named""#.to_owned(),
        r#""author_id":2,"content_id":15,"kind":"new""#.to_owned(),
        r#""author_id":2,"content_id":16,"kind":"newer""#.to_owned(),
        r#""author_id":1,"content_id":10,"text":"first","published_at":7"#.to_owned(),
        r#""author_id":1,"content_id":17,"published_at":7"#.to_owned(),
        r#""author_id":2,"content_id":12,"published_at":5"#.to_owned(),
        r#""author_id":"ana","to":[7,7]"#.to_owned(),
        r#""author_id":2,"text":"made""#.to_owned(),
    ];
    let drafts: Vec<_> = drafts.iter().map(String::as_str).collect();
    for accept in [AcceptedIds::Any, AcceptedIds::Numbers] {
        let made = || {
            let feed = feed(accept, 1000);
            erasure::erase(&feed, HostId::Number(66)).expect("begins");
            // All kinds but those that have a number from the start.
            for kind in 0..MOST_KINDS {
                let _ = feed.submit(PublishItems::all(vec![draft(&format!(r#""author_id":5,"kind":"k{kind}""#))]));
            }
            feed
        };
        let (alone, grouped) = (made(), made());
        let expected: Vec<_> = drafts
            .iter()
            .map(|fields| match alone.submit(PublishItems::all(vec![draft(fields)])).and_then(only) {
                Ok((content, is_new)) => summary(is_new, &content),
                Err(error) => refusal(&error),
            })
            .collect();
        let found: Vec<_> = together(&grouped, &drafts)
            .iter()
            .map(|published| match published {
                Ok(item) => summary(item.is_new, &item.shown.content),
                Err(error) => refusal(error),
            })
            .collect();
        assert_eq!(found, expected);
        assert_eq!(
            expected.iter().filter(|text| text.starts_with("true")).count(),
            5 + usize::from(accept == AcceptedIds::Any)
        );
        assert_eq!(grouped.published(), alone.published());
        assert_eq!(grouped.backlog.len(), alone.backlog.len());
    }
}

#[test]
fn a_group_has_room_as_far_as_there_is_any() {
    let feed = feed(AcceptedIds::Any, 3);
    let drafts = [
        r#""author_id":1"#,
        r#""author_id":2,"to":[3,4]"#,
        r#""author_id":1,"broadcast":false"#,
        r#""author_id":2,"to":[3]"#,
        r#""author_id":4"#,
    ];
    let results = together(&feed, &drafts);
    let taken: Vec<_> = results.iter().map(Result::is_ok).collect();
    assert_eq!(taken, [true, false, true, true, false]);
    assert!(results[4].as_ref().is_err_and(|error| error.code() == Some(Code::Overloaded)));
    assert_eq!((feed.backlog.len(), feed.backlog.usage().refused), (3, 2));
}

#[test]
fn a_refused_batch_gives_no_number_to_a_kind() {
    let feed = feed(AcceptedIds::Any, 1000);
    let of = |kind: &str| draft(&format!(r#""author_id":5,"kind":"{kind}""#));
    let known = |feed: &Feed| feed.store.kind_names().expect("kinds").len();
    for kind in 0..MOST_KINDS - 1 - known(&feed) {
        feed.submit(PublishItems::all(vec![of(&format!("k{kind}"))])).expect("publishes");
    }
    let refused = feed.submit(PublishItems::all(vec![of("one"), of("two")])).expect_err("only one number is left");
    assert_eq!((refused.code(), known(&feed)), (Some(Code::TooManyKinds), MOST_KINDS - 1));
    let results = together(&feed, &[r#""author_id":5,"kind":"three""#, r#""author_id":5,"kind":"four""#]);
    assert!(results[0].is_ok() && results[1].as_ref().is_err_and(|error| error.code() == Some(Code::TooManyKinds)));
}

#[test]
fn refused_changes_leave_no_kind() {
    let feed = feed(AcceptedIds::Any, 10_000);
    let known = || feed.store.kind_names().expect("reads").len();
    let (before, of) =
        (known(), |id: u64, kind: &str| draft(&format!(r#""author_id":5,"content_id":{id},"kind":"{kind}""#)));
    feed.submit(PublishItems::all(vec![of(1, "post")])).expect("publishes");
    feed.submit(SetBarrier {
        user: HostId::Number(7),
        target: HostId::Number(5),
        barrier: Barrier::Block,
        raised: true,
    })
    .expect("blocks");
    let refused = [
        feed.submit(PublishItems::all(vec![of(1, "taken")])).map(drop),
        feed.submit(PublishItems::all(vec![of(2, "also"), of(1, "taken")])).map(drop),
        items::publish_one(&feed, of(1, "taken")).map(drop),
        follow(&feed, 5, 7).map(drop),
        lists::put_member(&feed, HostId::Number(5), "none".to_owned(), HostId::Number(6), rule("seen")).map(drop),
    ];
    let codes = refused.map(|refused| refused.expect_err("refused").code());
    let exists = Some(Code::ContentExists);
    assert_eq!(codes, [exists, exists, exists, Some(Code::Blocked), Some(Code::ListNotFound)]);
    assert!(together(&feed, &[r#""author_id":5,"content_id":1,"kind":"taken""#])[0].is_err());
    assert_eq!(known(), before);
    let many = (0..feed.config.graph.follow_limit as u64).map(|n| (HostId::Number(100 + n), None)).collect();
    feed.submit(Relate::of(HostId::Number(5), many, vec![])).expect("follows");
    assert_eq!(follow(&feed, 5, 6).expect_err("one too many").code(), Some(Code::FollowLimit));
    assert_eq!(known(), before);
    follow(&feed, 8, 6).expect("follows");
    assert_eq!(known(), before + 1);
}

/// Follows with a rule of a kind that nothing has named before.
fn follow(feed: &Feed, user: u64, target: u64) -> Result<Relation> {
    follows::follow(feed, HostId::Number(user), HostId::Number(target), None, rule("seen"), false)
}

fn rule(kind: &str) -> RuleDraft {
    RuleDraft::named(true, vec![kind.to_owned()]).expect("a rule")
}

/// The server makes an id that the host has taken: only that item is published anew.
#[test]
fn an_id_made_here_that_is_taken_holds_no_other_up() {
    let feed = feed(AcceptedIds::Any, 10_000);
    let made = together(&feed, &[r#""author_id":1"#]).pop().expect("one").expect("publishes").shown.content.id.get();
    let taken: Vec<_> =
        (1..3000).map(|n| draft(&format!(r#""author_id":1,"published_at":1,"content_id":{}"#, made + n))).collect();
    feed.import(taken).expect("imports");
    let results = together(&feed, &[r#""author_id":1,"content_id":77,"text":"named""#, r#""author_id":2"#]);
    assert!(results.iter().all(|result| result.as_ref().is_ok_and(|item| item.is_new)), "{results:?}");
    assert_eq!(feed.published(), 3);
}
