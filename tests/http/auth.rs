//! Credentials: every call of the API with every kind of credential.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};

use config::KeyHash;
use jsonwebtoken::Algorithm;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::server::described::document;
use crate::server::tokens::{Pair, SECRET, USERS_ACT, claims, key, now, signed, signed_by, token, unsigned};
use crate::server::{Reply, Server, command, connect};

/// The calls that a user may make with a token, each with the word that allows it, as the table of `docs/use/access.md`
/// promises them.
fn of_users() -> BTreeMap<String, &'static str> {
    let of_row = |row: &'static str| {
        let (calls, rest) = row.split_once(" | ").unwrap_or_default();
        let word = rest.rsplit('`').nth(1).unwrap_or_default();
        let spans = calls.split('`').skip(1).step_by(2);
        let calls = spans.filter_map(|span| span.rsplit_once(' ').filter(|(_, path)| path.starts_with("/v1/")));
        calls.flat_map(move |(methods, path)| methods.split(", ").map(move |method| (format!("{method} {path}"), word)))
    };
    let rows = include_str!("../../docs/use/access.md").lines().filter(|line| line.starts_with("| `"));
    rows.flat_map(of_row).collect()
}

const OPEN: &[&str] = &[
    "/",
    "/console/{version}/{file}",
    "/docs",
    "/docs/",
    "/docs/start.js",
    "/docs/swagger-ui.css",
    "/docs/swagger-ui-bundle.js",
    "/healthz",
    "/openapi.json",
    "/readyz",
];

/// A call of the document with a target and a body.
struct Call {
    /// Method and path with names of parameters.
    name: String,
    method: String,
    path: String,
    target: String,
    body: String,
}

/// Every call of the document for the user `ana`, the parts of the page, and a path and a method that do not exist.
fn calls() -> Vec<Call> {
    let mut calls = Vec::new();
    for (path, item) in document()["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            // A block of another user than the one of the follows, which it would refuse.
            let target = path.replace("{uid}", "ana").replace("/blocks/{target}", "/blocks/201");
            let (mut target, mut query) = (target, String::new());
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let (name, example) = (parameter["name"].as_str().unwrap(), parameter["example"].as_str());
                if parameter["in"] == "path" {
                    target = target.replace(&format!("{{{name}}}"), example.unwrap_or_default());
                } else if parameter["required"] == true {
                    query = format!("?{name}={}", example.unwrap());
                }
            }
            let mut body = &operation["requestBody"]["content"]["application/json"]["example"];
            if !body["since"].is_null() {
                // Only a key may give a time.
                body = &Value::Null;
            }
            let mut body = body.clone();
            if path.ends_with("/comments") && !body.is_null() {
                body["author_id"] = json!("ana");
            }
            calls.push((method.to_uppercase(), path.clone(), target + &query, body));
        }
    }
    assert!(calls.len() > 40);
    let parts = ["/", "/docs/", "/docs/start.js", "/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js"];
    let others =
        [("GET", "/v1/nothing"), ("POST", "/v1/nothing"), ("OPTIONS", "/v1/content"), ("PATCH", "/v1/users/ana")];
    for (method, path) in parts.map(|path| ("GET", path)).into_iter().chain(others) {
        calls.push((method.to_owned(), path.to_owned(), path.to_owned(), Value::Null));
    }
    let text = |body: Value| if body.is_null() { "{}".to_owned() } else { body.to_string() };
    let call = |(method, path, target, body): (String, String, String, Value)| Call {
        name: format!("{method} {path}"),
        method,
        path,
        target,
        body: text(body),
    };
    calls.into_iter().map(call).collect()
}

/// A request with these headers. An allowed stream has no end, so it is asked for its head only.
fn send(server: &Server, call: &Call, method: &str, headers: &[(&str, &str)]) -> Reply {
    let headers = [&[("content-type", "application/json")], headers].concat();
    server.call_as(method, &call.target, &call.body, &headers)
}

