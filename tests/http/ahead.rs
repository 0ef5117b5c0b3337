//! Items whose time has not come.

use serde_json::{Value, json};

use crate::server::{Reply, Server};

const UNREAD: &str = "/v1/users/1/timeline/unread";

fn publish(server: &Server, item: &Value) -> Reply {
    server.call("POST", "/v1/content", item.to_string())
}

fn unread(server: &Server) -> u64 {
    server.get(UNREAD)["count"].as_u64().unwrap()
}

#[test]
fn nothing_comes_below_a_reader_who_was_shown_an_item_ahead() {
    let server = Server::start();
    server.follow(1, 2, 10);
    let given = |id: u64| {
        let body = json!({"author_id": 2, "content_id": id});
        let item = server.call("POST", "/v1/content", body.to_string()).expect(201);
        (item["published_at"].as_u64().unwrap(), format!("{}-{id}", item["published_at"]))
    };
    let read = |query: &str| server.get(&format!("/v1/users/1/timeline?view=ids&{query}"));
    let ids = |page: &Value| -> Vec<u64> {
        let items = page["items"].as_array().unwrap().iter();
        items.map(|item| item["content_id"].as_str().unwrap().parse().unwrap()).collect()
    };
    let ahead = json!({"author_id": 2, "content_id": 9, "published_at": given(1).0 + 300_000});
    publish(&server, &ahead).expect(201);
    let first = given(2).1;

    // It is shown at once, but `prev` and pages upwards stay below it.
    let page = read("limit=20");
    assert_eq!((ids(&page), page["prev"].as_str(), unread(&server)), (vec![9, 2, 1], Some(&*first), 3));
    let reply = server.call("GET", "/v1/users/1/timeline", "");
    assert!(reply.header("link").unwrap().contains(&format!("after={first}>; rel=\"prev\"")), "{reply:?}");
    let up = read(&format!("after={first}"));
    assert_eq!((ids(&up), up["prev"].as_str()), (vec![], Some(&*first)));
    let alone = read("limit=1");
    let between = alone["prev"].as_str().unwrap();
    assert_eq!(ids(&alone), [9]);
    assert_eq!(ids(&read(&format!("before={}", alone["next"].as_str().unwrap()))), [2, 1]);
    let second = given(3).1;
    let up = read(&format!("after={first}"));
    assert_eq!((ids(&up), up["prev"].as_str()), (vec![3], Some(&*second)));
    let above = ids(&read(&format!("after={between}")));
    assert!(above.contains(&3) && !above.contains(&9), "{above:?} above {between}");
    assert_eq!(ids(&read(&format!("after={first}&before=9223372036854775807-1"))), [9, 3]);
    // Nothing else on the page: all newer items are above `prev`.
    let server = server.restart("KILL", &[]);
    let page = server.get("/v1/users/1/timeline?view=ids");
    assert_eq!((ids(&page), page["prev"].as_str()), (vec![9, 3, 2, 1], Some(&*second)));
}

#[test]
fn the_bound_is_a_setting() {
    for (setting, ahead, status) in
        [("1h", 3_500_000, 201), ("1h", 3_700_000, 400), ("1s", 60_000, 400), ("10m", 540_000, 201)]
    {
        let server = Server::with(&[("TIDELINE__CONTENT__MAX_AHEAD", setting)]);
        let now =
            server.call("POST", "/v1/content", r#"{"author_id":1}"#).expect(201)["published_at"].as_u64().unwrap();
        let item = json!({"author_id": 1, "published_at": now + ahead});
        assert_eq!(publish(&server, &item).status, status, "{setting} {ahead}");
    }
}
