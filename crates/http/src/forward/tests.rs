//! Requests at a node whose owner is a socket of the test.

use std::sync::Arc;
use std::time::Duration;

use actix_web::App;
use actix_web::body::to_bytes;
use actix_web::dev::ServiceResponse;
use actix_web::test::{TestRequest, call_service, init_service};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;
use crate::api::Api;
use crate::api::tests::{api_of, api_with};
use config::Config;
use model::Members;

/// The owner: it keeps the requests, and gives one answer to all.
struct Owner {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Owner {
    async fn that_says(answer: impl Into<Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
        let url = format!("http://{}/base", listener.local_addr().expect("an address"));
        let (requests, answer) = (Arc::<Mutex<Vec<String>>>::default(), answer.into());
        let kept = Arc::clone(&requests);
        actix_web::rt::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                actix_web::rt::spawn(serve(stream, Arc::clone(&kept), answer.clone()));
            }
        });
        Self { url, requests }
    }

    async fn with(status: &str, headers: &str, body: &str) -> Self {
        let length = body.len();
        let position =
            if headers.contains("tideline-position") { "" } else { "tideline-position: 00000000000000a11\r\n" };
        Self::that_says(format!(
            "HTTP/1.1 {status}\r\n{headers}{position}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
        ))
        .await
    }

    fn asked(&self) -> usize {
        self.requests.lock().len()
    }

    fn last(&self) -> String {
        self.requests.lock().last().cloned().unwrap_or_default()
    }
}

/// Reads one request, and answers it; for ever without an answer.
async fn serve(mut stream: TcpStream, kept: Arc<Mutex<Vec<String>>>, answer: Vec<u8>) {
    let (mut request, mut part) = (Vec::new(), [0; 4096]);
    while !is_whole(&request) {
        match stream.read(&mut part).await {
            Ok(0) | Err(_) => return,
            Ok(read) => request.extend_from_slice(&part[..read]),
        }
    }
    kept.lock().push(String::from_utf8(request).expect("text").to_lowercase());
    if answer.is_empty() {
        tokio::time::sleep(Duration::from_secs(600)).await;
    }
    // The node may have gone away.
    let _ = stream.write_all(&answer).await;
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    length.is_none_or(|length| length.parse() == Ok(body.len()))
}

/// The node `a`, which knows this owner as `b`, with the ids of a user of its own and of one of `b`.
fn node(owner: &str) -> (Arc<Api>, u64, u64) {
    node_that_waits(owner, LONGEST)
}

/// Such a node, which waits so long for the owner.
fn node_that_waits(owner: &str, time: Duration) -> (Arc<Api>, u64, u64) {
    let config = settings(owner, time);
    let members = Members::new(["a", "b"], "a", 1).expect("is one");
    let of = |own: bool| (1..).find(|raw| members.owns(UserId::new(*raw).expect("in range")) == own).expect("one");
    let mut api = api_with(config);
    let peers = Arc::get_mut(&mut api).and_then(|api| api.peers.as_mut()).expect("a cluster");
    peers.log = "the-log".to_owned();
    (api, of(true), of(false))
}

/// The settings of the node `a`.
fn settings(owner: &str, time: Duration) -> Config {
    let mut config = Config::default();
    config.server.request_timeout = config::Duration::from_secs((PART * time).as_secs());
    let value = |value: Value| serde_json::from_value(value);
    config.cluster.brokers = vec!["broker:9092".to_owned()];
    config.cluster.node = serde_json::from_value(json!("a")).expect("a name");
    config.cluster.members = value(json!(["a=http://127.0.0.1:1", format!("b={owner}")])).expect("members");
    config
}

async fn send(api: &Arc<Api>, request: TestRequest) -> ServiceResponse {
    let app = App::new().configure(|config| crate::configure(api, config));
    let app = init_service(app).await;
    let request = request.peer_addr("192.0.2.7:4711".parse().expect("an address"));
    call_service(&app, request.to_request()).await.map_into_boxed_body()
}

async fn status_and_body(api: &Arc<Api>, request: TestRequest) -> (u16, String) {
    let response = send(api, request).await;
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body()).await.expect("a body");
    (status, String::from_utf8(body.to_vec()).expect("text"))
}

const LOCAL: &str = r#"{"items":[],"next":null,"prev":null}"#;