/// The code of a refusal by the gate; empty if the gate lets the request pass.
fn refusal(server: &Server, call: &Call, credential: Option<&str>) -> &'static str {
    let bearer = credential.map(|credential| format!("Bearer {credential}"));
    let headers: Vec<_> = bearer.iter().map(|bearer| ("authorization", bearer.as_str())).collect();
    if call.path.ends_with("/stream") && send(server, call, "HEAD", &headers).status == 200 {
        return "";
    }
    let reply = send(server, call, &call.method, &headers);
    let problem =
        if reply.header("content-type") == Some("application/problem+json") { reply.json() } else { Value::Null };
    let codes = [("no_credentials", 401), ("bad_credentials", 403), ("not_permitted", 403)];
    let Some((code, status)) = codes.into_iter().find(|(code, _)| problem["code"] == *code) else {
        assert!(![401, 403].contains(&reply.status), "{}: {}", call.name, reply.text());
        return "";
    };
    assert_eq!(reply.status, status, "{}", call.name);
    let challenge = (status == 401).then_some("Bearer");
    assert_eq!(reply.header("www-authenticate"), challenge, "{}", call.name);
    let text = reply.text();
    assert!(!credential.is_some_and(|credential| text.contains(credential)), "{text}");
    // A refusal must not tell whether a user, an item or a path exists.
    assert!(!text.contains("ana") && !text.contains("32850") && !text.contains("nothing"), "{text}");
    code
}

/// A server with keys, and the credentials of each kind.
struct Guarded {
    server: Server,
    pair: Pair,
}

fn guarded(further: &[(&str, &str)]) -> Guarded {
    let pair = Pair::new();
    let hash = |name: &str| KeyHash::of(key(name).as_bytes()).to_string();
    let (public, keys) = (pair.public(), format!("{},{}", hash("full"), key("plain")));
    let settings = [
        ("TIDELINE__AUTH__KEYS", keys.as_str()),
        ("TIDELINE__AUTH__READ_KEYS", &key("read")),
        ("TIDELINE__AUTH__METRICS_KEYS", &hash("metrics")),
        ("TIDELINE__AUTH__JWT_SECRETS", SECRET),
        ("TIDELINE__AUTH__JWT_PUBLIC_KEYS", &public),
    ];
    let server = Server::with(&[&settings[..], further].concat());
    Guarded { server, pair }
}

