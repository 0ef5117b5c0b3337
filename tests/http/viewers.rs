//! Items on a stream carry the reader's own reactions, as in the reader's timeline.

use std::thread;

use serde_json::{Value, json};

use super::listener::Listener;
use crate::server::Server;

fn react(server: &Server, kind: &str, reader: u64) {
    server.call("PUT", &format!("/v1/content/11/reactions/{kind}/{reader}"), "").expect(200);
}

fn viewer(reactions: &[&str]) -> Value {
    json!({ "reactions": reactions })
}

#[test]
fn a_stream_opened_while_an_item_is_sent_shows_its_reactions() {
    let server = Server::start();
    server.follow(1, 3, 10);
    server.publish(11, 3, 1000);
    react(&server, "like", 1);
    react(&server, "like", 2);
    let mut first = Listener::open(&server, 1, None);
    thread::scope(|scope| {
        let edits = scope.spawn(|| {
            for n in 0..200 {
                server.call("PATCH", "/v1/content/11", format!(r#"{{"text":"{n}"}}"#)).expect(200);
            }
        });
        while !edits.is_finished() {
            // A stream is opened and its reader begins to follow, between two events or during one.
            for (reader, reactions) in [(2, &["like"][..]), (4, &[])] {
                let mut listener = Listener::open(&server, reader, None);
                server.follow(reader, 3, 10);
                server.call("PATCH", "/v1/content/11", r#"{"text":"more"}"#).expect(200);
                assert_eq!(listener.event().data["viewer"], viewer(reactions), "reader {reader}");
                server.call("DELETE", &format!("/v1/users/{reader}/following/3"), "").expect(200);
            }
        }
    });
    server.call("PATCH", "/v1/content/11", r#"{"text":"last"}"#).expect(200);
    loop {
        let sent = first.event();
        assert_eq!((sent.event.as_str(), &sent.data["viewer"]), ("edit", &viewer(&["like"])));
        if sent.data["text"] == "last" {
            break;
        }
    }
}
