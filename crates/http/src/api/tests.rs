//! The limits of requests, on an application over an empty store.

use actix_web::App;
use actix_web::http::ConnectionType;
use actix_web::http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use actix_web::test::{TestRequest, call_service, init_service};

use super::*;
use crate::limits::LARGE_BODY;
use feed::backlog::Backlog;
use feed::streaming::Streaming;
use model::error::Error;
use store::Store;

/// An API over an empty store.
pub(crate) fn api() -> Arc<Api> {
    api_with(Config::default())
}

/// An API over an empty store with these settings.
pub(crate) fn api_with(config: Config) -> Arc<Api> {
    api_of(&config, |_| None)
}

/// An API over an empty store, of a node of a cluster.
pub(crate) fn api_of(config: &Config, node: impl FnOnce(&Arc<Feed>) -> Option<Arc<Node>>) -> Arc<Api> {
    let store = Arc::new(Store::in_memory().expect("opens"));
    let feed = Feed::new(store, Arc::new(Backlog::new(10)), Arc::new(Streaming::new(1000)), config).expect("opens");
    let (gate, backups) = (Authenticator::new(&config.auth).expect("no keys"), Backups::new(config));
    let (feed, backups, gate) = (Arc::new(feed), Arc::new(backups), Arc::new(gate));
    let node = node(&feed);
    let standbys = Arc::new(feed::standbys::Standbys::new(config));
    Arc::new(Api::new(feed, (backups, standbys), Figures::default(), 10, gate, Arc::default(), node))
}

async fn status(api: &Arc<Api>, request: TestRequest) -> u16 {
    let app = App::new().configure(|config| crate::configure(api, config)).wrap_fn(crate::attend);
    let app = init_service(app).await;
    call_service(&app, request.to_request()).await.status().as_u16()
}

fn publish(body: String) -> TestRequest {
    TestRequest::post().uri("/v1/content").insert_header((TRANSFER_ENCODING, "chunked")).set_payload(body)
}

#[actix_web::test]
async fn while_the_server_stops_each_answer_ends_its_connection() {
    let api = api();
    let closes = async || {
        let app = init_service(App::new().configure(|config| crate::configure(&api, config))).await;
        let answer = call_service(&app, TestRequest::get().uri("/v1/users/1/content").to_request()).await;
        answer.response().head().connection_type() == ConnectionType::Close
    };
    assert!(!closes().await);
    api.set_stopping();
    assert!(closes().await);
}

#[actix_web::test]
async fn past_the_most_that_may_wait_a_request_is_turned_away() {
    let api = api();
    let publish = || publish(r#"{"author_id":1}"#.to_owned());
    let places = api.limits.blocked.take(Holder::Application, usize::MAX).expect("all free");
    assert_eq!(status(&api, publish()).await, 503);
    assert_eq!(status(&api, TestRequest::get().uri("/v1/users/1/content")).await, 200, "needs no place");
    drop(places);
    assert_eq!(status(&api, publish()).await, 201);
    assert_eq!(api.limits.blocked.fill().used, 0);
}

#[actix_web::test]
async fn work_holds_its_place_until_it_ends() {
    let api = api();
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let work = api
        .run(Holder::Application, Wants::Change, move |_| wait.recv().map_err(|_| Error::Storage("gone".to_owned())));
    let waited = tokio::time::timeout(Duration::from_millis(20), work).await;
    assert!(waited.is_err(), "the caller has given up");
    assert_eq!(api.limits.blocked.fill().used, 1);
    go.send(()).expect("the work waits");
    while api.limits.blocked.fill().used > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[actix_web::test]
async fn a_large_batch_is_not_read_before_its_turn() {
    let api = api();
    let item = format!(r#"{{"author_id":1,"broadcast":false,"text":"{}"}}"#, "x".repeat(60_000));
    let batch = |items| {
        let body = format!(r#"{{"items":[{}]}}"#, vec![item.as_str(); items].join(","));
        let request = TestRequest::post().uri("/v1/content/batch");
        request.insert_header((CONTENT_LENGTH, body.len())).set_payload(body)
    };
    let large = batch(20);
    let mut turns = Vec::new();
    while let Some(turn) = api.limits.turn(Holder::Application, LARGE_BODY + 1, Duration::from_millis(1)).await {
        turns.push(turn);
    }
    let mut waiting = std::pin::pin!(status(&api, large));
    assert!(tokio::time::timeout(Duration::from_millis(200), &mut waiting).await.is_err());
    assert_eq!(api.limits.batches.fill().used, 0, "nothing of it is read");
    assert_eq!(status(&api, batch(10)).await, 201, "a small one needs no turn");
    turns.clear();
    assert_eq!(waiting.await, 201);
    assert!(
        api.limits.turn(Holder::Application, usize::MAX, Duration::from_secs(600)).await.is_some(),
        "all given back"
    );
}

#[actix_web::test]
async fn a_panic_is_an_answer_too() {
    let api = api();
    let worked: Result<(), _> =
        api.run(Holder::Application, Wants::Change, |_| -> Result<(), Error> { panic!("on purpose") }).await;
    assert!(worked.is_err());
    assert_eq!(api.limits.blocked.fill().used, 0);
}

#[actix_web::test]
async fn a_body_takes_memory_as_it_comes_and_no_more_than_there_is() {
    let api = api();
    let text = "x".repeat(40_000);
    let publish = || publish(format!(r#"{{"author_id":1,"text":"{text}"}}"#));
    let (bodies, application) = (&api.limits.bodies, Holder::Application);
    let most = bodies.take(application, bodies.limit() / 16 * 15 - 60_000).expect("fits");
    assert_eq!(status(&api, publish()).await, 201);
    let more = bodies.take(application, 30_000).expect("given back");
    assert_eq!(status(&api, publish()).await, 503);
    assert_eq!(api.limits.bodies.refused(), 1);
    drop((most, more));
    assert_eq!(api.limits.bodies.fill().used, 0);
}

#[actix_web::test]
async fn a_stopping_server_is_healthy_but_not_ready() {
    let api = api();
    api.set_stopping();
    assert_eq!(status(&api, TestRequest::get().uri("/readyz")).await, 503);
    assert_eq!(status(&api, TestRequest::get().uri("/healthz")).await, 200);
}