#[test]
fn every_call_with_every_credential() {
    let Guarded { server, pair } = guarded(&[]);
    let (mine, public) = (claims("ana"), pair.public());
    // By default tokens do not comment.
    let usual = USERS_ACT.replace(",comment", "");
    let with = |name: &str, value: Value| {
        let mut claims = claims("ana");
        claims[name] = value;
        claims
    };
    let late = with("exp", (now() - 60).into());
    let bad = [
        ("a wrong key", key("wrong")),
        ("a part of a key", key("full")[..40].to_owned()),
        ("a hash of a key", KeyHash::of(key("full").as_bytes()).to_string()),
        ("no token", "a.b.c".to_owned()),
        ("expired", signed(&late, SECRET.as_bytes())),
        ("expired, EdDSA", pair.sign(&late)),
        ("not yet valid", signed(&with("nbf", (now() + 3600).into()), SECRET.as_bytes())),
        ("alg none", unsigned(&json!({"alg": "none"}), &mine)),
        ("alg None", unsigned(&json!({"alg": "None", "typ": "JWT"}), &mine)),
        ("HS256 without a signature", unsigned(&json!({"alg": "HS256"}), &mine)),
        ("the public key as a secret", signed(&mine, pair.public_bytes())),
        ("the text of the public key as a secret", signed(&mine, public.as_bytes())),
        ("a wrong secret", signed(&mine, b"a wrong secret, which no server has anywhere")),
        ("HS512", signed_by(Algorithm::HS512, &mine, SECRET.as_bytes())),
        ("the pair of another", Pair::new().sign(&mine)),
        ("no exp", signed(&with("exp", Value::Null), SECRET.as_bytes())),
        ("exp in milliseconds", signed(&with("exp", json!(now() * 1000)), SECRET.as_bytes())),
        ("exp as text", signed(&with("exp", "soon".into()), SECRET.as_bytes())),
        ("no sub", signed(&with("sub", Value::Null), SECRET.as_bytes())),
        ("a sub that is no id", signed(&with("sub", "a\nb".into()), SECRET.as_bytes())),
        ("another audience", signed(&with("aud", "shop".into()), SECRET.as_bytes())),
    ];
    let own = [token("ana"), pair.sign(&mine), signed(&with("nbf", (now() + 20).into()), SECRET.as_bytes())];
    let (of_users, mut used, all) = (of_users(), BTreeMap::new(), calls());
    for call in &all {
        let check = |who: &str, credential: Option<&str>, expected: &str| {
            assert_eq!(refusal(&server, call, credential), expected, "{} with {who}", call.name);
        };
        if OPEN.contains(&&*call.path) {
            check("nothing", None, "");
            check("a wrong key", Some(&key("wrong")), "");
            continue;
        }
        check("nothing", None, "no_credentials");
        for (who, credential) in &bad {
            check(who, Some(credential), "bad_credentials");
        }
        let or_not = |may: bool| if may { "" } else { "not_permitted" };
        check("a full key", Some(&key("full")), "");
        check("another full key, not given as a hash", Some(&key("plain")), "");
        // A backup has everything, also what no call shows. A stream makes its user online. The rest tells how the server is
        // protected.
        let full_only = ["/v1/admin/backups/{name}", "/v1/users/{uid}/stream", "/v1/admin/keys", "/v1/admin/settings"];
        let reads = ["GET", "OPTIONS"].contains(&&*call.method) && !full_only.contains(&&*call.path);
        check("a read key", Some(&key("read")), or_not(reads));
        check("a metrics key", Some(&key("metrics")), or_not(call.path == "/metrics"));
        let word = of_users.get(&call.name).copied();
        used.extend(word.map(|word| (call.name.clone(), word)));
        let is_own = word.is_some_and(|word| may(word, call, "ana", &usual, "own"));
        for own in &own {
            check("an own token", Some(own), or_not(is_own));
        }
        check("the token of another user", Some(&token("bo")), "not_permitted");
    }
    assert_eq!(used, of_users, "a call of users that is not there");
}

/// Whether the token of a user may make a call that a word allows, with these settings.
fn may(word: &str, call: &Call, user: &str, users_act: &str, users_read: &str) -> bool {
    let is_own = user == "ana" && (call.path.contains("{uid}") || word == "comment");
    match word {
        "own" => is_own,
        "visible" => is_own || users_read == "visible",
        act => is_own && users_act.split(',').any(|allowed| allowed == act),
    }
}

#[test]
fn tokens_may_do_what_the_settings_say() {
    let (of_users, all) = (of_users(), calls());
    let words: BTreeSet<_> = of_users.values().copied().collect();
    assert_eq!(words, USERS_ACT.split(',').chain(["own", "visible"]).collect(), "the words of the table");
    let users_acts = ["", &*USERS_ACT].into_iter().chain(USERS_ACT.split(','));
    for (users_act, users_read) in users_acts.flat_map(|acts| [(acts, "own"), (acts, "visible")]) {
        let Guarded { server, .. } =
            guarded(&[("TIDELINE__AUTH__USERS_ACT", users_act), ("TIDELINE__AUTH__USERS_READ", users_read)]);
        for call in all.iter().filter(|call| !OPEN.contains(&&*call.path)) {
            let word = of_users.get(&call.name).copied();
            for user in ["ana", "bo"] {
                let may = word.is_some_and(|word| may(word, call, user, users_act, users_read));
                let expected = if may { "" } else { "not_permitted" };
                let found = refusal(&server, call, Some(&token(user)));
                assert_eq!(found, expected, "{} of {user} with {users_act:?} and {users_read:?}", call.name);
            }
        }
    }
}

