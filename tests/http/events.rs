//! The log of events: streams resume across restarts, and after more events than memory keeps.

use super::listener::Listener;
use crate::server::{Server, run};

fn call(server: &Server, method: &str, path: &str, body: &str) {
    let reply = server.call(method, path, body);
    assert!(reply.status < 300, "{method} {path}: {}", reply.text());
}

/// Publishes items of an author without followers, enough to fill the log in memory.
fn fill_memory(server: &Server) {
    for batch in 0..66 {
        let first = 1_000_000 + 1000 * batch;
        let items: Vec<_> =
            (first..first + 1000).map(|id| format!(r#"{{"content_id":{id},"author_id":99}}"#)).collect();
        call(server, "POST", "/v1/content/batch", &format!(r#"{{"items":[{}]}}"#, items.join(",")));
    }
}

/// Makes user 1 follow user 2, and publishes items 11 to 15. Returns the place after them.
fn begin(server: &Server) -> String {
    server.follow(1, 2, 10);
    let mut listener = Listener::open(server, 1, None);
    for id in 11..=15 {
        call(server, "POST", "/v1/content", &format!(r#"{{"content_id":{id},"author_id":2}}"#));
        assert_eq!(listener.content(), id);
    }
    listener.last_id.expect("a place")
}

/// Makes a change of each kind.
fn change(server: &Server) {
    call(server, "POST", "/v1/content", r#"{"content_id":16,"author_id":2}"#);
    call(server, "PATCH", "/v1/content/11", r#"{"text":"new"}"#);
    call(server, "DELETE", "/v1/content/12", "");
    server.publish(17, 2, 5);
    call(server, "POST", "/v1/content", r#"{"content_id":18,"author_id":2,"broadcast":false}"#);
    call(server, "DELETE", "/v1/content/13", "");
    call(server, "POST", "/v1/content/13/restore", "");
    call(server, "PATCH", "/v1/content/18", r#"{"text":"quiet"}"#);
    call(server, "DELETE", "/v1/content/14", "");
}

/// Resumes before these changes, and must get all events. Returns the last place.
fn hears_all(server: &Server, place: &str) -> String {
    let mut listener = Listener::open(server, 1, Some(place));
    assert_eq!(listener.content(), 16);
    for (event, id) in [("edit", "11"), ("delete", "12"), ("content", "17"), ("content", "13"), ("delete", "14")] {
        let sent = listener.event();
        assert_eq!((sent.event.as_str(), &sent.data["content_id"]), (event, &id.into()));
    }
    listener.is_quiet();
    listener.last_id.expect("a place")
}

#[test]
fn every_change_is_told_that_memory_has_forgotten() {
    let server = Server::start();
    let place = begin(&server);
    change(&server);
    fill_memory(&server);
    let behind = hears_all(&server, &place);
    let server = server.restart("KILL", &[]);
    assert_eq!(hears_all(&server, &place), behind);
    call(&server, "PATCH", "/v1/content/15", r#"{"text":"new"}"#);
    // Resumes after the place of the restored item, and after that of the backdated one.
    assert_eq!(Listener::open(&server, 1, Some(&behind)).event().event, "delete");
    let mut listener = Listener::open(&server, 1, Some("5-17"));
    assert_eq!((listener.content(), listener.event().event), (13, "delete".to_owned()));
    assert_eq!(listener.event().event, "edit");
    listener.is_quiet();
}

#[test]
fn an_import_in_between_is_a_reset() {
    let server = Server::start();
    let place = begin(&server);
    let (_, data) = server.stop("TERM");
    let dir = tempfile::TempDir::new().unwrap();
    let file = dir.path().join("items.csv");
    std::fs::write(&file, "content_id,author_id,published_at\n900,2,1000\n").unwrap();
    let import = |data: &tempfile::TempDir| run(&["import", "--content", file.to_str().unwrap()], data, &[]);
    import(&data);
    let server = Server::on(data, &[]);
    let mut listener = Listener::open(&server, 1, Some(&place));
    let sent = listener.event();
    assert_eq!(sent.event, "reset");
    listener.is_quiet();
    // An import of this file once more changes nothing.
    let (_, data) = server.stop("TERM");
    import(&data);
    let server = Server::on(data, &[]);
    let mut listener = Listener::open(&server, 1, sent.id.as_deref());
    listener.is_quiet();
    server.publish(901, 2, 1000);
    assert_eq!(listener.content(), 901);
}
