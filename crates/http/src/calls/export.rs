//! `/v1/users/{uid}/export`: all that a user has.

use actix_web::http::header::CONTENT_DISPOSITION;

use super::objects;
use crate::call::pieces::{self, NextPiece};
use crate::prelude::*;
use feed::timeline::{Export, ExportPart};
use model::UserId;

const MEDIA_TYPE: &str = "application/x-ndjson";

endpoints! { "users":
    /// All that a user has, as lines of JSON
    ///
    /// A line for each thing, with its `type`, such as `profile`, `content` for each item and comment, deleted ones
    /// included until they are purged, or `follower`. The section "Export a user" of docs/use/api.md has a table of the types. The last line is of the type
    /// `end`: without it the answer is incomplete. What changes meanwhile may be in it or not.
    get("/v1/users/{uid}/export", export, "exportUser")
        .for_users(TokenUse::Own)
        .answers_in(MEDIA_TYPE, 200, "The lines", shape::named("UserExport", json!({"type": "string"})), example("UserExport"));
}

/// `GET /v1/users/{uid}/export`
async fn export(call: Call) -> Answer {
    let user = call.user()?;
    let place = call.api.limits.downloads.take(call.caller.holder, 1)?;
    let id: UserId = call.read_of(&user, |_, id| Ok(id)).await?;
    let mut response = HttpResponse::Ok();
    response.content_type(MEDIA_TYPE).insert_header((CONTENT_DISPOSITION, "attachment; filename=\"export.ndjson\""));
    let next = lines(Arc::clone(&call.api), call.viewer(None), Export::new(user, id));
    pieces::answer(&call.api, response, ("an export", None), place, next).await
}

/// The lines of an export, those of one read at a time.
fn lines(api: Arc<Api>, viewer: Option<ExternalId>, mut export: Export) -> NextPiece {
    Box::new(move || {
        loop {
            let read = api.feed().read().seen_by(viewer.as_ref())?;
            let Some(part) = export.read_on(read)? else { return Ok(Vec::new()) };
            let lines = written(read, part)?;
            // An empty piece would end the answer.
            if !lines.is_empty() {
                return Ok(lines);
            }
        }
    })
}

fn written(read: Read<'_>, part: ExportPart) -> Result<Vec<u8>> {
    let mut text = Text::new(0, None);
    match part {
        ExportPart::Lines(lines) => {
            for line in &lines {
                text.write(line)?;
                text.push("\n")?;
            }
        }
        ExportPart::Items(items, deleted) => {
            let (items, ids) = read.named(items)?;
            for (item, deleted_at) in items.iter().zip(deleted) {
                text.push("{\"type\":\"content\",")?;
                if let Some(at) = deleted_at {
                    text.push("\"deleted_at\":")?;
                    text.write(&at)?;
                    text.push(",")?;
                }
                text.push("\"content\":")?;
                objects::write_item(item, &ids, read.reaction_kinds(), &mut text)?;
                text.push("}\n")?;
            }
        }
    }
    Ok(text.into_bytes())
}
