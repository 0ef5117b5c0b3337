//! The problems that calls answer with, each with its status and an example.

use serde_json::{Value, json};
use utoipa::openapi::schema::{AllOfBuilder, ObjectBuilder, Type};
use utoipa::openapi::{ContentBuilder, HeaderBuilder, Ref, Response, ResponseBuilder, example::ExampleBuilder};

use crate::http::problem;

/// Status, code, and a detail as the server might give it.
pub(super) type Known = (u16, &'static str, &'static str);

pub(super) const INVALID_ID: Known =
    (400, "invalid_id", "uid: an id is a whole number from 1 to 9223372036854775807, not \"0\"");
pub(super) const INVALID_KIND: Known = (400, "invalid_kind", "kind: expected \"like\" or \"favorite\", not \"love\"");
pub(super) const INVALID_TOPIC: Known =
    (400, "invalid_topic", "a topic is 1 to 64 characters of UTF-8, with whole escapes, not \"%ff\"");
pub(super) const INVALID_PARAMETER: Known =
    (400, "invalid_parameter", "limit: expected a whole number from 1 to 100, not \"0\"");
pub(super) const INVALID_HEADER: Known =
    (400, "invalid_header", "last-event-id: expected \"<published_at>-<content_id>\", not \"7\"");
pub(super) const INVALID_BODY: Known =
    (400, "invalid_body", "unknown field `txt`, expected one of `author_id`, `content_id` at line 1 column 25");
pub(super) const TIME_AHEAD: Known = (
    400,
    "time_ahead",
    "published_at: 1689089522000000 is more than 600 s after the server's clock, 1689089522000; times are \
     milliseconds since 1970; it looks like microseconds",
);
pub(super) const CONTENT_NOT_FOUND: Known = (404, "content_not_found", "there is no content 32850");
pub(super) const BODY_TIMEOUT: Known = (408, "body_timeout", "the body of the request took too long to arrive");
pub(super) const CONTENT_EXISTS: Known =
    (409, "content_exists", "content 32850 was published already, and with another body");
pub(super) const BODY_TOO_LARGE: Known = (413, "body_too_large", "this body may have at most 65536 bytes");
pub(super) const UNSUPPORTED_MEDIA_TYPE: Known =
    (415, "unsupported_media_type", "content-type: expected application/json, in UTF-8, not \"text/xml\"");
pub(super) const SELF_FOLLOW: Known = (422, "self_follow", "user 111 cannot follow itself");
pub(super) const FOLLOW_LIMIT: Known = (422, "follow_limit", "user 111 cannot follow more than 1000 users");
pub(super) const SELF_MUTE: Known = (422, "self_mute", "a user cannot mute itself");
pub(super) const SELF_HIDE: Known = (422, "self_hide", "a user cannot hide from itself");
pub(super) const MUTE_LIMIT: Known = (422, "mute_limit", "a user mutes at most 100000 others");
pub(super) const HIDE_LIMIT: Known = (422, "hide_limit", "a user hides from at most 100000 others");
pub(super) const STREAM_LIMIT: Known = (429, "stream_limit", "user 111 cannot have more than 32 open streams");
pub(super) const INTERNAL: Known = (500, "internal", "the server failed on this request; its log has the cause");
pub(super) const OVERLOADED: Known = (503, "overloaded", "too many requests at once");
pub(super) const STORAGE_UNAVAILABLE: Known = (503, "storage_unavailable", "the storage takes no changes at present");
pub(super) const STOPPED: Known =
    (503, "storage_stopped", "the storage engine has stopped taking changes for good; the server has to be restarted");
pub(super) const STOPPING: Known = (503, "stopping", "the server is stopping");
pub(super) const TIMEOUT: Known = (503, "timeout", "the request took too long");

/// The problems of one status as a response, and its name among the parts of the document.
pub(super) fn response(status: u16, problems: &[Known]) -> (String, Response) {
    let mut codes: Vec<_> = problems.iter().map(|(_, code, _)| *code).collect();
    codes.sort_unstable();
    let narrowed = ObjectBuilder::new()
        .property("status", ObjectBuilder::new().schema_type(Type::Integer).enum_values(Some([status])))
        .property("code", ObjectBuilder::new().schema_type(Type::String).enum_values(Some(codes.clone())));
    let schema = AllOfBuilder::new().item(Ref::from_schema_name("Problem")).item(narrowed);
    let examples = problems.iter().map(|known| (known.1, ExampleBuilder::new().value(Some(example(known))).build()));
    let content = ContentBuilder::new().schema(Some(schema)).examples_from_iter(examples).build();
    let words: Vec<_> = codes.iter().map(|code| format!("`{code}`")).collect();
    let mut response =
        ResponseBuilder::new().description(words.join(", ")).content("application/problem+json", content);
    if [429, 503].contains(&status) {
        let seconds = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).build();
        let header = HeaderBuilder::new()
            .schema(Some(seconds))
            .description(Some("Seconds after which to try again"))
            .example(Some(json!(1)));
        response = response.header("Retry-After", header.build());
    }
    (format!("{status}.{}", codes.join(".")), response.build())
}

fn example(&(status, code, detail): &Known) -> Value {
    serde_json::to_value(problem::Document::new(status, code, detail)).unwrap_or_default()
}
