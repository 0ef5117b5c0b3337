//! The senders who may make each call.

use std::collections::BTreeSet;

use super::*;
use crate::ENDPOINTS;
use crate::guards::auth::Permit;
use crate::wire::problem::route_not_found;
use config::Act;

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
    let chosen = ENDPOINTS.iter().map(|call| &call.info).filter(|call| which(&call.permit));
    chosen.map(|call| format!("{} {}", call.method, call.path)).collect()
}

#[test]
fn it_is_decided_who_may_make_each_call() {
    let listed = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(names(|permit| permit.open), listed(&OPEN), "decide whether these need no credentials");
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
    let whole =
        ["GET /v1/admin/backups/{name}", "GET /v1/admin/keys", "GET /v1/admin/settings", "GET /v1/admin/standby/log"];
    assert_eq!(reads, whole.map(str::to_owned).into_iter().chain([stream]).collect(), "not for read keys");
}

#[test]
fn an_endpoint_that_says_nothing_is_for_keys() {
    let handler = async |_: Call| Err(route_not_found(None));
    for (new, changes_nothing) in
        [(get("/v1/users/{uid}/new", handler, "", ""), true), (post("/v1/new", handler, "", ""), false)]
    {
        assert_eq!(new.info.permit, Permit { read: changes_nothing, ..Permit::default() });
    }
}
