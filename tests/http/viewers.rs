//! Items on a stream carry the reader's own reactions, as in the reader's timeline.

use std::thread;

use serde_json::{Value, json};

use super::listener::Listener;
use crate::server::{PATIENCE, Server};

const READERS: [u64; 3] = [1, 2, 4];

fn react(server: &Server, kind: &str, reader: u64) {
    server.call("PUT", &format!("/v1/content/11/reactions/{kind}/{reader}"), "").expect(200);
}

fn viewer(reactions: &[&str]) -> Value {
    json!({ "reactions": reactions })
}

/// The next event of each reader must show item 11 as the reader's timeline does. Returns the readers' reactions.
fn viewers(server: &Server, listeners: &mut [Listener], event: &str) -> Vec<Value> {
    let mut viewers = Vec::new();
    for (reader, listener) in READERS.iter().zip(listeners) {
        let sent = listener.event();
        assert_eq!(sent.event, event);
        let page = server.get(&format!("/v1/users/{reader}/timeline"));
        assert_eq!(sent.data, page["items"][0], "reader {reader}");
        viewers.push(sent.data["viewer"].clone());
    }
    viewers
}

#[test]
fn each_reader_sees_what_it_did_with_an_item() {
    let server = Server::start();
    for reader in READERS {
        server.follow(reader, 3, 10);
    }
    let begin = Listener::open(&server, 1, None).block(PATIENCE).unwrap().id;
    let mut listeners: Vec<_> = READERS.iter().map(|reader| Listener::open(&server, *reader, None)).collect();
    let edit = |text: &str| {
        server.call("PATCH", "/v1/content/11", json!({"text": text, "extra": {"a": {}}}).to_string()).expect(200)
    };
    server.publish(11, 3, 1000);
    assert_eq!(viewers(&server, &mut listeners, "content"), vec![viewer(&[]); 3]);
    react(&server, "like", 1);
    react(&server, "favorite", 2);
    let place = listeners[0].last_id.clone();
    edit("}");
    let now = [viewer(&["like"]), viewer(&["favorite"]), viewer(&[])];
    assert_eq!(viewers(&server, &mut listeners, "edit"), now);
    react(&server, "favorite", 1);
    react(&server, "like", 9);
    server.call("DELETE", "/v1/content/11/reactions/favorite/2", "").expect(200);
    assert_eq!(server.call("DELETE", "/v1/content/11", "").status, 204);
    for listener in &mut listeners {
        let sent = listener.event();
        let gone = json!({"content_id": "11", "author_id": "3", "published_at": 1000});
        assert_eq!((sent.event.as_str(), sent.data), ("delete", gone));
    }
    server.call("POST", "/v1/content/11/restore", "").expect(200);
    let now = [viewer(&["like", "favorite"]), viewer(&[]), viewer(&[])];
    assert_eq!(viewers(&server, &mut listeners, "content"), now);
    edit("{");
    assert_eq!(viewers(&server, &mut listeners, "edit"), now);
    listeners.iter_mut().for_each(Listener::is_quiet);
    // A client that resumes sees them too.
    let mut again: Vec<_> = READERS.iter().map(|reader| Listener::open(&server, *reader, place.as_deref())).collect();
    for event in ["edit", "content", "edit"] {
        assert_eq!(viewers(&server, &mut again, event), now);
    }
    let mut again: Vec<_> = READERS.iter().map(|reader| Listener::open(&server, *reader, begin.as_deref())).collect();
    assert_eq!(viewers(&server, &mut again, "content"), now);
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
