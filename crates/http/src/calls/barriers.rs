//! Barriers: set, remove, list.

use super::prelude::*;
use super::relations::{BOTH, USER, changes_relation, own_list, relate};
use crate::wire::body::Nothing;
use feed::SetBarrier;
use model::{Barrier, Side};

/// The calls of this file.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let act = |barrier| if barrier == Barrier::Block { Act::Block } else { Act::Mute };
    let raise = |path, barrier: Barrier, id, summary| {
        changes_relation(put(path, move |call| set(call, barrier, true), id, summary), act(barrier))
            .takes_nothing()
            .refuses(&barrier.refusals())
    };
    let lift = |path, barrier, id, summary| {
        changes_relation(delete(path, move |call| set(call, barrier, false), id, summary), act(barrier))
    };
    let list = |path, barrier, id, summary| own_list(path, Side::Barred(barrier), id, summary);
    let calls = [
        list("/v1/users/{uid}/mutes", Barrier::Mute, "listMutes", "The users that a user has muted"),
        raise("/v1/users/{uid}/mutes/{target}", Barrier::Mute, "mute", "Mute a user")
            .about("The timeline of `uid` no longer shows items of `target`.")
            .leads_to(&["unmute"], BOTH)
            .leads_to(&["listMutes", "getTimeline"], USER),
        lift("/v1/users/{uid}/mutes/{target}", Barrier::Mute, "unmute", "Unmute a user")
            .about("The timeline of `uid` shows the items of `target` again, at their old places.")
            .leads_to(&["mute"], BOTH),
        list(
            "/v1/users/{uid}/hidden-from",
            Barrier::Hide,
            "listHiddenFrom",
            "The users from whom a user hides its content",
        ),
        raise("/v1/users/{uid}/hidden-from/{target}", Barrier::Hide, "hide", "Hide content from a user")
            .about("The timeline of `target` no longer shows items of `uid`.")
            .leads_to(&["unhide"], BOTH)
            .leads_to(&["listHiddenFrom"], USER),
        lift("/v1/users/{uid}/hidden-from/{target}", Barrier::Hide, "unhide", "Stop hiding content from a user")
            .about("The timeline of `target` shows the items of `uid` again, at their old places.")
            .leads_to(&["hide"], BOTH),
        list("/v1/users/{uid}/blocks", Barrier::Block, "listBlocks", "The users that a user has blocked"),
        raise("/v1/users/{uid}/blocks/{target}", Barrier::Block, "block", "Block a user")
            .about(
                "Ends the follows between the two. From then on neither sees the content of the other in a timeline, or \
                 follows the other; with a user token, neither reacts to items of the other.",
            )
            .leads_to(&["unblock"], BOTH)
            .leads_to(&["listBlocks"], USER),
        lift("/v1/users/{uid}/blocks/{target}", Barrier::Block, "unblock", "Unblock a user")
            .about("No follow comes back. A block of `uid` by `target` stays.")
            .leads_to(&["block"], BOTH),
    ];
    group("relations", calls)
}

async fn set(mut call: Call, barrier: Barrier, raised: bool) -> Answer {
    if raised {
        let Nothing {} = call.json().await?;
    }
    let set = move |feed: &Feed, user, target| feed.submit(SetBarrier { user, target, barrier, raised });
    relate(&call, "target", set).await
}
