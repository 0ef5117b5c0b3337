//! The calls of `http/relations.rs`.

use serde_json::{Value, json};
use utoipa::openapi::schema::ArrayBuilder;

use super::call::{Call, Shape, delete, get, post, put};
use super::{parameters, schemas};
use crate::error::Code;
use crate::http::relations::MAX_BATCH;
use crate::http::show::{Member, RelationItem};

/// What leads from a relation to the calls about it.
pub(super) const BOTH: &[(&str, &str)] = &[("uid", "$response.body#/user_id"), ("target", "$response.body#/target_id")];
pub(super) const USER: &[(&str, &str)] = &[("uid", "$response.body#/user_id")];

/// A relation.
pub(super) fn example() -> Value {
    json!({
        "user_id": "111", "target_id": "200", "relation": "following", "since": 1_689_089_522_000_u64,
        "muted": false, "hidden": false
    })
}

/// A page of users.
pub(super) fn page_of_users(call: Call) -> Call {
    let page = json!({
        "items": [{"user_id": "200", "since": 1_689_089_522_000_u64}],
        "next": null, "prev": "1689089522000-200"
    });
    call.query(parameters::page())
        .answers(200, "A page, newest first", Shape::of::<Member>().page("UserPage"), page)
        .header("Link")
}

fn list(path: &'static str, id: &'static str, summary: &'static str) -> Call {
    let viewer = schemas::text(&schemas::id_pattern());
    page_of_users(get(path, id, summary))
        .query([parameters::optional("viewer", "Adds this user's `relation` to each", viewer)])
        .leads_to("getTimeline", &[("uid", "$response.body#/items/0/user_id")])
}

pub(super) fn calls() -> Vec<Call> {
    let relation = || Shape::of::<RelationItem>();
    let relations = || Shape::of::<RelationItem>().items("RelationList");
    let ids = |about: &str| {
        let ids = ArrayBuilder::new().items(schemas::id()).max_items(Some(MAX_BATCH));
        ids.description(Some(about)).build()
    };
    let batch = schemas::closed()
        .property("follow", ids("Whom to follow; no user twice in both lists"))
        .property("unfollow", ids("Whom to follow no longer"))
        .description(Some("1 to 1,000 users in all"))
        .min_properties(Some(1))
        .build();
    let calls = vec![
        put("/v1/users/{uid}/following/{target}", "follow", "Follow a user")
            .about("The timeline has the target's earlier items at once. Following again changes nothing.")
            .optional_body(schemas::since(), json!({"since": 1_689_089_522_000_u64}))
            .answers(200, "The relation after the change", relation(), example())
            .problem(Code::TimeAhead)
            .problem(Code::SelfFollow)
            .problem(Code::FollowLimit)
            .leads_to("unfollow", BOTH)
            .leads_to("getTimeline", USER)
            .leads_to("listFollowing", USER)
            .leads_to("listFriends", USER),
        delete("/v1/users/{uid}/following/{target}", "unfollow", "Unfollow a user")
            .answers(200, "The relation after the change", relation(), example())
            .leads_to("follow", BOTH),
        post(
            "/v1/users/{uid}/following/batch",
            "changeFollowing",
            "Follow and unfollow up to 1,000 users, all or none",
        )
        .body(Shape::named("FollowingChange", batch), json!({"follow": ["200", "211"], "unfollow": ["222"]}))
        .answers(
            200,
            "The relations after the change, in the order of the call",
            relations(),
            json!({"items": [example()]}),
        )
        .problem(Code::SelfFollow)
        .problem(Code::FollowLimit),
        list("/v1/users/{uid}/following", "listFollowing", "Those whom the user follows"),
        list("/v1/users/{uid}/followers", "listFollowers", "Those who follow the user"),
        list("/v1/users/{uid}/friends", "listFriends", "Those who follow the user and whom the user follows")
            .about("`since` is when the second follow came."),
        get("/v1/users/{uid}/relations", "listRelations", "The relations to up to 100 users")
            .query([parameters::ids("targets", "To whom: up to 100 ids with commas between them", "200,211")])
            .answers(200, "In the order of the targets", relations(), json!({"items": [example()]})),
    ];
    calls.into_iter().map(|call| call.tag("relations")).collect()
}