#[test]
fn only_an_expired_token_is_told_why_it_is_refused() {
    let Guarded { server, .. } = guarded(&[]);
    let detail = |claims: &Value, secret: &[u8]| {
        let bearer = format!("Bearer {}", signed(claims, secret));
        let reply = server.call_as("GET", "/v1/users/ana/timeline", "", &[("authorization", &bearer)]);
        reply.problem("a bad token", 403, "bad_credentials")["detail"].as_str().unwrap().to_owned()
    };
    let late = json!({"sub": "ana", "exp": now() - 60});
    assert!(detail(&late, SECRET.as_bytes()).contains("expired"));
    let usual = detail(&late, b"a wrong secret, which no server has anywhere");
    assert!(!usual.contains("expired"), "the signature comes first: {usual}");
    assert_eq!(usual, detail(&json!({"sub": "ana", "exp": now() + 36000, "nbf": now() + 3600}), SECRET.as_bytes()));
    assert_eq!(usual, detail(&json!({"exp": now() + 36000}), SECRET.as_bytes()));
}

#[test]
fn unknown_words_are_refused_by_name_at_the_start() {
    let data = TempDir::new().unwrap();
    for (setting, value) in [("USERS_ACT", "follow,like"), ("USERS_ACT", "true"), ("USERS_READ", "like")] {
        let name = format!("TIDELINE__AUTH__{setting}");
        let word = value.rsplit(',').next().unwrap();
        let output = command(&data, "127.0.0.1:0", &[(name.as_str(), value)]).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{value} is taken");
        assert!(told.contains(&setting.to_lowercase()) && told.contains(&format!("`{word}`")), "{told}");
    }
}

#[test]
fn a_user_is_the_viewer_of_its_lists_and_only_of_its_own() {
    let Guarded { server, .. } = guarded(&[]);
    let status = |target: &str, user: &str| {
        let bearer = format!("bEARER  {}", token(user));
        server.call_as("GET", target, "", &[("authorization", &bearer)]).status
    };
    for (target, user, expected) in [
        ("/v1/users/ana/followers?viewer=ana", "ana", 200),
        ("/v1/users/%61na/followers?view%65r=%61na", "ana", 200),
        ("/v1/users/ana/followers?viewer=bo", "ana", 403),
        ("/v1/users/ana/followers?limit=2&viewe%72=b%6F", "ana", 403),
        ("/v1/users/ana/followers?viewer=ana&viewer=bo", "ana", 403),
        ("/v1/users/ana/followers?viewer=%zz", "ana", 400),
        ("/v1/users/ana/followers?viewer=ana&viewer=ana", "ana", 400),
        ("/v1/users/4200000/timeline", "4200000", 200),
        ("/v1/users/04200000/timeline", "4200000", 403),
        ("/v1/users/4200000/timeline", "04200000", 403),
        ("/v1/users/Ana/timeline", "ana", 403),
        ("/v1/users/ana%2F..%2Fbo/timeline", "bo", 403),
        ("/v1/users/%00/timeline", "ana", 403),
        ("/v1/users/bo/timeline?viewer=ana", "ana", 403),
    ] {
        assert_eq!(status(target, user), expected, "{target} as {user}");
    }
}

#[test]
fn a_refused_request_is_refused_before_its_body_arrives() {
    let Guarded { server, .. } = guarded(&[]);
    for credential in ["", "authorization: Basic YTpi\r\n", "authorization: Bearer \r\n", "authorization: Bearer x\r\n"]
    {
        let mut stream = connect(server.address);
        write!(stream, "POST /v1/content HTTP/1.1\r\nhost: x\r\n{credential}content-length: 1000\r\n\r\n").unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).unwrap();
        let expected = if credential.ends_with("x\r\n") { b"HTTP/1.1 403" } else { b"HTTP/1.1 401" };
        assert_eq!(&head, expected, "{credential:?}");
    }
    let full = format!("Bearer {}", key("full"));
    let twice = server.call_as("GET", "/v1/admin/stats", "", &[("authorization", &full), ("authorization", &full)]);
    twice.problem("two headers", 403, "bad_credentials");
}

