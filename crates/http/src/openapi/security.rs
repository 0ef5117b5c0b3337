//! The credentials that each call takes, as its endpoint states them.

use serde_json::{Value, json};

use crate::guards::auth::{ACCESS_TOKEN, Permit, TokenUse};

// The names differ from those of the schemas also without case: generators of clients make one type of two such names.
const KEY: &str = "fullKey";
const READ_KEY: &str = "readKey";
const METRICS_KEY: &str = "metricsKey";
const USER_TOKEN: &str = "userToken";
const TOKEN_IN_QUERY: &str = "userTokenInQuery";

/// The kinds of credentials with their names.
pub(super) fn schemes() -> Value {
    let bearer = |about: &str| json!({"type": "http", "scheme": "bearer", "description": about});
    let user = "A JSON Web Token of a user, signed by the application (HS256 or EdDSA). `own`: of the user `uid` of the path; \
                `visible`: also of others, if `auth.users_read` is `visible`; any other word: if `auth.users_act` has it";
    let in_query = "The same token in the address, because `EventSource` of browsers can set no header";
    json!({
        KEY: bearer("A key of `auth.keys`, for all calls. A server without keys takes every request"),
        READ_KEY: bearer("A key of `auth.read_keys`, for calls that change nothing"),
        METRICS_KEY: bearer("A key of `auth.metrics_keys`, for the metrics"),
        USER_TOKEN: {"type": "http", "scheme": "bearer", "bearerFormat": "JWT", "description": user},
        TOKEN_IN_QUERY: {"type": "apiKey", "in": "query", "name": ACCESS_TOKEN, "description": in_query}
    })
}

/// The kinds that a call takes, each alone; none for a call that needs none. That of tokens has the word of their use.
pub(super) fn taken_by(permit: Permit) -> Vec<Value> {
    let Permit { open, read, metrics, users, uid: _, in_query } = permit;
    let kinds = [
        (KEY, true),
        (READ_KEY, read),
        (METRICS_KEY, metrics),
        (USER_TOKEN, users.is_some()),
        (TOKEN_IN_QUERY, in_query),
    ];
    let taken = kinds.into_iter().filter(|(_, is_taken)| *is_taken && !open);
    let words = |name| users.filter(|_| name == USER_TOKEN).map(TokenUse::word).into_iter().collect::<Vec<_>>();
    taken.map(|(name, _)| json!({name: words(name)})).collect()
}
