use std::sync::Arc;

use super::*;
use crate::Feed;
use crate::inbox::backlog::Backlog;
use crate::streaming::{FIRST_LEVEL, Streaming};
use crate::{follows, lists, reactions};
use config::Config;
use model::{Barrier, ContentId, PageRequest, UserPage};
use store::Store;

/// Later than the clock, which a feed begins with.
const NOW: Millis = 4_000_000_000_000;
const ITEM: &str = r#"{"publish_items":{"drafts":[{"author_id":"9","content_id":"7","published_at":5,"kind":"post","topics":[],"broadcast":true}]}}"#;
const LIST: &str = r#"{"put_list":{"user":"500","list":"l","settings":{"exclusive":false}}}"#;
const I_APPROVE: &str = r#"{"put_settings":{"user":"500","settings":{"approve_followers":true}}}"#;
const OTHER_APPROVES: &str = r#"{"put_settings":{"user":"OTHER","settings":{"approve_followers":true}}}"#;
const I_FOLLOW: &str = r#"{"relate":{"user":"500","follow":[["OTHER",null]],"unfollow":[]}}"#;
const OTHER_FOLLOWS: &str = r#"{"relate":{"user":"OTHER","follow":[["500",null]],"unfollow":[]}}"#;

fn user(raw: u64) -> UserId {
    UserId::new(raw).expect("in range")
}

/// A feed at a time of a log.
fn feed() -> Feed {
    let (store, backlog) = (Arc::new(Store::in_memory().expect("opens")), Arc::new(Backlog::new(1000)));
    let streaming = Arc::new(Streaming::new(1000));
    streaming.set_log_time(NOW);
    Feed::new(store, backlog, streaming, &Config::default()).expect("opens")
}

fn make(feed: &Feed, command: &str, other: u64) {
    let command = command.replace("OTHER", &other.to_string());
    let made = serde_json::from_str(&command)
        .map(|of| crate::writer::group::apply(feed, of, ChangeTime::Log { time: NOW, level: FIRST_LEVEL }));
    made.unwrap_or_else(|e| panic!("{command}: {e}")).unwrap_or_else(|e| panic!("{command}: {e}"));
}

/// A page of a list, of the entries above a place or of the newest ones.
fn page(feed: &Feed, list: EntryList, after: Option<UserCursor>) -> UserPage {
    let request = PageRequest { span: Span { before: None, after }, limit: 10 };
    let page = match list {
        EntryList::Of(user, side) => follows::members(feed.read(), user, side, &request),
        EntryList::Members(list) => lists::members(feed.read(), list, &request),
        EntryList::Reactors(item, kind) => reactions::reactors(feed.read(), item, kind, &request),
    };
    page.expect("reads")
}

fn ids(page: &UserPage) -> Vec<u64> {
    page.items.iter().map(|entry| entry.id.get()).collect()
}

#[test]
fn an_entry_of_the_same_millisecond_comes_above_those_that_are_there() {
    let of = |side| move |_: &Feed| EntryList::Of(user(500), side);
    let members = |feed: &Feed| EntryList::Members(lists::named(feed.read(), user(500), "l").expect("a list").id);
    let reactors = |feed: &Feed| {
        let like = reactions::kind(feed, "like").expect("a kind");
        EntryList::Reactors(ContentId::new(7).expect("in range"), like)
    };
    type List<'a> = &'a dyn Fn(&Feed) -> EntryList;
    let cases: [(List<'_>, &[&str], &str); 17] = [
        (&of(Side::Followers), &[], OTHER_FOLLOWS),
        (
            &of(Side::Followers),
            &[I_APPROVE, OTHER_FOLLOWS],
            r#"{"answer_request":{"user":"500","from":"OTHER","approved":true}}"#,
        ),
        (&of(Side::Followers), &[], r#"{"import_follows":{"user":"OTHER","follows":[["500",null]]}}"#),
        (&of(Side::Following), &[], I_FOLLOW),
        (&of(Side::Friends), &[I_FOLLOW], OTHER_FOLLOWS),
        (&of(Side::Friends), &[OTHER_FOLLOWS], I_FOLLOW),
        (&of(Side::FollowRequests), &[I_APPROVE], OTHER_FOLLOWS),
        (&of(Side::FollowRequests), &[], r#"{"import_line":{"line":{"request":{"user":"OTHER","target":"500"}}}}"#),
        (&of(Side::SentRequests), &[OTHER_APPROVES], I_FOLLOW),
        (
            &of(Side::Barred(Barrier::Mute)),
            &[],
            r#"{"set_barrier":{"user":"500","target":"OTHER","barrier":"mute","raised":true}}"#,
        ),
        (
            &of(Side::Barred(Barrier::Hide)),
            &[],
            r#"{"set_barrier":{"user":"500","target":"OTHER","barrier":"hide","raised":true}}"#,
        ),
        (
            &of(Side::Barred(Barrier::Block)),
            &[],
            r#"{"set_barrier":{"user":"500","target":"OTHER","barrier":"block","raised":true}}"#,
        ),
        (
            &of(Side::Barred(Barrier::Mute)),
            &[],
            r#"{"import_line":{"line":{"barrier":{"user":"500","target":"OTHER","barrier":"mute"}}}}"#,
        ),
        (&members, &[LIST], r#"{"change_members":{"user":"500","list":"l","add":["OTHER"],"remove":[]}}"#),
        (&members, &[LIST], r#"{"import_line":{"line":{"member":{"user":"500","list":"l","source":"OTHER"}}}}"#),
        (
            &reactors,
            &[ITEM],
            r#"{"react":{"item":"7","wishes":[{"user":"OTHER","kind":"like","active":true,"sight":"all"}]}}"#,
        ),
        (
            &reactors,
            &[ITEM],
            r#"{"react":{"item":"7","wishes":[{"user":"OTHER","kind":"like","active":true,"sight":"all"}],"imported":true}}"#,
        ),
    ];
    for (list, prepare, enter) in cases {
        let (feed, others) = (feed(), [30, 20, 10]);
        others.iter().for_each(|other| prepare.iter().for_each(|command| make(&feed, command, *other)));
        let mut after = Some(UserCursor::OLDEST);
        for other in others {
            make(&feed, enter, other);
            let page = page(&feed, list(&feed), after);
            assert_eq!(ids(&page), [other], "{enter}");
            after = page.prev;
        }
    }
}

#[test]
fn times_of_the_host_hide_no_entry_with_the_servers_time() {
    for ahead in [0, 3000, 60_000] {
        let (feed, followers) = (feed(), EntryList::Of(user(500), Side::Followers));
        make(&feed, OTHER_FOLLOWS, 5);
        make(&feed, &OTHER_FOLLOWS.replace("null", &(NOW + ahead).to_string()), 40);
        let newest = page(&feed, followers, None);
        assert_eq!(ids(&newest), [40, 5], "{ahead}");
        let polled = page(&feed, followers, Some(UserCursor::OLDEST));
        assert_eq!(polled.prev, newest.prev, "{ahead}");
        assert_eq!(polled.items.len(), if ahead > NEAR { 1 } else { 2 }, "{ahead}");
        make(&feed, OTHER_FOLLOWS, 3);
        assert_eq!(ids(&page(&feed, followers, newest.prev)), [3], "{ahead}");
    }
}
