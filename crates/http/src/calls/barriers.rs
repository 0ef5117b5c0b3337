//! Mutes and hides: set, remove, list.

use super::relations::{BOTH, USER, example, list_members};
use super::show::{Member, RelationItem};
use crate::call::Call;
use crate::endpoint::{Endpoint, delete, get, group, put};
use crate::pools::Wants;
use crate::wire::body::Nothing;
use crate::wire::reply;
use crate::wire::reply::Answer;
use feed::Feed;
use model::error::{Code, Result};
use model::{Barrier, Side};

/// The calls of this file.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let change =
        |call: Endpoint| call.for_users().answers::<RelationItem>(200, "The relation after the change", example());
    let list = |call: Endpoint| call.for_users().answers_pages::<Member>("UserPage", Member::example_page());
    let calls = [
        list(get("/v1/users/{uid}/mutes", muted, "listMutes", "The users that a user has muted")),
        change(put("/v1/users/{uid}/mutes/{target}", mute, "mute", "Mute a user"))
            .about("The timeline of `uid` no longer shows items of `target`.")
            .takes_nothing()
            .refuses(&[Code::SelfMute, Code::MuteLimit])
            .leads_to("unmute", BOTH)
            .leads_to("listMutes", USER)
            .leads_to("getTimeline", USER),
        change(delete("/v1/users/{uid}/mutes/{target}", unmute, "unmute", "Unmute a user"))
            .about("The timeline of `uid` shows the items of `target` again, at their old places.")
            .leads_to("mute", BOTH),
        list(get(
            "/v1/users/{uid}/hidden-from",
            hidden_from,
            "listHiddenFrom",
            "The users from whom a user hides its content",
        )),
        change(put("/v1/users/{uid}/hidden-from/{target}", hide, "hide", "Hide content from a user"))
            .about("The timeline of `target` no longer shows items of `uid`.")
            .takes_nothing()
            .refuses(&[Code::SelfHide, Code::HideLimit])
            .leads_to("unhide", BOTH)
            .leads_to("listHiddenFrom", USER),
        change(delete("/v1/users/{uid}/hidden-from/{target}", unhide, "unhide", "Stop hiding content from a user"))
            .about("The timeline of `target` shows the items of `uid` again, at their old places.")
            .leads_to("hide", BOTH),
    ];
    group("relations", calls)
}

/// `PUT /v1/users/{uid}/mutes/{target}`
pub(crate) async fn mute(call: Call) -> Answer {
    set(call, Barrier::Mute, true).await
}

/// `DELETE /v1/users/{uid}/mutes/{target}`
pub(crate) async fn unmute(call: Call) -> Answer {
    set(call, Barrier::Mute, false).await
}

/// `GET /v1/users/{uid}/mutes`
pub(crate) async fn muted(call: Call) -> Answer {
    list(call, Side::Muted).await
}

/// `PUT /v1/users/{uid}/hidden-from/{target}`
pub(crate) async fn hide(call: Call) -> Answer {
    set(call, Barrier::Hide, true).await
}

/// `DELETE /v1/users/{uid}/hidden-from/{target}`
pub(crate) async fn unhide(call: Call) -> Answer {
    set(call, Barrier::Hide, false).await
}

/// `GET /v1/users/{uid}/hidden-from`
pub(crate) async fn hidden_from(call: Call) -> Answer {
    list(call, Side::HiddenFrom).await
}

async fn set(mut call: Call, barrier: Barrier, raised: bool) -> Answer {
    let (user, target) = (call.user()?, call.target()?);
    call.no_query()?;
    if raised {
        let Nothing {} = call.json_or_default().await?;
    }
    let sight = call.sight();
    let set = move |feed: &Feed| -> Result<_> {
        feed.may_name(&user, [&target], sight)?;
        let relation = feed.set_barrier(user.clone(), target.clone(), barrier, raised)?;
        Ok(RelationItem::new(user, target, relation))
    };
    reply::ok(&call.run(Wants::Change, set).await?)
}

async fn list(call: Call, side: Side) -> Answer {
    let user = call.user()?;
    let [limit, before, after] = call.query(["limit", "before", "after"])?;
    list_members(&call, user, [limit, before, after, None], side).await
}
