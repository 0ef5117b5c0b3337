//! The declared type of a body.

use crate::server::Server;

#[test]
fn a_body_is_plain_json_or_refused_by_its_type() {
    let server = Server::start();
    let calls = [
        ("POST", "/v1/content", r#"{"author_id":1,"content_id":5}"#),
        ("POST", "/v1/content/batch", r#"{"items":[{"author_id":1,"content_id":5}]}"#),
        ("PATCH", "/v1/content/5", r#"{"text":"x"}"#),
        ("PUT", "/v1/users/1/following/2", "{}"),
        ("POST", "/v1/users/1/following/batch", r#"{"follow":[2]}"#),
    ];
    for (method, path, body) in calls {
        for header in [
            ("content-type", "text/plain; charset=utf-16"),
            ("content-type", "multipart/form-data; boundary=x"),
            ("content-type", "application/jsonx"),
            ("content-type", "text/json"),
            ("content-type", "application/json; charset=latin1"),
            ("content-type", "nonsense"),
            ("content-encoding", "gzip"),
            ("content-encoding", "br"),
            ("content-encoding", "identity, br"),
        ] {
            let reply = server.call_as(method, path, body, &[header]);
            reply.problem(&format!("{method} {path} {header:?}"), 415, "unsupported_media_type");
            // Also behind one that fits.
            let first = (header.0, if header.0 == "content-type" { "application/json" } else { "identity" });
            let reply = server.call_as(method, path, body, &[first, header]);
            reply.problem(&format!("{method} {path} {header:?}"), 415, "unsupported_media_type");
        }
    }
    assert!(server.ids("/v1/users/1/content").is_empty());
    for (method, path, body) in calls {
        for kind in [
            "application/json",
            "Application/JSON; charset=UTF-8",
            "application/merge-patch+json",
            "application/x-www-form-urlencoded",
            "text/plain;charset=UTF-8",
        ] {
            let reply = server.call_as(method, path, body, &[("content-type", kind)]);
            assert!(matches!(reply.status, 200 | 201), "{method} {path} {kind}: {reply:?}");
        }
        let reply =
            server.call_as(method, path, body, &[("content-encoding", "identity"), ("content-encoding", "Identity")]);
        assert!(matches!(reply.status, 200 | 201), "{method} {path}: {reply:?}");
        // An empty body has no type.
        if method == "PUT" {
            server.call_as(method, path, "", &[("content-type", "text/plain")]).expect(200);
        }
    }
}