#[test]
fn with_keys_the_name_of_the_host_does_not_count_and_origins_still_do() {
    let Guarded { server, .. } = guarded(&[]);
    let full = format!("Bearer {}", key("full"));
    let headers = [("authorization", full.as_str()), ("host", "feed.example.org")];
    assert_eq!(server.call_as("GET", "/v1/users/ana/timeline", "", &headers).status, 200);
    let headers = [("authorization", full.as_str()), ("origin", "https://evil.example")];
    server.call_as("PUT", "/v1/users/ana/presence", "", &headers).problem("a page", 403, "cross_origin");
}

#[test]
fn with_keys_every_address_may_be_listened_on() {
    let data = TempDir::new().unwrap();
    assert!(Server::launch(command(&data, "0.0.0.0:0", &[])).is_err());
    let keys = key("full");
    let server = Server::launch(command(&data, "0.0.0.0:0", &[("TIDELINE__AUTH__KEYS", &keys)])).ok().unwrap();
    assert!(server.address.ip().is_unspecified());
}

/// The head of the answer to a stream with a token in its address.
fn stream_head(server: &Server, query: &str, headers: &str) -> String {
    let mut stream = connect(server.address);
    write!(stream, "GET /v1/users/ana/stream?{query} HTTP/1.1\r\nhost: x\r\n{headers}\r\n").unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).unwrap();
    String::from_utf8_lossy(&head[9..]).into_owned()
}

#[test]
fn a_stream_takes_a_token_in_its_address() {
    let Guarded { server, pair } = guarded(&[]);
    let (ana, bo, full) = (token("ana"), token("bo"), key("full"));
    let eddsa = pair.sign(&claims("ana"));
    for (query, headers, status) in [
        (format!("access_token={ana}"), String::new(), "200"),
        (format!("access_token={eddsa}"), String::new(), "200"),
        (String::new(), format!("authorization: Bearer {ana}\r\n"), "200"),
        (String::new(), format!("authorization: Bearer {full}\r\n"), "200"),
        (format!("access_token={bo}"), String::new(), "403"),
        (format!("access_token={full}"), String::new(), "403"),
        (format!("access_token={ana}&access_token={ana}"), String::new(), "403"),
        (format!("access_token={ana}"), format!("authorization: Bearer {ana}\r\n"), "403"),
        ("access_token=".to_owned(), String::new(), "401"),
        (format!("access_token={ana}&x=1"), String::new(), "400"),
    ] {
        assert_eq!(stream_head(&server, &query, &headers), status, "{query} {headers}");
    }
    let elsewhere = server.call("GET", &format!("/v1/users/ana/timeline?access_token={ana}"), "");
    elsewhere.problem("not a stream", 401, "no_credentials");
}

#[test]
fn a_stream_ends_with_its_token_and_a_remembered_token_expires() {
    let fast = [("TIDELINE__AUTH__LEEWAY", "0s"), ("TIDELINE__PRESENCE__HEARTBEAT", "100ms")];
    let Guarded { server, .. } = guarded(&fast);
    let short = signed(&json!({"sub": "ana", "exp": now() + 30}), SECRET.as_bytes());
    let bearer = format!("Bearer {short}");
    let page = || server.call_as("GET", "/v1/users/ana/timeline", "", &[("authorization", &bearer)]);
    assert_eq!(page().status, 200);
    assert_eq!(page().status, 200);
    let mut stream = connect(server.address);
    write!(stream, "GET /v1/users/ana/stream?access_token={short} HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    let mut sent = String::new();
    stream.read_to_string(&mut sent).unwrap();
    assert!(sent.starts_with("HTTP/1.1 200"), "{sent}");
    let problem = page().problem("expired", 403, "bad_credentials");
    assert!(problem["detail"].as_str().unwrap().contains("expired"), "{problem}");
}
