//! The calls that each kind of credential may make: one table, which the gate, the OpenAPI document and the table in
//! docs/access.md share. A call that no rule mentions needs a full key, or a read key if it changes nothing.

/// Calls that need no credentials, because their answers have no data.
const OPEN: [&str; 11] = [
    "/",
    "/console/{version}/{file}",
    "/console/{version}/{folder}/{file}",
    "/docs",
    "/docs/",
    "/docs/start.js",
    "/docs/swagger-ui.css",
    "/docs/swagger-ui-bundle.js",
    "/healthz",
    "/openapi.json",
    "/readyz",
];

/// Calls that a metrics key may make, too.
const FOR_METRICS: [&str; 1] = ["/metrics"];

/// Calls that change no content, and that a read key may not make all the same: a backup has everything, and a stream
/// makes its user online and is one of the few that the user may have.
const NOT_FOR_READ_KEYS: [&str; 2] = ["/v1/admin/backups/{name}", STREAM];

/// Calls that a user token may make, too, if its user is the `{uid}` of the path. GET includes HEAD.
const FOR_USERS: [(&[&str], &str); 20] = [
    (&["GET"], "/v1/users/{uid}"),
    (&["GET"], "/v1/users/{uid}/timeline"),
    (&["GET"], "/v1/users/{uid}/timeline/unread"),
    (&["GET", "PUT"], "/v1/users/{uid}/marker"),
    (&["GET"], STREAM),
    (&["GET", "PUT"], "/v1/users/{uid}/presence"),
    (&["GET"], "/v1/users/{uid}/content"),
    (&["GET"], "/v1/users/{uid}/comments"),
    (&["GET"], "/v1/users/{uid}/reactions/{kind}"),
    (&["GET"], "/v1/users/{uid}/relations"),
    (&["GET"], "/v1/users/{uid}/following"),
    (&["PUT", "DELETE"], "/v1/users/{uid}/following/{target}"),
    (&["POST"], "/v1/users/{uid}/following/batch"),
    (&["GET"], "/v1/users/{uid}/followers"),
    (&["GET"], "/v1/users/{uid}/friends"),
    (&["GET"], "/v1/users/{uid}/mutes"),
    (&["PUT", "DELETE"], "/v1/users/{uid}/mutes/{target}"),
    (&["GET"], "/v1/users/{uid}/hidden-from"),
    (&["PUT", "DELETE"], "/v1/users/{uid}/hidden-from/{target}"),
    (&["PUT", "DELETE"], "/v1/content/{content_id}/reactions/{kind}/{uid}"),
];

/// Changes among them that touch only the state of the user's own screens. The others touch what others see or count.
const OWN_STATE: [&str; 2] = ["/v1/users/{uid}/marker", "/v1/users/{uid}/presence"];

/// The call whose token may be in its address, because `EventSource` of browsers can set no header.
const STREAM: &str = "/v1/users/{uid}/stream";

/// The credentials that allow a call, besides a full key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Permit {
    /// None are needed.
    pub(crate) open: bool,
    /// A read key.
    pub(crate) read: bool,
    /// A metrics key.
    pub(crate) metrics: bool,
    /// The token of the user in this segment of the path.
    pub(crate) own: Option<usize>,
    /// Only if tokens may act (`auth.users_act`).
    pub(crate) acts: bool,
    /// The token may be in the query.
    pub(crate) in_query: bool,
}

impl Permit {
    /// For an endpoint, by its method and its path with names of parameters in braces.
    pub(crate) fn of(method: &str, path: &str) -> Self {
        let for_users = FOR_USERS.iter().any(|(methods, known)| *known == path && methods.contains(&method));
        Self {
            open: OPEN.contains(&path),
            metrics: FOR_METRICS.contains(&path),
            own: path.split('/').position(|part| part == "{uid}").filter(|_| for_users),
            acts: for_users && method != "GET" && !OWN_STATE.contains(&path),
            in_query: path == STREAM,
            ..Self::unknown(method == "GET" && !NOT_FOR_READ_KEYS.contains(&path))
        }
    }

    /// For a path without an endpoint, or a method that the path does not have.
    pub(crate) fn unknown(changes_nothing: bool) -> Self {
        Self { read: changes_nothing, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::ENDPOINTS;

    /// Calls that only the application and its operators make. If a new endpoint is not for users, it belongs here;
    /// otherwise it needs a rule.
    const FOR_KEYS_ONLY: [&str; 23] = [
        "DELETE /v1/admin/backups/{name}",
        "DELETE /v1/content/{content_id}",
        "GET /metrics",
        "GET /v1/admin/backups",
        "GET /v1/admin/backups/{name}",
        "GET /v1/admin/cluster",
        "GET /v1/admin/cluster/digests/{id}",
        "GET /v1/admin/stats",
        "GET /v1/admin/users/{uid}/timeline/explain",
        "GET /v1/admin/users/{uid}/timeline/verify",
        "GET /v1/content",
        "GET /v1/content/{content_id}",
        "GET /v1/content/{content_id}/comments",
        "GET /v1/content/{content_id}/reactions/{kind}",
        "GET /v1/topics/{topic}/content",
        "PATCH /v1/content/{content_id}",
        "POST /v1/admin/backups",
        "POST /v1/admin/cluster/digests",
        "POST /v1/content",
        "POST /v1/content/batch",
        "POST /v1/content/{content_id}/comments",
        "POST /v1/content/{content_id}/restore",
        "PUT /v1/users/{uid}",
    ];

    #[test]
    fn each_endpoint_has_a_rule_or_is_for_keys_only() {
        let names = |which: &dyn Fn(&Permit) -> bool| -> BTreeSet<String> {
            let chosen = ENDPOINTS.iter().filter(|call| which(&Permit::of(call.method, call.path)));
            chosen.map(|call| format!("{} {}", call.method, call.path)).collect()
        };
        let without_rule = names(&|permit| !permit.open && permit.own.is_none());
        let listed: BTreeSet<_> = FOR_KEYS_ONLY.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(without_rule, listed, "decide who may make the calls on the left that are not on the right");
        let rules = FOR_USERS.iter().flat_map(|(methods, path)| methods.iter().map(move |m| format!("{m} {path}")));
        assert_eq!(names(&|permit| permit.own.is_some()), rules.collect(), "a rule for no endpoint");
        assert_eq!(names(&|permit| permit.open).len(), OPEN.len());
        assert_eq!(names(&|permit| permit.metrics).len(), FOR_METRICS.len());
        assert_eq!(names(&|permit| permit.in_query), BTreeSet::from([format!("GET {STREAM}")]));
    }

    #[test]
    fn no_rule_means_a_key() {
        for method in ["GET", "POST"] {
            let permit = Permit::of(method, "/v1/users/{uid}/new");
            assert_eq!(permit, Permit { read: method == "GET", ..Permit::default() });
        }
        assert!(NOT_FOR_READ_KEYS.iter().all(|path| !Permit::of("GET", path).read));
    }
}
