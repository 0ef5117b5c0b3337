//! Taking a delete back.

use crate::server::Server;

fn delete(server: &Server, id: u64) {
    assert_eq!(server.call("DELETE", &format!("/v1/content/{id}"), "").status, 204);
}

fn restore(server: &Server, id: u64) -> crate::server::Reply {
    server.call("POST", &format!("/v1/content/{id}/restore"), "")
}

#[test]
fn a_restored_item_is_in_every_list_at_its_old_place() {
    let server = Server::start();
    server.follow(3, 2, 1);
    for id in 1..=3 {
        server.publish(id, 2, 100 + id);
    }
    let body = r#"{"content_id":9,"author_id":4,"published_at":150}"#;
    server.call("POST", "/v1/content/2/comments", body).expect(201);
    let before = server.get("/v1/content/2");
    let lists = ["/v1/users/3/timeline", "/v1/users/2/content"];
    delete(&server, 2);
    for list in lists {
        assert_eq!(server.ids(list), [3, 1]);
    }
    assert_eq!(restore(&server, 2).expect(200), before);
    for list in lists {
        assert_eq!(server.ids(list), [3, 2, 1]);
    }
    assert_eq!(server.get("/v1/content/2"), before);
    assert_eq!(server.ids("/v1/content/2/comments"), [9]);
    let why = server.get("/v1/admin/users/3/timeline/explain?content_id=2");
    assert_eq!(why["reason"], "listed");
    server.settle();
    assert_eq!(server.get("/v1/admin/users/3/timeline/verify")["exact"], true);
}

#[test]
fn a_comment_comes_back_too() {
    let server = Server::start();
    server.publish(1, 2, 100);
    for id in [10, 11] {
        let body = format!(r#"{{"content_id":{id},"author_id":4,"published_at":{id}}}"#);
        server.call("POST", "/v1/content/1/comments", body).expect(201);
    }
    delete(&server, 10);
    restore(&server, 10).expect(200);
    assert_eq!(
        (server.ids("/v1/content/1/comments"), server.ids("/v1/users/4/comments")),
        (vec![11, 10], vec![11, 10])
    );
}

#[test]
fn a_repeat_is_the_same_answer() {
    let server = Server::start();
    server.publish(1, 2, 100);
    let live = server.get("/v1/content/1");
    assert_eq!(restore(&server, 1).expect(200), live, "of a live item");
    delete(&server, 1);
    for _ in 0..2 {
        assert_eq!(restore(&server, 1).expect(200), live);
    }
    for body in ["{}", " {} "] {
        assert_eq!(server.call("POST", "/v1/content/1/restore", body).expect(200), live);
    }
    assert_eq!(server.ids("/v1/users/2/content"), [1]);
}

#[test]
fn what_is_not_there_is_not_restored() {
    let server = Server::start();
    restore(&server, 5).problem("never there", 404, "content_not_found");
    server.publish(5, 2, 100);
    delete(&server, 5);
    for bad in ["[]", "null", "x", r#"{"a":1}"#] {
        server.call("POST", "/v1/content/5/restore", bad).problem(bad, 400, "invalid_body");
    }
    server.call("GET", "/v1/content/5", "").problem("still deleted", 404, "content_not_found");
}

#[test]
fn past_the_retention_it_is_too_late() {
    let server = Server::with(&[("TIDELINE__CONTENT__DELETED_RETENTION", "300ms")]);
    server.publish(1, 2, 100);
    delete(&server, 1);
    std::thread::sleep(std::time::Duration::from_millis(310));
    restore(&server, 1).problem("late", 404, "content_not_found");
    server.publish(2, 2, 100);
    delete(&server, 2);
    restore(&server, 2).expect(200);
}

#[test]
fn without_retention_a_delete_is_for_good() {
    let server = Server::with(&[("TIDELINE__CONTENT__DELETED_RETENTION", "0s")]);
    server.follow(3, 2, 1);
    server.publish(1, 2, 100);
    server.settle();
    delete(&server, 1);
    restore(&server, 1).problem("at once", 404, "content_not_found");
    server.call("DELETE", "/v1/content/1", "").problem("again", 404, "content_not_found");
    assert!(server.ids("/v1/users/3/timeline").is_empty());
    let body = r#"{"content_id":1,"author_id":2,"published_at":100,"text":"item 1"}"#;
    server.call("POST", "/v1/content", body).problem("its id is taken", 409, "content_exists");
}
