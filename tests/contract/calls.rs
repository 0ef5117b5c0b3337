//! The list of all API calls, for the tests that go through them. A new call is a line here.

/// The query parameters of a call.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Query {
    Nothing,
    ContentPage,
    UserPage,
    PlainPage,
    Ids,
    Targets,
    Depth,
    ContentId,
}

/// One call of the API.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) method: &'static str,
    /// With `{uid}`, `{target}`, `{content_id}`, `{kind}` or `{topic}` in it.
    pub(crate) path: &'static str,
    pub(crate) query: Query,
    /// A good body; empty for a call that takes none.
    pub(crate) body: &'static str,
    /// The methods that the path allows.
    pub(crate) allow: &'static str,
}

const fn call(method: &'static str, path: &'static str, query: Query, body: &'static str, allow: &'static str) -> Call {
    Call { method, path, query, body, allow }
}

const REACTION: &str = "/v1/content/{content_id}/reactions/{kind}/{uid}";

/// Every call.
pub(crate) const CALLS: &[Call] = &[
    call("POST", "/v1/content", Query::Nothing, r#"{"author_id":66}"#, "POST, GET, HEAD"),
    call("GET", "/v1/content", Query::Ids, "", "POST, GET, HEAD"),
    call("POST", "/v1/content/batch", Query::Nothing, r#"{"items":[{"author_id":66}]}"#, "POST"),
    call("GET", "/v1/content/{content_id}", Query::Nothing, "", "GET, HEAD, PATCH, DELETE"),
    call("PATCH", "/v1/content/{content_id}", Query::Nothing, r#"{"text":"changed"}"#, "GET, HEAD, PATCH, DELETE"),
    call("PUT", REACTION, Query::Nothing, r#"{"since":5}"#, "PUT, DELETE"),
    call("GET", "/v1/content/{content_id}/reactions/{kind}", Query::UserPage, "", "GET, HEAD"),
    call("GET", "/v1/users/{uid}/reactions/{kind}", Query::ContentPage, "", "GET, HEAD"),
    call("DELETE", REACTION, Query::Nothing, "", "PUT, DELETE"),
    call("POST", "/v1/content/{content_id}/comments", Query::Nothing, r#"{"author_id":66}"#, "POST, GET, HEAD"),
    call("GET", "/v1/content/{content_id}/comments", Query::ContentPage, "", "POST, GET, HEAD"),
    call("DELETE", "/v1/content/{content_id}", Query::Nothing, "", "GET, HEAD, PATCH, DELETE"),
    call("POST", "/v1/content/{content_id}/restore", Query::Nothing, "", "POST"),
    call("GET", "/v1/users/{uid}/timeline", Query::ContentPage, "", "GET, HEAD"),
    call("GET", "/v1/users/{uid}/content", Query::ContentPage, "", "GET, HEAD"),
    call("GET", "/v1/users/{uid}/timeline/unread", Query::Nothing, "", "GET, HEAD"),
    call("GET", "/v1/users/{uid}/marker", Query::Nothing, "", "GET, HEAD, PUT"),
    call("PUT", "/v1/users/{uid}/marker", Query::Nothing, r#"{"cursor":"120-12"}"#, "GET, HEAD, PUT"),
    call("GET", "/v1/topics/{topic}/content", Query::ContentPage, "", "GET, HEAD"),
    call("GET", "/v1/users/{uid}/presence", Query::Nothing, "", "GET, HEAD, PUT"),
    call("PUT", "/v1/users/{uid}/presence", Query::Nothing, r#"{"online":true}"#, "GET, HEAD, PUT"),
    call("GET", "/v1/users/{uid}/stream", Query::Nothing, "", "GET, HEAD"),
    call("GET", "/v1/users/{uid}/comments", Query::ContentPage, "", "GET, HEAD"),
    call("PUT", "/v1/users/{uid}/following/{target}", Query::Nothing, r#"{"since":5}"#, "PUT, DELETE"),
    call("DELETE", "/v1/users/{uid}/following/{target}", Query::Nothing, "", "PUT, DELETE"),
    call("POST", "/v1/users/{uid}/following/batch", Query::Nothing, r#"{"follow":[66],"unfollow":[2]}"#, "POST"),
    call("GET", "/v1/users/{uid}/following", Query::UserPage, "", "GET, HEAD"),
    call("GET", "/v1/users/{uid}/followers", Query::UserPage, "", "GET, HEAD"),
    call("GET", "/v1/users/{uid}/friends", Query::UserPage, "", "GET, HEAD"),
    call("PUT", "/v1/users/{uid}/mutes/{target}", Query::Nothing, "{}", "PUT, DELETE"),
    call("DELETE", "/v1/users/{uid}/mutes/{target}", Query::Nothing, "", "PUT, DELETE"),
    call("GET", "/v1/users/{uid}/mutes", Query::PlainPage, "", "GET, HEAD"),
    call("PUT", "/v1/users/{uid}/hidden-from/{target}", Query::Nothing, "{}", "PUT, DELETE"),
    call("DELETE", "/v1/users/{uid}/hidden-from/{target}", Query::Nothing, "", "PUT, DELETE"),
    call("GET", "/v1/users/{uid}/hidden-from", Query::PlainPage, "", "GET, HEAD"),
    call("GET", "/v1/users/{uid}", Query::Nothing, "", "GET, HEAD, PUT"),
    call("PUT", "/v1/users/{uid}", Query::Nothing, r#"{"nickname":"Ann"}"#, "GET, HEAD, PUT"),
    call("GET", "/v1/users/{uid}/relations", Query::Targets, "", "GET, HEAD"),
    call("GET", "/v1/admin/stats", Query::Nothing, "", "GET, HEAD"),
    call("GET", "/v1/admin/users/{uid}/timeline/verify", Query::Depth, "", "GET, HEAD"),
    call("GET", "/v1/admin/users/{uid}/timeline/explain", Query::ContentId, "", "GET, HEAD"),
    call("GET", "/healthz", Query::Nothing, "", "GET, HEAD"),
    call("GET", "/readyz", Query::Nothing, "", "GET, HEAD"),
    call("GET", "/metrics", Query::Nothing, "", "GET, HEAD"),
    call("GET", "/openapi.json", Query::Nothing, "", "GET, HEAD"),
    call("GET", "/docs", Query::Nothing, "", "GET, HEAD"),
    call("GET", "/docs/", Query::Nothing, "", "GET, HEAD"),
    call("GET", "/", Query::Nothing, "", "GET, HEAD"),
    call("GET", "/docs/start.js", Query::Nothing, "", "GET, HEAD"),
    call("GET", "/docs/swagger-ui.css", Query::Nothing, "", "GET, HEAD"),
    call("GET", "/docs/swagger-ui-bundle.js", Query::Nothing, "", "GET, HEAD"),
];

impl Call {
    /// The path with good ids in it.
    pub(crate) fn filled(&self) -> String {
        filled(self.path)
    }

    /// Whether the body may be left out. An empty body makes a follow or a reaction count from now on. A mute needs no
    /// body.
    pub(crate) fn body_optional(&self) -> bool {
        self.path.ends_with("/{target}") || self.path == REACTION
    }
}

/// A path with good ids in the places of its slots.
pub(crate) fn filled(path: &str) -> String {
    [("{uid}", "1"), ("{target}", "66"), ("{content_id}", "10"), ("{kind}", "like"), ("{topic}", "t%2F1")]
        .iter()
        .fold(path.to_owned(), |path, (slot, value)| path.replace(slot, value))
}

impl Query {
    /// The required query parameters.
    pub(crate) fn needed(self) -> &'static str {
        match self {
            Self::Ids => "ids=10",
            Self::Targets => "targets=2",
            Self::ContentId => "content_id=10",
            _ => "",
        }
    }
}
