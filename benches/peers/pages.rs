//! Servers on actix-web that answer with a page of 20: a constant one, one from Redis, one from PostgreSQL.

use std::fmt::Write;
use std::sync::mpsc;

use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use redis::aio::MultiplexedConnection;
use tokio_postgres::{Client, Row, Statement};

use crate::opened::PAGE;
use crate::postgres_side::{self, connect};
use crate::redis_side::{content_key, inbox_key};

/// Connections to PostgreSQL that each thread of the server shares out.
const CONNECTIONS: usize = 4;

/// Which rows a page of PostgreSQL comes from.
#[derive(Clone, Copy)]
pub enum Source {
    Inbox,
    Followees,
}

/// Serves one constant answer on every path.
pub fn bare(link: String, body: Vec<u8>) -> String {
    serve(move |tell| {
        let answer = web::Data::new((link, web::Bytes::from(body)));
        let handler = |answer: web::Data<(String, web::Bytes)>| async move {
            let link = ("link", answer.0.as_str());
            HttpResponse::Ok().insert_header(link).content_type("application/json").body(answer.1.clone())
        };
        let app = move || App::new().app_data(answer.clone()).default_service(web::to(handler));
        let server = HttpServer::new(app).bind("127.0.0.1:0").expect("binds");
        tell.send(server.addrs()[0].to_string()).expect("told");
        server.run()
    })
}

/// Serves pages out of Redis. Each thread has one connection, which all its requests share.
pub fn redis(port: u16) -> String {
    serve(move |tell| {
        let app = move || {
            let connection = move || async move {
                let client = redis::Client::open(format!("redis://127.0.0.1:{port}/"))?;
                client.get_multiplexed_async_connection().await
            };
            App::new().data_factory(connection).route("/v1/users/{user}/timeline", web::get().to(redis_page))
        };
        let server = HttpServer::new(app).bind("127.0.0.1:0").expect("binds");
        tell.send(server.addrs()[0].to_string()).expect("told");
        server.run()
    })
}

/// Serves pages out of PostgreSQL, with prepared statements.
pub fn postgres(port: u16, source: Source) -> String {
    serve(move |tell| {
        let app = move || {
            let pool = move || async move { Ok::<_, tokio_postgres::Error>(Pool::new(port, source).await) };
            App::new().data_factory(pool).route("/v1/users/{user}/timeline", web::get().to(postgres_page))
        };
        let server = HttpServer::new(app).bind("127.0.0.1:0").expect("binds");
        tell.send(server.addrs()[0].to_string()).expect("told");
        server.run()
    })
}

/// Runs a server on a thread of its own until the process ends. Returns its address.
fn serve(start: impl FnOnce(mpsc::Sender<String>) -> actix_web::dev::Server + Send + 'static) -> String {
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move { start(tell).await.expect("serves") });
    });
    told.recv().expect("an address")
}

async fn redis_page(
    request: HttpRequest,
    user: web::Path<u64>,
    connection: web::Data<MultiplexedConnection>,
) -> HttpResponse {
    let mut connection = connection.get_ref().clone();
    let mut command = redis::cmd("ZREVRANGEBYSCORE");
    command.arg(inbox_key(*user)).arg("+inf").arg("-inf").arg("WITHSCORES").arg("LIMIT").arg(0).arg(PAGE);
    let entries: Vec<(String, u64)> = match command.query_async(&mut connection).await {
        Ok(entries) => entries,
        Err(error) => return HttpResponse::InternalServerError().body(error.to_string()),
    };
    let entries: Vec<_> = entries
        .iter()
        .filter_map(|(member, at)| {
            let (id, author) = member.split_once(':')?;
            Some((id.parse().ok()?, author.parse().ok()?, *at))
        })
        .collect();
    if is_ids(&request) {
        return page(&entries, None::<&[String]>);
    }
    let mut command = redis::cmd("MGET");
    for (id, _, _) in &entries {
        command.arg(content_key(*id));
    }
    match command.query_async::<Vec<Option<String>>>(&mut connection).await {
        Ok(contents) => page(&entries, Some(&contents.into_iter().flatten().collect::<Vec<_>>())),
        Err(error) => HttpResponse::InternalServerError().body(error.to_string()),
    }
}

/// Connections with their statements, which requests use in turn. A connection takes a further request before it has
/// answered the last.
struct Pool {
    connections: Vec<(Client, [Statement; 2])>,
    next: std::cell::Cell<usize>,
}

impl Pool {
    async fn new(port: u16, source: Source) -> Self {
        let texts = match source {
            Source::Inbox => [postgres_side::IDS, postgres_side::FULL],
            Source::Followees => [postgres_side::PULLED_IDS, postgres_side::PULLED_FULL],
        };
        let mut connections = Vec::new();
        for _ in 0..CONNECTIONS {
            let client = connect(port).await;
            let ids = client.prepare(texts[0]).await.expect("a statement");
            let full = client.prepare(texts[1]).await.expect("a statement");
            connections.push((client, [ids, full]));
        }
        Self { connections, next: std::cell::Cell::new(0) }
    }
}

async fn postgres_page(request: HttpRequest, user: web::Path<i64>, pool: web::Data<Pool>) -> HttpResponse {
    let ids_only = is_ids(&request);
    let turn = pool.next.get();
    pool.next.set((turn + 1) % CONNECTIONS);
    let (client, [ids, full]) = &pool.connections[turn];
    let rows = match client.query(if ids_only { ids } else { full }, &[&*user]).await {
        Ok(rows) => rows,
        Err(error) => return HttpResponse::InternalServerError().body(error.to_string()),
    };
    let number = |row: &Row, place: usize| row.get::<_, i64>(place).unsigned_abs();
    let entries: Vec<_> = rows.iter().map(|row| (number(row, 0), number(row, 1), number(row, 2))).collect();
    let contents = (!ids_only).then(|| rows.iter().map(|row| row.get::<_, &str>(3)).collect::<Vec<_>>());
    page(&entries, contents.as_deref())
}

fn is_ids(request: &HttpRequest) -> bool {
    request.query_string().contains("view=ids")
}

/// The JSON of Tideline's pages; entries are item, author and time.
fn page(entries: &[(u64, u64, u64)], contents: Option<&[impl AsRef<str>]>) -> HttpResponse {
    let mut body = String::with_capacity(if contents.is_some() { 16 << 10 } else { 2 << 10 });
    body.push_str(r#"{"items":["#);
    let comma = |place| if place > 0 { "," } else { "" };
    if let Some(contents) = contents {
        for (place, content) in contents.iter().enumerate() {
            body.push_str(comma(place));
            body.push_str(content.as_ref());
        }
    } else {
        for (place, (id, author, at)) in entries.iter().enumerate() {
            let comma = comma(place);
            let _ = write!(body, r#"{comma}{{"content_id":"{id}","author_id":"{author}","published_at":{at}}}"#);
        }
    }
    let (Some((newest, _, newest_at)), Some((oldest, _, oldest_at))) = (entries.first(), entries.last()) else {
        return HttpResponse::NotFound().body("no entries");
    };
    let _ = write!(body, r#"],"next":"{oldest_at}-{oldest}","prev":"{newest_at}-{newest}"}}"#);
    let link = format!(
        "<?limit={PAGE}&before={oldest_at}-{oldest}>; rel=\"next\", <?limit={PAGE}&after={newest_at}-{newest}>; rel=\"prev\""
    );
    HttpResponse::Ok().insert_header(("link", link)).content_type("application/json").body(body)
}
