//! Who may make each call.

use std::collections::BTreeSet;

use super::*;
use crate::ENDPOINTS;
use crate::wire::problem::Problem;
use config::Act;

/// Calls that only the application and its operators make. If a new endpoint is not for users, it belongs here;
/// otherwise it needs `.for_users()`, or `.open()` and a place in the list below.
const FOR_KEYS_ONLY: [&str; 41] = [
    "GET /v1/admin/alerts",
    "GET /v1/admin/history",
    "GET /v1/admin/keys",
    "GET /v1/admin/settings",
    "GET /v1/admin/users",
    "POST /v1/admin/tokens",
    "GET /v1/admin/webhooks",
    "DELETE /v1/users/{uid}",
    "GET /v1/admin/erasures",
    "GET /v1/changes",
    "DELETE /v1/admin/backups/{name}",
    "DELETE /v1/content/{content_id}",
    "DELETE /v1/users/{source}/content/{content_id}",
    "DELETE /v1/users/{uid}/suspension",
    "GET /metrics",
    "GET /v1/admin/backups",
    "GET /v1/admin/backups/{name}",
    "DELETE /v1/admin/standby/copies/{id}",
    "DELETE /v1/admin/standby/seal",
    "GET /v1/admin/standby/copies/{id}/{file}",
    "GET /v1/admin/standby/log",
    "POST /v1/admin/standby/copies",
    "POST /v1/admin/standby/handover",
    "POST /v1/admin/standby/seal",
    "PUT /v1/admin/backups/{name}/copy",
    "PUT /v1/admin/standby/progress",
    "GET /v1/admin/cluster",
    "GET /v1/admin/cluster/digests/{id}",
    "GET /v1/admin/stats",
    "GET /v1/admin/users/{uid}/timeline/explain",
    "GET /v1/admin/users/{uid}/timeline/verify",
    "GET /v1/users/{uid}/suspension",
    "PATCH /v1/content/{content_id}",
    "POST /v1/admin/backups",
    "POST /v1/admin/cluster/digests",
    "POST /v1/content",
    "POST /v1/content/batch",
    "POST /v1/content/{content_id}/restore",
    "PUT /v1/users/{uid}",
    "PUT /v1/users/{uid}/settings",
    "PUT /v1/users/{uid}/suspension",
];

/// Calls that need no credentials. Their answers tell nothing of users and content.
const OPEN: [&str; 10] = [
    "GET /",
    "GET /console/{version}/{file}",
    "GET /docs",
    "GET /docs/",
    "GET /docs/start.js",
    "GET /docs/swagger-ui-bundle.js",
    "GET /docs/swagger-ui.css",
    "GET /healthz",
    "GET /openapi.json",
    "GET /readyz",
];

fn names(which: impl Fn(&Permit) -> bool) -> BTreeSet<String> {
    let chosen = ENDPOINTS.iter().filter(|call| which(&call.permit));
    chosen.map(|call| format!("{} {}", call.method, call.path)).collect()
}

#[test]
fn it_is_decided_who_may_make_each_call() {
    let listed = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    let undecided = "decide who may make the calls on the left that are not on the right";
    assert_eq!(names(|permit| !permit.open && permit.users.is_none()), listed(&FOR_KEYS_ONLY), "{undecided}");
    assert_eq!(names(|permit| permit.open), listed(&OPEN), "{undecided}");
    // What is for metrics keys tells nothing of users and content; tests/docs.py compares the calls for users with
    // docs/use/access.md.
    assert_eq!(names(|permit| permit.metrics), BTreeSet::from(["GET /metrics".to_owned()]));
    let stream = "GET /v1/users/{uid}/stream".to_owned();
    assert_eq!(names(|permit| permit.in_query), BTreeSet::from([stream.clone()]));
    // Each change for users is an act, and acts are for each a setting; without a user in the path, the handler checks it.
    let acts = names(|permit| matches!(permit.users, Some(TokenUse::Act(_))));
    let changes = names(|permit| permit.users.is_some()).into_iter().filter(|name| !name.starts_with("GET "));
    assert_eq!(acts, changes.collect());
    let elsewhere = names(|permit| matches!(permit.users, Some(TokenUse::Act(_))) && permit.uid.is_none());
    assert_eq!(elsewhere, BTreeSet::from(["POST /v1/content/{content_id}/comments".to_owned()]));
    for act in Act::ALL.iter().copied() {
        assert!(!names(|permit| permit.users == Some(act.into())).is_empty(), "no call is for {act:?}");
    }
    assert!(Act::ALL.iter().all(|act| Act::usual().contains(act) != (*act == Act::Comment)));
    let reads = names(|permit| !permit.open && !permit.read);
    let reads: BTreeSet<_> = reads.into_iter().filter(|name| name.starts_with("GET ")).collect();
    let whole = [
        "GET /v1/admin/backups/{name}",
        "GET /v1/admin/keys",
        "GET /v1/admin/settings",
        "GET /v1/admin/standby/copies/{id}/{file}",
        "GET /v1/admin/standby/log",
    ];
    assert_eq!(reads, whole.map(str::to_owned).into_iter().chain([stream]).collect(), "not for read keys");
}

#[test]
fn an_endpoint_that_says_nothing_is_for_keys() {
    let handler = async |_: Call| Err(Problem::route_not_found(None));
    for (new, changes_nothing) in
        [(get("/v1/users/{uid}/new", handler, "", ""), true), (post("/v1/new", handler, "", ""), false)]
    {
        assert_eq!(new.permit, Permit { read: changes_nothing, ..Permit::default() });
    }
}
