//! Lists that are polled for newer entries while others make them.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::server::Server;

const READER: u64 = 1;
const AUTHORS: [u64; 4] = [2, 3, 4, 5];
/// The author of comments, made over [`CONNECTIONS`] connections at once.
const WRITER: u64 = 6;
const CONNECTIONS: usize = 8;
/// The item of the comments.
const SUBJECT: u64 = 7;
/// Publishes of each author.
const PUBLISHES: usize = 150;
/// How far times of the application are from the clock, milliseconds; `None` leaves the time to the server.
const TIMES: [Option<i64>; 8] = [None, Some(0), None, Some(-5), None, Some(5), Some(-20), Some(60_000)];

/// A running publisher; ended when dropped.
struct Publishing<'a>(&'a AtomicUsize);

impl Drop for Publishing<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Polls a list of items or users, with each `prev` as the next `after`, until everything is written. Returns all entries
/// found.
fn poll(server: &Server, list: &str, publishing: &AtomicUsize) -> Vec<String> {
    let is_of_notices = list.ends_with("/notices");
    let (mut after, mut found) = (if is_of_notices { "1-1-0-1-1-" } else { "0-1" }.to_owned(), Vec::new());
    loop {
        let over = publishing.load(Ordering::SeqCst) == 0;
        let page = server.get(&format!("{list}?limit=100&after={after}"));
        let items = page["items"].as_array().expect("items");
        let id = |item: &Value| {
            let user = if is_of_notices { &item["actor"]["user_id"] } else { &item["user_id"] };
            item["content_id"].as_str().filter(|_| !is_of_notices).or(user.as_str()).expect("an id").to_owned()
        };
        found.extend(items.iter().map(id));
        if let Value::String(prev) = &page["prev"] {
            after.clone_from(prev);
        }
        if over && items.is_empty() {
            return found;
        }
    }
}

