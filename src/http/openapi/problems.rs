//! The problems that calls answer with, each with its status and an example.

use std::collections::BTreeMap;

use serde_json::Value;
use utoipa::openapi::{ContentBuilder, Ref, Response, ResponseBuilder, example::ExampleBuilder, schema::RefBuilder};

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
    "published_at: 1689089522000000 is more than 10m ahead of the clock (now 1689089522000); times are milliseconds \
     since 1970; it looks like microseconds",
);
pub(super) const CROSS_ORIGIN: Known = (
    403,
    "cross_origin",
    "pages of the origin \"https://evil.example\" may not open streams. To allow this origin, add it to \
     server.allowed_origins",
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

/// The problems of all calls. They are one response of the document, whatever the status: so clients that are generated
/// from it have one type, and one place in each call, for all that can go wrong.
#[derive(Default)]
pub(super) struct Problems(BTreeMap<&'static str, Known>);

impl Problems {
    /// The name of the response, and of the schema in it.
    pub(super) const NAME: &str = "Problem";

    /// The response of one call. Which problems it may be stands beside the reference.
    pub(super) fn refer(&mut self, problems: &BTreeMap<u16, Vec<Known>>) -> Ref {
        let mut words = Vec::new();
        for (status, problems) in problems {
            let mut codes: Vec<_> = problems.iter().map(|(_, code, _)| format!("`{code}`")).collect();
            codes.sort_unstable();
            words.push(format!("{status} {}", codes.join(", ")));
            self.0.extend(problems.iter().map(|problem| (problem.1, *problem)));
        }
        let place = format!("#/components/responses/{}", Self::NAME);
        RefBuilder::new().ref_location(place).description(Some(words.join("; "))).build()
    }

    /// The response, with an example of each problem.
    pub(super) fn response(self) -> Response {
        let examples =
            self.0.values().map(|known| (known.1, ExampleBuilder::new().value(Some(example(known))).build()));
        let schema = Ref::from_schema_name(Self::NAME);
        let content = ContentBuilder::new().schema(Some(schema)).examples_from_iter(examples).build();
        ResponseBuilder::new()
            .description("What is wrong. With 429 and 503, `Retry-After` has the seconds after which to try again")
            .content("application/problem+json", content)
            .build()
    }
}

fn example(&(status, code, detail): &Known) -> Value {
    serde_json::to_value(problem::Document::new(status, code, detail)).unwrap_or_default()
}
