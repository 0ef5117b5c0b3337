//! Barriers: set, remove, list.

use super::relations::{BOTH, USER, own_list};
use super::show::RelationItem;
use crate::call::Call;
use crate::endpoint::{self, Endpoint, group};
use crate::pools::Wants;
use crate::wire::body::Nothing;
use crate::wire::reply;
use crate::wire::reply::Answer;
use config::Act;
use feed::{Feed, SetBarrier, ids};
use model::error::Result;
use model::{Barrier, Side};

/// The calls of this file.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let change = |call: Endpoint, barrier| {
        let act = if barrier == Barrier::Block { Act::Block } else { Act::Mute };
        call.for_users(act).answers::<RelationItem>(200, "The relation after the change", RelationItem::example())
    };
    let list = |path, barrier, id, summary| own_list(path, Side::Barred(barrier), id, summary);
    let put = |path, barrier, id, summary| {
        change(endpoint::put(path, move |call| set(call, barrier, true), id, summary), barrier)
            .takes_nothing()
            .refuses(&barrier.refusals())
    };
    let delete = |path, barrier, id, summary| {
        change(endpoint::delete(path, move |call| set(call, barrier, false), id, summary), barrier)
    };
    let calls = [
        list("/v1/users/{uid}/mutes", Barrier::Mute, "listMutes", "The users that a user has muted"),
        put("/v1/users/{uid}/mutes/{target}", Barrier::Mute, "mute", "Mute a user")
            .about("The timeline of `uid` no longer shows items of `target`.")
            .leads_to("unmute", BOTH)
            .leads_to("listMutes", USER)
            .leads_to("getTimeline", USER),
        delete("/v1/users/{uid}/mutes/{target}", Barrier::Mute, "unmute", "Unmute a user")
            .about("The timeline of `uid` shows the items of `target` again, at their old places.")
            .leads_to("mute", BOTH),
        list(
            "/v1/users/{uid}/hidden-from",
            Barrier::Hide,
            "listHiddenFrom",
            "The users from whom a user hides its content",
        ),
        put("/v1/users/{uid}/hidden-from/{target}", Barrier::Hide, "hide", "Hide content from a user")
            .about("The timeline of `target` no longer shows items of `uid`.")
            .leads_to("unhide", BOTH)
            .leads_to("listHiddenFrom", USER),
        delete("/v1/users/{uid}/hidden-from/{target}", Barrier::Hide, "unhide", "Stop hiding content from a user")
            .about("The timeline of `target` shows the items of `uid` again, at their old places.")
            .leads_to("hide", BOTH),
        list("/v1/users/{uid}/blocks", Barrier::Block, "listBlocks", "The users that a user has blocked"),
        put("/v1/users/{uid}/blocks/{target}", Barrier::Block, "block", "Block a user")
            .about(
                "Ends the follows between the two. From then on neither sees the content of the other in a timeline, or \
                 follows the other; with a user token, neither reacts to items of the other.",
            )
            .leads_to("unblock", BOTH)
            .leads_to("listBlocks", USER),
        delete("/v1/users/{uid}/blocks/{target}", Barrier::Block, "unblock", "Unblock a user")
            .about("No follow comes back. A block of `uid` by `target` stays.")
            .leads_to("block", BOTH),
    ];
    group("relations", calls)
}

async fn set(mut call: Call, barrier: Barrier, raised: bool) -> Answer {
    let (user, target) = (call.user()?, call.target()?);
    call.no_query()?;
    if raised {
        let Nothing {} = call.json_or_default().await?;
    }
    let sight = call.sight();
    let set = move |feed: &Feed| -> Result<_> {
        ids::may_name(feed, &user, [&target], sight)?;
        let relation = feed.submit(SetBarrier { user: user.clone(), target: target.clone(), barrier, raised })?;
        RelationItem::new(feed.read(), user, target, relation)
    };
    reply::ok(&call.run(Wants::Change, set).await?)
}