#[actix_web::test]
async fn the_owner_gets_the_request_and_the_client_its_answer() {
    let headers = "content-type: application/json\r\nlink: <?before=1-1>; rel=\"next\"\r\ntideline-position: 00000000000000a177\r\nx-own: 1\r\n";
    let owner = Owner::with("200 OK", headers, "{\"items\":[1]}").await;
    let (api, own, foreign) = node(&owner.url);
    let path = format!("/v1/users/{foreign}/timeline");
    let request = TestRequest::with_uri(&format!("{path}?limit=3&view=ids"))
        .insert_header(("authorization", "Bearer abc"))
        .insert_header(("tideline-position", "00000000000000a15"))
        .insert_header(("x-request-id", "id-1"))
        .insert_header(("x-forwarded-for", "203.0.113.1"))
        .insert_header(("cookie", "secret"));
    let response = send(&api, request).await;
    let header = |name: &str| response.headers().get(name).map(|value| value.to_str().expect("text").to_owned());
    assert_eq!(response.status().as_u16(), 200);
    assert_eq!(header("tideline-position").as_deref(), Some("00000000000000a177"), "that of the owner");
    assert_eq!(header("link").as_deref(), Some("<?before=1-1>; rel=\"next\""));
    assert_eq!((header("x-request-id").as_deref(), header("x-own")), (Some("id-1"), None));
    assert_eq!(to_bytes(response.into_body()).await.expect("a body"), "{\"items\":[1]}");
    let asked = owner.last();
    let line = format!("get /base{path}?limit=3&view=ids&consistency=strict http/1.1\r\n");
    assert!(asked.starts_with(&line), "{asked}");
    for line in [
        "authorization: bearer abc",
        "tideline-forwarded: the-log",
        "x-request-id: id-1",
        "x-forwarded-for: 192.0.2.7",
        &format!("host: {}", owner.url.trim_start_matches("http://").trim_end_matches("/base")),
    ] {
        assert!(asked.contains(&format!("\r\n{line}\r\n")), "{line}: {asked}");
    }
    for kept in ["secret", "203.0.113.1", "tideline-position"] {
        assert!(!asked.contains(kept), "{kept}: {asked}");
    }
    let path = format!("/v1/users/{foreign}/timeline/unread?consistency=local");
    assert_eq!(status_and_body(&api, TestRequest::with_uri(&path)).await.0, 200);
    assert!(owner.last().starts_with(&format!("get /base{path} http/1.1\r\n")), "{}", owner.last());
    let session = TestRequest::with_uri(&format!("/v1/users/{foreign}/timeline?consistency=session"));
    let states = (0..9).fold(session, |request, n| request.append_header(("tracestate", format!("a={n}"))));
    assert_eq!(status_and_body(&api, states.insert_header(("tideline-position", "00000000000000a15"))).await.0, 200);
    let asked = owner.last();
    assert!(
        asked.contains("\r\ntideline-position: 00000000000000a15\r\n") && asked.contains("tracestate: a=0"),
        "{asked}"
    );
    assert!(!asked.contains("a=1"), "{asked}");
    // Users of this node, other calls, and what was passed on before.
    let before = owner.asked();
    for path in
        [format!("/v1/users/{own}/timeline"), format!("/v1/users/{foreign}/content"), "/v1/users/new/timeline".into()]
    {
        assert_eq!(status_and_body(&api, TestRequest::with_uri(&path)).await, (200, LOCAL.to_owned()), "{path}");
    }
    let again = || {
        TestRequest::with_uri(&format!("/v1/users/{foreign}/timeline?consistency=strict"))
            .insert_header(("tideline-forwarded", "the-log"))
    };
    let answered = send(&api, again()).await;
    let tag = answered.headers().get("etag").expect("pages that others have passed on have a tag").clone();
    assert_eq!(to_bytes(answered.into_body()).await.expect("a body"), LOCAL);
    assert_eq!(status_and_body(&api, again().insert_header(("if-none-match", tag))).await, (304, String::new()));
    // A mistake of the client is no failure of the owner.
    for path in ["timeline?consistency=session", "timeline?consistency=Strict"] {
        let path = format!("/v1/users/{foreign}/{path}");
        assert_eq!(status_and_body(&api, TestRequest::with_uri(&path)).await.0, 400, "{path}");
    }
    assert_eq!(owner.asked(), before);
    assert_eq!(api.peers.as_ref().expect("a cluster").figures(), [3, 2]);
}

#[actix_web::test]
async fn a_refusal_of_the_request_is_passed_on_and_one_of_the_node_is_not() {
    let problem = "content-type: application/problem+json\r\n";
    for (status, passed) in
        [("400 Bad", true), ("404 No", true), ("403 No", false), ("429 No", false), ("503 No", false)]
    {
        let owner = Owner::with(status, problem, "{}").await;
        let (api, _, foreign) = node(&owner.url);
        let answer = status_and_body(&api, TestRequest::with_uri(&format!("/v1/users/{foreign}/timeline"))).await;
        let expected =
            if passed { (status[..3].parse().expect("a number"), "{}".to_owned()) } else { (200, LOCAL.to_owned()) };
        assert_eq!(answer, expected, "{status}");
        assert_eq!(owner.asked(), 1);
    }
}

