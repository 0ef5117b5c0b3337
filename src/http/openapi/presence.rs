//! The calls of `http/presence.rs` and `http/stream.rs`.

use serde_json::json;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{Object, Ref};

use super::call::{Call, Shape, get, put};
use super::parameters::header;
use super::{content, schemas};
use crate::error::Code;
use crate::http::presence::PresenceBody;

const EVENTS: &str = "Each event has a name and JSON as `data`:\n\n\
    | event | means | data |\n\
    |---|---|---|\n\
    | `content` | an item came, or came back; its `id` is its cursor | `Content`, as in the user's timeline, with `viewer` |\n\
    | `edit` | an item was edited | `Content`, likewise |\n\
    | `delete` | an item is gone | `ContentRef` |\n\
    | `reset` | events were left out: load the timeline again, and go on listening | `{}` |\n\n\
    A comment line now and then shows that the stream is alive. It ends when the server stops, or when the client does \
    not take what is sent. A user has at most `server.max_streams_per_user` open streams. The schema is that of one event.";

pub(super) fn calls() -> Vec<Call> {
    let beat = schemas::closed().property("online", Object::with_type(Type::Boolean)).required("online").build();
    let there = json!({"user_id": "111", "online": true, "expires_at": 1_689_089_582_000_u64});
    let cursor = || schemas::text(&schemas::cursor_pattern());
    let data = ObjectBuilder::new().schema_type(Type::String).content_media_type("application/json");
    let event = ObjectBuilder::new()
        .property("event", Ref::from_schema_name("EventName"))
        .required("event")
        .property("id", cursor())
        .property("data", data)
        .required("data")
        .build();
    let came = json!({"event": "content", "id": "1689089522000-32850", "data": content::example().to_string()});
    let calls = vec![
        get("/v1/users/{uid}/presence", "getPresence", "Whether a user is online")
            .about(
                "Asking does not count as the user being active. A user of whom nothing is known is not online. Presence \
                is in memory: after a restart nobody is online until the next heartbeat or stream.",
            )
            .answers(200, "How the user is online", Shape::of::<PresenceBody>(), there.clone())
            .never_waits(),
        put("/v1/users/{uid}/presence", "setPresence", "A heartbeat, or its end")
            .about("A user is online for `presence.ttl` after a heartbeat, and as long as a stream is open.")
            .body(Shape::named("NewPresence", beat), json!({"online": true}))
            .answers(200, "The state after the change", Shape::of::<PresenceBody>(), there)
            .never_writes(),
        get("/v1/users/{uid}/stream", "listen", "What happens in the home timeline, as it happens")
            .about(EVENTS)
            .query([header(
                "Last-Event-ID",
                "The cursor of an item, or another `id` of this stream: replay what came after it. More than 1,000 items are one \
                `reset`, as is what cannot be told, and a cursor of nothing that is there. Empty is none",
                schemas::text(&format!("^$|{}", schemas::cursor_pattern())),
                "1689089522000-32850",
            )])
            .answers_events("Events without an end", Shape::named("Event", event).with("EventName", schemas::enumeration(&["content", "edit", "delete", "reset"])), came)
            .problem(Code::InvalidHeader)
            .problem(Code::CrossOrigin)
            .problem(Code::StreamLimit)
            .problem(Code::Stopping),
    ];
    calls.into_iter().map(|call| call.tag("live")).collect()
}
