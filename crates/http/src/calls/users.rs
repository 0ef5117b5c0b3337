//! `/v1/users/{uid}`: profiles with their counts.

use serde_json::value::RawValue;

use super::relations::USER;
use crate::prelude::*;
use feed::users::{self, Late};
use feed::visibility;
use model::{JsonObject, MAX_NICKNAME, NewProfile, Profile, UserCounts};

/// The orders of a list without a search.
const ORDERS: [(&str, Late); 3] = [("recent", Late::Recent), ("followers", Late::Followers), ("new", Late::New)];

endpoints! { "users" = "Profiles, counts and settings of users":
    /// The profile and the counts of a user
    ///
    /// Every id is a user. A field without a value is `null`. With a user token, the profile of a suspended user is
    /// 404, that of another user between whom and the token's user a hide or a block lies, and that of another user
    /// of whom the server has neither a profile nor a count.
    get("/v1/users/{uid}", show, "getUser")
        .for_users(TokenUse::Visible)
        .refuses(&[Code::UserNotFound, Code::UserSuspended])
        .answers::<ProfileBody<'_>>(200, "The profile");

    /// Set the profile of a user
    ///
    /// The body replaces the whole profile: a missing field is `null` afterwards.
    put("/v1/users/{uid}", replace, "putUser")
        .takes::<NewProfile>()
        .answers::<ProfileBody<'_>>(200, "The profile after the change")
        .leads_to(&["getUser"], USER);

    /// Look for users
    ///
    /// With `search`, the users whose id, or a word of whose nickname, begins with this text. Capitals and accents in
    /// nicknames make no difference. An id that is a number is found whole only. The search goes through the first 1000
    /// ids, among them those of items, and the first 1000 words that begin so. Without `search`, those of the newest
    /// changes: in the order of these (`recent`), or by followers (`followers`), or those whose names came last first
    /// (`new`). Ids that are numbers tell no time.
    get("/v1/admin/users", search, "listUsers")
        .query([
            parameters::optional("search", "The beginning of an id or of a word of a nickname", schemas::beginning()),
            parameters::user_order(),
            parameters::number(&query::LIMIT),
        ])
        .answers_items::<ProfileBody<'_>>(200, "ProfileList", "The users");
}

answers! {
    /// The profile of a user. A field without a value is `null`.
    struct ProfileBody<'a> as Profile (user: &ExternalId, of: &'a Profile, counts: UserCounts) -> Result {
        let raw = |text| serde_json::from_str(text).map_err(|e| Error::Corrupt(format!("profile {user}: {e}")));
        (user_id: ExternalId) = user.clone();
        #[schema(required)]
        (nickname: Option<&'a str>) = of.nickname.as_deref();
        #[schema(required)]
        (avatar: Option<&'a str>) = of.avatar.as_deref();
        #[schema(required, value_type = Option<JsonObject>)]
        (extra: Option<&'a RawValue>) = of.extra.as_deref().map(raw).transpose()?;
        (counts: UserCounts) = counts;
    }
}

/// `GET /v1/users/{uid}`
async fn show(call: Call) -> Answer {
    let user = call.user()?;
    let viewer = call.viewer(None);
    let is_own = viewer.as_ref() == Some(&user);
    let look = move |read: Read<'_>, user| {
        let is_seen = viewer.is_none() || visibility::sees_user(read.seen_by(viewer.as_ref())?, user)?;
        match users::user(read, user)? {
            _ if !is_seen && is_own => Err(Code::UserSuspended.into()),
            // A user without anything looks like one of whom the viewer sees nothing.
            found if !is_seen || viewer.is_some() && !is_own && found == Default::default() => {
                Err(Code::UserNotFound.into())
            }
            found => Ok(found),
        }
    };
    let (profile, counts) = call.read_of(&user, look).await?;
    reply::ok(&ProfileBody::new(&user, &profile, counts)?)
}

/// `GET /v1/admin/users`
async fn search(call: Call) -> Answer {
    let query = call.query()?;
    let limit = query.number(&query::LIMIT)?;
    let text = query.text("search").map(str::to_owned);
    let order = query.choice("order", &ORDERS)?;
    if text.is_some() && order.is_some() {
        return Err(invalid_parameter("order: not together with search"));
    }
    let is_searchable =
        |text: &String| (1..=MAX_NICKNAME).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    if text.as_ref().is_some_and(|text| !is_searchable(text)) {
        let expected = format_args!("search: expected 1 to {MAX_NICKNAME} characters without control characters");
        return Err(invalid_parameter(expected));
    }
    let look = move |feed: &Feed| match &text {
        Some(text) => users::search(feed.read(), text, limit),
        None => users::of_late(feed.read(), order.unwrap_or(Late::Recent), limit),
    };
    let found = call.run(Wants::Read, look).await?;
    let profiles = found.iter().map(|(user, profile, counts)| ProfileBody::new(user, profile, *counts));
    reply::items(&profiles.collect::<Result<Vec<_>>>()?)
}

/// `PUT /v1/users/{uid}`
async fn replace(mut call: Call) -> Answer {
    let user = call.user()?;
    let new_item: NewProfile = call.json().await?;
    let id = user.clone();
    let (profile, counts) = call.run(Wants::Change, move |feed| users::put_profile(feed, id, new_item.into())).await?;
    reply::ok(&ProfileBody::new(&user, &profile, counts)?)
}
