//! `/v1/users/{uid}`: profiles with their counts.

use serde_json::json;

use super::call::{Answer, Call};
use super::endpoint::{self, Endpoint, get, group};
use super::pools::Wants;
use super::relations::USER;
use super::reply;
use super::show::ProfileBody;
use crate::model::ProfileDraft;

/// The calls of this file.
pub(super) fn endpoints() -> Vec<Endpoint> {
    let new = json!({"nickname": "Ebba", "avatar": "https://example.org/ebba.jpg", "extra": {"town": "Husum"}});
    let profile = json!({
        "user_id": "111", "nickname": "Ebba", "avatar": "https://example.org/ebba.jpg", "extra": {"town": "Husum"},
        "counts": {"following": 5, "followers": 2, "friends": 1, "content": 12}
    });
    let calls = [
        get("/v1/users/{uid}", show, "getUser", "The profile and the counts of a user")
            .about("Every id is a user. A field without a value is `null`.")
            .answers::<ProfileBody<'_>>(200, "The profile", profile.clone()),
        endpoint::put("/v1/users/{uid}", put, "putUser", "Set the profile of a user")
            .about("The body replaces the whole profile: a missing field is `null` afterwards.")
            .takes::<ProfileDraft>(new)
            .answers::<ProfileBody<'_>>(200, "The profile after the change", profile)
            .leads_to("getUser", USER),
    ];
    group("users", calls)
}

/// `GET /v1/users/{uid}`
pub(super) async fn show(call: Call) -> Answer {
    let user = call.user()?;
    call.no_query()?;
    let (profile, counts) = call.read(move |feed, tier| feed.user(user, tier)).await?;
    reply::ok(&ProfileBody::new(user, &profile, counts)?)
}

/// `PUT /v1/users/{uid}`
pub(super) async fn put(mut call: Call) -> Answer {
    let user = call.user()?;
    call.no_query()?;
    let draft: ProfileDraft = call.json().await?;
    let (profile, counts) = call.run(Wants::Change, move |feed| feed.put_profile(user, draft.into())).await?;
    reply::ok(&ProfileBody::new(user, &profile, counts)?)
}