/// Publishes items of one author without ids: alone, some of them with times of the application, and in batches. Returns
/// the ids of those with the server's time.
fn publish(server: &Server, author: u64) -> Vec<String> {
    let mut ids = Vec::new();
    for (n, time) in TIMES.iter().cycle().take(4 * PUBLISHES).enumerate() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        let given = time.map(|by| format!(r#","published_at":{}"#, i64::try_from(now).unwrap() + by));
        let item = format!(r#"{{"author_id":{author},"topics":["all"]{}}}"#, given.unwrap_or_default());
        let made = match n % 40 {
            0 => {
                let items = vec![item; 20].join(",");
                let batch = server.call("POST", "/v1/content/batch", format!(r#"{{"items":[{items}]}}"#)).expect(201);
                batch["items"].as_array().expect("items").clone()
            }
            _ => vec![server.call("POST", "/v1/content", item).expect(201)],
        };
        let of_server = made.iter().filter(|_| time.is_none());
        ids.extend(of_server.map(|item| item["content_id"].as_str().expect("an id").to_owned()));
    }
    ids
}

/// Makes comments, which are not broadcast. Returns their ids.
fn comment(server: &Server) -> Vec<String> {
    let made = (0..PUBLISHES).map(|_| {
        let body = format!(r#"{{"author_id":{WRITER},"text":"hm","topics":["quiet"]}}"#);
        let comment = server.call("POST", &format!("/v1/content/{SUBJECT}/comments"), body).expect(201);
        comment["content_id"].as_str().expect("an id").to_owned()
    });
    made.collect()
}

#[test]
fn polls_for_newer_items_get_each_item_with_the_servers_time_once() {
    let server = Server::start();
    for author in AUTHORS {
        server.follow(READER, author, 1);
    }
    let list = format!("/v1/users/{READER}/timeline");
    let lists = [list.clone(), list.clone(), list, "/v1/topics/all/content".to_owned()];
    let writers = AUTHORS.map(|author| move |server: &Server| publish(server, author));
    polled_while(&server, &lists, &writers.each_ref().map(|write| write as &Writing));
    // Some of the changes were written together.
    assert!(server.figure("tideline_change_groups_total") < server.figure("tideline_changes_total"));
}

#[test]
fn polls_for_newer_comments_get_each_comment_once() {
    let server = Server::start();
    server.publish(SUBJECT, 2, 1000);
    let lists = [
        format!("/v1/content/{SUBJECT}/comments"),
        format!("/v1/users/{WRITER}/comments"),
        "/v1/topics/quiet/content".to_owned(),
    ];
    polled_while(&server, &lists, &[&comment as &Writing; CONNECTIONS]);
}

/// A change of a user: method, path and body, with the user's id for `OTHER`.
type Change = (&'static str, &'static str, &'static str);

/// Each list of users and the notices about them, with the change by which a user enters it, and one that each of them needs before.
const USER_LISTS: [(&str, Option<Change>, Change); 14] = [
    ("/v1/users/101/followers", None, ("PUT", "/v1/users/OTHER/following/101", "")),
    ("/v1/users/102/following", None, ("PUT", "/v1/users/102/following/OTHER", "")),
    (
        "/v1/users/103/friends",
        Some(("PUT", "/v1/users/103/following/OTHER", r#"{"since":5}"#)),
        ("PUT", "/v1/users/OTHER/following/103", ""),
    ),
    ("/v1/users/104/follow-requests", None, ("PUT", "/v1/users/OTHER/following/104", "")),
    ("/v1/users/104/followers", None, ("PUT", "/v1/users/104/follow-requests/OTHER", "")),
    (
        "/v1/users/105/sent-requests",
        Some(("PUT", "/v1/users/OTHER/settings", r#"{"approve_followers":true}"#)),
        ("PUT", "/v1/users/105/following/OTHER", ""),
    ),
    ("/v1/users/106/mutes", None, ("PUT", "/v1/users/106/mutes/OTHER", "")),
    ("/v1/users/107/hidden-from", None, ("PUT", "/v1/users/107/hidden-from/OTHER", "")),
    ("/v1/users/108/blocks", None, ("PUT", "/v1/users/108/blocks/OTHER", "")),
    ("/v1/users/109/lists/near/members", None, ("PUT", "/v1/users/109/lists/near/members/OTHER", "")),
    ("/v1/content/7/reactions/like", None, ("PUT", "/v1/content/7/reactions/like/OTHER", "")),
    ("/v1/users/110/notices", None, ("PUT", "/v1/users/OTHER/following/110", "")),
    ("/v1/users/111/notices", None, ("POST", "/v1/content", r#"{"author_id":OTHER,"mentions":[111]}"#)),
    ("/v1/users/112/notices", None, ("PUT", "/v1/content/8/reactions/like/OTHER", "")),
];
/// Users who enter a list over each connection.
const ENTRIES: u64 = 25;

fn make(server: &Server, (method, path, body): Change, other: u64) {
    let [path, body] = [path, body].map(|text| text.replace("OTHER", &other.to_string()));
    let reply = server.call(method, &path, body);
    assert!([200, 201].contains(&reply.status), "{path}: {} {}", reply.status, reply.text());
}

#[test]
fn polls_for_newer_users_get_each_user_once_in_every_list() {
    let server = Server::start();
    server.publish(SUBJECT, 2, 1000);
    server.publish(8, 112, 1000);
    server.call("PUT", "/v1/users/104/settings", r#"{"approve_followers":true}"#).expect(200);
    server.call("PUT", "/v1/users/109/lists/near", "{}");
    for (list, before, enter) in USER_LISTS {
        // Falling ids, as of users who are older than those before them.
        let others = |connection: u64| (0..ENTRIES).map(move |n| 2000 - n * CONNECTIONS as u64 - connection);
        if let Some(before) = before {
            (0..CONNECTIONS as u64).flat_map(others).for_each(|other| make(&server, before, other));
        }
        let writers = std::array::from_fn::<_, CONNECTIONS, _>(|connection| {
            move |server: &Server| {
                others(connection as u64)
                    .map(|other| {
                        make(server, enter, other);
                        other.to_string()
                    })
                    .collect()
            }
        });
        polled_while(&server, &[list.to_owned()], &writers.each_ref().map(|write| write as &Writing));
    }
}

type Writing<'a> = dyn Fn(&Server) -> Vec<String> + Sync + 'a;

/// Polls every list while others write. Each list must show every item that they return, and no item twice.
fn polled_while(server: &Server, lists: &[String], writers: &[&Writing]) {
    let publishing = AtomicUsize::new(writers.len());
    let published = Mutex::new(Vec::new());
    let polled = std::thread::scope(|scope| {
        for write in writers {
            let (publishing, published) = (&publishing, &published);
            scope.spawn(move || {
                let _publishing = Publishing(publishing);
                let ids = write(server);
                published.lock().unwrap().extend(ids);
            });
        }
        let publishing = &publishing;
        let pollers: Vec<_> = lists.iter().map(|list| scope.spawn(move || poll(server, list, publishing))).collect();
        pollers.into_iter().map(|poller| poller.join().expect("no panic")).collect::<Vec<_>>()
    });
    let published: BTreeSet<_> = published.into_inner().unwrap().into_iter().collect();
    for (list, found) in lists.iter().zip(polled) {
        let once: BTreeSet<_> = found.iter().cloned().collect();
        let missed: Vec<_> = published.difference(&once).collect();
        assert!(missed.is_empty(), "{list}: {} of {} are missed: {missed:?}", missed.len(), published.len());
        assert_eq!(once.len(), found.len(), "{list}: some come twice");
    }
}