#[actix_web::test]
async fn an_owner_that_leaves_or_refuses_a_request_is_asked_the_next_one() {
    for (status, headers) in [("503 Later", "tideline-forwarded: left\r\n"), ("431 No", ""), ("401 No", "")] {
        let owner = Owner::with(status, headers, "").await;
        let (api, _, foreign) = node(&owner.url);
        for asked in 1..=3 {
            let answer = status_and_body(&api, TestRequest::with_uri(&format!("/v1/users/{foreign}/timeline"))).await;
            assert_eq!((answer, owner.asked()), ((200, LOCAL.to_owned()), asked), "{status}");
        }
    }
}

#[actix_web::test]
async fn an_owner_that_fails_is_left_alone_for_a_while() {
    let alone = Owner::that_says("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}").await;
    let closes = Owner::that_says("nonsense").await;
    let silent = Owner::that_says("").await;
    let endless = Owner::with("200 OK", "", &"x".repeat(100 * ((64 << 10) + (16 << 10)) + 1)).await;
    // The silent one has to get the request in this time, and this node to answer in twice as much.
    let time_limit = Duration::from_secs(4);
    for (owner, took) in [(alone, None), (closes, None), (silent, Some(time_limit)), (endless, None)] {
        let (api, _, foreign) = node_that_waits(&owner.url, took.unwrap_or(LONGEST));
        let began = std::time::Instant::now();
        for _ in 0..3 {
            let answer = status_and_body(&api, TestRequest::with_uri(&format!("/v1/users/{foreign}/timeline"))).await;
            assert_eq!(answer, (200, LOCAL.to_owned()));
        }
        assert!(began.elapsed() >= took.unwrap_or_default(), "{:?}", began.elapsed());
        assert_eq!(owner.asked(), 1);
        assert_eq!(api.limits.answers.fill().used, 0);
        api.peers.as_ref().expect("a cluster").end_pauses();
        status_and_body(&api, TestRequest::with_uri(&format!("/v1/users/{foreign}/timeline?limit=7"))).await;
        assert_eq!(owner.asked(), 2, "asked again");
    }
    let (api, _, foreign) = node("http://127.0.0.1:1");
    let answer = status_and_body(&api, TestRequest::with_uri(&format!("/v1/users/{foreign}/timeline"))).await;
    assert_eq!(answer, (200, LOCAL.to_owned()), "nobody listens");
    assert_eq!(api.peers.as_ref().expect("a cluster").figures(), [0, 1]);
}

#[actix_web::test]
async fn a_large_answer_counts_until_the_client_has_it() {
    let body = "x".repeat(3 << 20);
    let owner = Owner::with("200 OK", "", &body).await;
    let (api, _, foreign) = node(&owner.url);
    let response = send(&api, TestRequest::with_uri(&format!("/v1/users/{foreign}/timeline"))).await;
    assert!(api.limits.answers.fill().used >= 3 << 20);
    assert_eq!(to_bytes(response.into_body()).await.expect("a body"), body);
    assert_eq!(api.limits.answers.fill().used, 0);
}

#[actix_web::test]
async fn heartbeats_go_to_the_owner() {
    let owner = Owner::with("200 OK", "content-type: application/json\r\n", "{\"online\":true}").await;
    let (api, own, foreign) = node(&owner.url);
    let beat =
        |user: u64| TestRequest::put().uri(&format!("/v1/users/{user}/presence")).set_payload(r#"{"online": true}"#);
    assert_eq!(status_and_body(&api, beat(foreign)).await, (200, "{\"online\":true}".to_owned()));
    let asked = owner.last();
    assert!(asked.starts_with(&format!("put /base/v1/users/{foreign}/presence http/1.1\r\n")), "{asked}");
    assert!(
        asked.ends_with("\r\n\r\n{\"online\":true}") && asked.contains("\r\ncontent-type: application/json\r\n"),
        "{asked}"
    );
    let (status, body) = status_and_body(&api, beat(own)).await;
    assert!(status == 200 && body.contains("expires_at"), "{body}");
    let wrong = TestRequest::put().uri(&format!("/v1/users/{foreign}/presence")).set_payload("{}");
    assert_eq!(status_and_body(&api, wrong).await.0, 400);
    assert_eq!(owner.asked(), 1);
}

mod slow;
