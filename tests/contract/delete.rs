//! `DELETE /v1/content/{content_id}` and `POST /v1/content/{content_id}/restore`

use std::time::Instant;

use serde_json::json;

use super::town::Town;
use crate::server::{PATIENCE, Server};

const ALL: [u64; 7] = [10, 11, 12, 13, 20, 21, 30];

#[test]
fn an_item_leaves_every_list_and_comes_back_to_its_place() {
    for id in ALL {
        let mut town = Town::new();
        town.delete(id);
        town.check(&format!("deleted {id}"));
        let path = format!("/v1/content/{id}");
        town.server.call("DELETE", &path, "").problem("again", 404, "content_not_found");
        town.server.call("PATCH", &path, r#"{"text":"x"}"#).problem("edit", 404, "content_not_found");
        let comment = r#"{"author_id":1,"text":"x"}"#;
        town.server.call("POST", &format!("{path}/comments"), comment).problem("comment", 404, "content_not_found");
        for method in ["PUT", "DELETE"] {
            let like = format!("{path}/reactions/like/6");
            town.server.call(method, &like, "").problem("reaction", 404, "content_not_found");
        }
        town.check(&format!("deleted {id}, and nothing done to it since"));
        town.restore(id);
        town.check(&format!("restored {id}"));
        town.restore(id);
        town.check(&format!("restored {id} twice"));
        town.delete(id);
        town.check(&format!("deleted {id} again"));
    }
}

#[test]
fn an_item_deleted_for_good_does_not_come_back() {
    for id in ALL {
        for before in [false, true] {
            let mut town = Town::new();
            if before {
                town.delete(id);
            }
            town.purge(id);
            town.check(&format!("purged {id}"));
            let path = format!("/v1/content/{id}");
            town.server.call("POST", &format!("{path}/restore"), "").problem("restore", 404, "content_not_found");
            town.server.call("DELETE", &path, "").problem("delete", 404, "content_not_found");
            let body = json!({"content_id": id, "author_id": 5, "text": "x"});
            town.server.call("POST", "/v1/content", body.to_string()).problem("taken", 409, "content_exists");
            town.purge(id);
            town.check(&format!("purged {id} again"));
        }
    }
    let town = Town::new();
    town.server.call("DELETE", "/v1/content/99?purge=true", "").problem("never", 404, "content_not_found");
}

#[test]
fn comments_and_reposts_of_a_deleted_item_stay() {
    let mut town = Town::new();
    town.delete(10);
    town.publish(json!({"content_id": 40, "author_id": 5, "published_at": 170, "kind": "repost", "ref_id": 10}));
    town.delete(20);
    town.check("one more points at it, and one fewer");
    town.restore(10);
    town.check("restored with the counts of now");
    assert_eq!(
        town.server.get("/v1/content/10")["counts"],
        json!({"comments": 1, "reposts": 2, "reactions": {"like": 2, "favorite": 1}})
    );
}

#[test]
fn a_deleted_id_stays_taken() {
    let mut town = Town::new();
    town.delete(11);
    for body in [
        json!({"content_id": 11, "author_id": 3, "published_at": 110, "text": "eleven", "topics": ["rust", "tea"]}),
        json!({"content_id": 11, "author_id": 5}),
    ] {
        town.server.call("POST", "/v1/content", body.to_string()).problem("taken", 409, "content_exists");
    }
    town.check("taken");
}

#[test]
fn items_deleted_too_long_ago_are_not_restored() {
    for retention in ["0s", "1ms"] {
        let server = Server::with(&[("TIDELINE__CONTENT__DELETED_RETENTION", retention)]);
        server.follow(2, 1, 1);
        server.publish(5, 1, 100);
        assert_eq!(server.call("DELETE", "/v1/content/5", "").status, 204);
        let began = Instant::now();
        while server.call("POST", "/v1/content/5/restore", "").status != 404 {
            assert!(retention != "0s" && began.elapsed() < PATIENCE, "{retention}: kept for ever");
            server.call("DELETE", "/v1/content/5", "");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        server.call("POST", "/v1/content/5/restore", "").problem("too late", 404, "content_not_found");
        assert!(server.ids("/v1/users/2/timeline").is_empty());
        assert!(server.ids("/v1/users/1/content").is_empty());
        let body = r#"{"content_id":5,"author_id":1,"published_at":100,"text":"item 5"}"#;
        server.call("POST", "/v1/content", body).problem("the id stays taken", 409, "content_exists");
    }
}
