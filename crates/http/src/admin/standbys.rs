//! `/v1/admin/standby`: the calls of standbys, which `tideline standby` makes.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::call::pieces;
use crate::prelude::*;
use crate::streams::response::{self, Piece, Source};
use crate::wire::problem;
use feed::standbys::{CopyRequest, End, Following, Frame};

const MEDIA_TYPE: &str = "application/octet-stream";
/// Bytes of the log that are read at once.
const PIECE: usize = 256 << 10;
/// How often a stream without news looks for some: no write waits for a reader, nor tells it.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// How often a stream tells how much there is.
const HEAD_EVERY: Duration = Duration::from_secs(1);

endpoints! { "operations", of_this_server:
    /// A new copy of the data directory, as one archive
    post("/v1/admin/standby/copies", take_copy, "").takes_unlisted_batch();

    /// The write-ahead log as it grows, without end
    get("/v1/admin/standby/log", follow, "").not_for_read_keys().reads(&["standby", "log", "after"]);

    /// How far a standby is
    put("/v1/admin/standby/progress", report, "").takes_unlisted().routine();

    /// Take no more changes, so that a standby can have all
    post("/v1/admin/standby/seal", seal, "").takes_unlisted();

    /// Take changes again
    delete("/v1/admin/standby/seal", unseal, "").reads(&["standby"]);

    /// Let a standby that has all rows take over
    post("/v1/admin/standby/handover", hand_over, "").takes_unlisted();
}

/// How far a standby is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Progress {
    /// The name of the standby.
    standby: String,
    /// The last row on its device.
    applied: u64,
}

/// The standby that is to take over.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    standby: String,
}

/// A standby that has all rows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HandOver {
    /// From the answer to its seal.
    ticket: String,
    /// Its address, for the other way round.
    url: String,
    /// The last row of both.
    row: u64,
}

/// A node of a cluster has no standby: the log of the others is not this one's.
fn must_be_alone(call: &Call) -> Result<()> {
    if call.api.node.is_some() { Err(Code::NoStandby.into()) } else { Ok(()) }
}

/// `POST /v1/admin/standby/copies`: a new copy, as one archive.
async fn take_copy(mut call: Call) -> Answer {
    let request: CopyRequest = call.json().await?;
    must_be_alone(&call)?;
    let place = call.api.limits.downloads.take(call.caller.holder, 1)?;
    let standbys = Arc::clone(&call.api.standbys);
    let copy = call.run(Wants::Change, move |feed| standbys.take_copy(feed.store(), &request)).await?;
    let mut response = HttpResponse::Ok();
    response.content_type(MEDIA_TYPE);
    pieces::answer(&call.api, response, ("a copy for a standby", Some(copy.length())), place, pieces::of(copy)).await
}

/// `GET /v1/admin/standby/log`: the log as it grows, without end.
async fn follow(call: Call) -> Answer {
    let query = call.query()?;
    must_be_alone(&call)?;
    let (name, log, after): (String, String, u64) =
        (query.required("standby")?, query.required("log")?, query.required("after")?);
    let log = u64::from_str_radix(&log, 16).map_err(|_| invalid_parameter("log: expected 16 digits"))?;
    let Some(place) = response::place(&call)? else { return Ok(response::head(MEDIA_TYPE)) };
    let standbys = Arc::clone(&call.api.standbys);
    // Before the head: a standby that lacks log gets the refusal.
    let begin = move |feed: &Feed| {
        let mut following = standbys.follow(feed.store(), &name, log, after)?;
        let frames = following.read(PIECE)?;
        Ok::<_, Error>((following, frames))
    };
    let (following, first) = call.run(Wants::Read, begin).await?;
    let first = (!first.is_empty()).then(|| Piece { bytes: first.into(), memory: None });
    let log = Log { api: Arc::clone(&call.api), following: Some(following), told: Instant::now() };
    response::answer(&call, place, (MEDIA_TYPE, None), (first, log))
}

/// The log on its way to a standby. The next frames are read when the connection asks for them: at most one piece, or one
/// batch, for each of few standbys.
struct Log {
    api: Arc<Api>,
    /// `None` behind the last frame.
    following: Option<Following>,
    /// When the stream last told how much there is.
    told: Instant,
}

impl Source for Log {
    async fn next(&mut self) -> Option<Piece> {
        let following = self.following.take()?;
        let frames = match self.read_on(following).await {
            Ok(frames) => frames,
            Err(problem) => {
                tracing::warn!(error = %problem, "the log is not read on for a standby");
                let code = problem::code(&problem);
                // A standby learns nothing of a fault, as a client does.
                let detail = if code == Code::Internal { code.detail().to_owned() } else { problem.to_string() };
                let end = End { code: code.name().to_owned(), detail };
                let mut frame = Vec::new();
                Frame::End(end).write(&[], &mut frame).ok().map(|()| frame)
            }
        };
        frames.map(|frames| Piece { bytes: frames.into(), memory: None })
    }
}

impl Log {
    /// The next frames, once there are some; `None` if the server stops, or the standby has taken over and has all.
    async fn read_on(&mut self, mut following: Following) -> Result<Option<Vec<u8>>> {
        while !self.api.is_stopping() {
            let is_due = self.told.elapsed() >= HEAD_EVERY;
            let read = move || {
                let mut frames = following.read(PIECE)?;
                if is_due {
                    frames.extend(following.head()?);
                }
                Ok::<_, Error>((following, frames))
            };
            let frames;
            (following, frames) = self.api.pools.run(Wants::Read, read).await??;
            if is_due {
                self.told = Instant::now();
            }
            if !frames.is_empty() {
                self.following = Some(following);
                return Ok(Some(frames));
            }
            sleep(LOOK_EVERY).await;
        }
        Ok(None)
    }
}

/// `PUT /v1/admin/standby/progress`
async fn report(mut call: Call) -> Answer {
    let Progress { standby, applied } = call.json().await?;
    let standbys = Arc::clone(&call.api.standbys);
    let row = call.run(Wants::Read, move |feed| standbys.report(feed.store(), &standby, applied)).await?;
    reply::ok(&json!({ "row": row }))
}

/// `POST /v1/admin/standby/seal`
async fn seal(mut call: Call) -> Answer {
    let Named { standby } = call.json().await?;
    must_be_alone(&call)?;
    let standbys = Arc::clone(&call.api.standbys);
    let (row, ticket) = call.run(Wants::Read, move |feed| standbys.seal(feed.store(), &standby)).await?;
    reply::ok(&json!({ "row": row, "ticket": format!("{ticket:016x}") }))
}

/// `DELETE /v1/admin/standby/seal`
async fn unseal(call: Call) -> Answer {
    let standby = call.query()?.text("standby").map(str::to_owned);
    let standbys = Arc::clone(&call.api.standbys);
    call.run(Wants::Read, move |feed| standbys.unseal(feed.store(), standby.as_deref())).await?;
    reply::nothing()
}

/// `POST /v1/admin/standby/handover`
async fn hand_over(mut call: Call) -> Answer {
    let HandOver { ticket, url, row } = call.json().await?;
    if url.chars().any(char::is_control) || url.len() > 1024 {
        return Err(invalid_body("url: expected an address"));
    }
    let ticket = u64::from_str_radix(&ticket, 16).map_err(|_| invalid_body("ticket: expected 16 digits"))?;
    let standbys = Arc::clone(&call.api.standbys);
    call.run(Wants::Read, move |feed| standbys.hand_over(feed.store(), ticket, &url, row)).await?;
    call.api.end_sending();
    reply::ok(&json!({ "row": row }))
}
