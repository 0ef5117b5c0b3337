//! Calls for the people who look after a server: users to find, keys and settings in force, tokens for tests, the history of
//! the figures.

use serde_json::{Value, json};

use crate::server::tokens::{SECRET, key};
use crate::server::{Server, wait_until};

fn as_operator(server: &Server, method: &str, path: &str, body: &Value) -> Value {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let bearer = format!("Bearer {}", key("full"));
    let reply = server.call_as(method, path, body, &[("authorization", &bearer)]);
    assert!(reply.status < 300, "{method} {path}: {}", reply.text());
    reply.json()
}

fn found(server: &Server, query: &str) -> Vec<String> {
    let page = server.get(&format!("/v1/admin/users{query}"));
    let id = |user: &Value| user["user_id"].as_str().map_or_else(|| user["user_id"].to_string(), str::to_owned);
    page["items"].as_array().unwrap().iter().map(id).collect()
}

#[test]
fn users_are_found_by_the_beginning_of_an_id_or_of_a_word_of_a_nickname() {
    let server = Server::start();
    let long = "é".repeat(200);
    let users =
        [("u-1", "Ebba Van der SMITH"), ("u-2", "smithy"), ("u-10", "Straße"), ("7", "Zoe"), ("accents", &long)];
    for (id, nickname) in users {
        server.call("PUT", &format!("/v1/users/{id}"), json!({"nickname": nickname}).to_string()).expect(200);
    }
    // An item is no user, although its id begins alike.
    server.call("POST", "/v1/content", json!({"author_id": "u-3", "content_id": "u-item"}).to_string()).expect(201);
    assert_eq!(found(&server, "?search=SMI"), ["u-1", "u-2"]);
    assert_eq!(found(&server, "?search=van%20DER"), ["u-1"]);
    assert_eq!(found(&server, "?search=mith"), [] as [&str; 0]);
    assert_eq!(found(&server, "?search=strasse"), ["u-10"]);
    assert_eq!(found(&server, "?search=u-"), ["u-1", "u-10", "u-2", "u-3"]);
    assert_eq!(found(&server, "?search=u-2"), ["u-2"], "the id itself");
    assert_eq!(found(&server, "?search=u-1"), ["u-1", "u-10"], "the user with this id is first");
    assert_eq!(found(&server, "?search=u-&limit=2"), ["u-1", "u-10"]);
    assert_eq!(found(&server, "?search=7"), ["7"]);
    assert_eq!(found(&server, "?search=8"), [] as [&str; 0], "every number is an id, and no user yet");
    for text in ["e", "E%CC%81", &"%C3%A9".repeat(200)] {
        assert_eq!(found(&server, &format!("?search={text}")).last().unwrap(), "accents", "{text}");
    }
    // Old nicknames find nobody.
    server.call("PUT", "/v1/users/u-1", json!({"nickname": "Ebba Jones"}).to_string()).expect(200);
    server.call("PUT", "/v1/users/u-2", "{}").expect(200);
    assert_eq!(found(&server, "?search=smi"), [] as [&str; 0]);
    assert_eq!(found(&server, "?search=jones"), ["u-1"]);
    let server = server.restart("KILL", &[]);
    assert_eq!(found(&server, "?search=ebba"), ["u-1"]);
    let too_long = format!("?search={}", "a".repeat(201));
    for bad in [
        "?search=",
        "?search=a&order=new",
        "?order=old",
        "?limit=0",
        "?limit=101",
        "?search=%FF",
        "?search=%0A",
        &too_long,
    ] {
        server.call("GET", &format!("/v1/admin/users{bad}"), "").problem(bad, 400, "invalid_parameter");
    }
}

#[test]
fn without_a_search_users_of_late_are_listed() {
    let server = Server::start();
    assert_eq!(found(&server, ""), [] as [&str; 0]);
    for (user, target) in [("ann", "bo"), ("cy", "bo"), ("ann", "cy")] {
        server.call("PUT", &format!("/v1/users/{user}/following/{target}"), "").expect(200);
    }
    server.call("POST", "/v1/content", r#"{"author_id": "bo"}"#).expect(201);
    assert_eq!(found(&server, ""), ["bo", "ann", "cy"], "by the newest change");
    assert_eq!(found(&server, "?order=recent&limit=1"), ["bo"]);
    assert_eq!(found(&server, "?order=followers"), ["bo", "cy", "ann"]);
    assert_eq!(found(&server, "?order=new"), ["cy", "bo", "ann"], "by the newest name");
    let page = server.get("/v1/admin/users?order=followers&limit=1");
    let counts = json!({"following": 0, "followers": 2, "friends": 0, "content": 1});
    let bo = json!({"user_id": "bo", "nickname": null, "avatar": null, "extra": null, "counts": counts});
    assert_eq!(page["items"], json!([bo]));
    // Without a feed of changes, those who published, else any.
    let (none, data) = server.stop("TERM");
    assert!(none.success());
    let server = Server::on(data, &[("TIDELINE__CHANGES__KEEP", "0s")]);
    assert_eq!(found(&server, "")[0], "bo");
}

#[test]
fn keys_are_listed_by_role_and_name_and_a_token_can_be_made() {
    let named = format!("{} the shop", key("full"));
    let settings = [
        ("TIDELINE__AUTH__KEYS", &*named),
        ("TIDELINE__AUTH__READ_KEYS", &key("read")),
        ("TIDELINE__AUTH__JWT_SECRETS", SECRET),
    ];
    let server = Server::with(&settings);
    let keys = as_operator(&server, "GET", "/v1/admin/keys", &Value::Null);
    let keys = keys["items"].as_array().unwrap();
    let named: Vec<_> = keys.iter().map(|key| (&key["role"], key.get("name"))).collect();
    assert_eq!(named, [(&json!("full"), Some(&json!("the shop"))), (&json!("read"), None)]);
    let all = as_operator(&server, "GET", "/v1/admin/settings", &Value::Null);
    assert_eq!(all["timeline"]["inbox_limit"], 1000, "{all}");
    let shown = all["auth"]["keys"][0].as_str().expect("a key");
    assert!(shown.starts_with("sha256:") && shown.ends_with(" the shop") && shown.len() == 28, "{shown}");
    for secret in [key("full"), key("read"), SECRET.to_owned()] {
        assert!(!all.to_string().contains(&secret) && !format!("{keys:?}").contains(&secret));
    }
    for path in ["settings", "keys"] {
        let bearer = format!("Bearer {}", key("read"));
        let reply = server.call_as("GET", &format!("/v1/admin/{path}"), "", &[("authorization", &bearer)]);
        reply.problem(path, 403, "not_permitted");
    }
    let made = as_operator(&server, "POST", "/v1/admin/tokens", &json!({"user_id": "ann", "expires_in": 60}));
    let bearer = format!("Bearer {}", made["token"].as_str().unwrap());
    let reads = |user: &str| {
        let path = format!("/v1/users/{user}/timeline");
        server.call_as("GET", &path, "", &[("authorization", &bearer)]).status
    };
    assert_eq!((reads("ann"), reads("bo")), (200, 403));
    let bearer = format!("Bearer {}", key("full"));
    for body in [json!({}), json!({"user_id": "ann", "expires_in": 0}), json!({"user_id": "ann", "expires_in": 86_401})]
    {
        let reply = server.call_as("POST", "/v1/admin/tokens", body.to_string(), &[("authorization", &bearer)]);
        reply.problem("a token", 400, "invalid_body");
    }
    let open = Server::start();
    let reply = open.call("POST", "/v1/admin/tokens", r#"{"user_id": "ann"}"#);
    reply.problem("without a secret", 409, "no_token_secret");
}

#[test]
fn the_figures_have_a_history() {
    let server = Server::start();
    server.call("POST", "/v1/content", r#"{"author_id": "bo"}"#).expect(201);
    server.call("GET", "/v1/content/nothing", "").problem("no item", 404, "content_not_found");
    let samples = |after: u64| {
        let query = if after == 0 { String::new() } else { format!("?after={after}") };
        let page = server.get(&format!("/v1/admin/history{query}"));
        page["items"].as_array().unwrap().clone()
    };
    // On a busy machine a sample may come between the two calls.
    let told = || samples(0).iter().any(|sample| sample["problems"] != json!({}));
    wait_until("no sample tells of the problem", told);
    let all = samples(0);
    for figure in ["published", "requests_ok"] {
        assert!(all.iter().any(|sample| sample[figure].as_f64() > Some(0.0)), "{figure}: {all:?}");
    }
    let problems: Vec<_> = all.iter().map(|sample| &sample["problems"]).filter(|told| **told != json!({})).collect();
    assert_eq!(problems, [&json!({"content_not_found": 1})]);
    let first = &all[0];
    let at = first["at"].as_u64().unwrap();
    assert!(first["device_limit_bytes"].as_u64() > first["device_bytes"].as_u64(), "{first}");
    for bad in ["after=0", "after=x", "before=1"] {
        server.call("GET", &format!("/v1/admin/history?{bad}"), "").problem(bad, 400, "invalid_parameter");
    }
    assert!(samples(at).iter().all(|sample| sample["at"].as_u64() > Some(at)));
    assert_eq!(server.figure(r#"tideline_http_problems_total{code="content_not_found"}"#), 1.0);
}

#[test]
fn a_directory_that_is_removed_is_noticed_without_a_change() {
    let server = Server::start();
    let alerts = || {
        let page = server.get("/v1/admin/alerts");
        let items = page["items"].as_array().unwrap();
        items.iter().map(|alert| alert["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(alerts(), [] as [&str; 0], "a new server");
    std::fs::remove_file(server.data().path().join("LOCK")).expect("removes");
    server.call("POST", "/v1/content", r#"{"author_id": "bo"}"#).expect(201);
    std::fs::remove_dir_all(server.data().path()).expect("removes");
    wait_until("nobody notices", || server.call("GET", "/readyz", "").status == 503);
    server.call("POST", "/v1/content", r#"{"author_id": "bo"}"#).problem("no directory", 503, "storage_unavailable");
    assert_eq!(alerts(), ["TidelineStorageStopped"]);
}
