//! Restrictions: set, remove, list.

use super::relations::{BOTH, USER, changes_relation, list, own_list, relate};
use crate::prelude::*;
use feed::SetRestriction;
use model::{Restriction, Side};

endpoints! { "relations":
    let mute = |call| changes_relation(Act::Mute, call);
    let block = |call| changes_relation(Act::Block, call);

    /// The users that a user has muted
    get("/v1/users/{uid}/mutes", |call| list(call, Side::Restricted(Restriction::Mute)), "listMutes").with(own_list);

    /// Mute a user
    ///
    /// The timeline of `uid` no longer shows items of `target`.
    put("/v1/users/{uid}/mutes/{target}", |call| set(call, Restriction::Mute, true), "mute")
        .with(mute)
        .takes_nothing()
        .refuses(&Restriction::Mute.refusals())
        .leads_to(&["unmute"], BOTH)
        .leads_to(&["listMutes", "getTimeline"], USER);

    /// Unmute a user
    ///
    /// The timeline of `uid` shows the items of `target` again, at their old places.
    delete("/v1/users/{uid}/mutes/{target}", |call| set(call, Restriction::Mute, false), "unmute")
        .with(mute)
        .leads_to(&["mute"], BOTH);

    /// The users from whom a user hides its content
    get("/v1/users/{uid}/hidden-from", |call| list(call, Side::Restricted(Restriction::Hide)), "listHiddenFrom").with(own_list);

    /// Hide content from a user
    ///
    /// The timeline of `target` no longer shows items of `uid`.
    put("/v1/users/{uid}/hidden-from/{target}", |call| set(call, Restriction::Hide, true), "hide")
        .with(mute)
        .takes_nothing()
        .refuses(&Restriction::Hide.refusals())
        .leads_to(&["unhide"], BOTH)
        .leads_to(&["listHiddenFrom"], USER);

    /// Stop hiding content from a user
    ///
    /// The timeline of `target` shows the items of `uid` again, at their old places.
    delete("/v1/users/{uid}/hidden-from/{target}", |call| set(call, Restriction::Hide, false), "unhide")
        .with(mute)
        .leads_to(&["hide"], BOTH);

    /// The users that a user has blocked
    get("/v1/users/{uid}/blocks", |call| list(call, Side::Restricted(Restriction::Block)), "listBlocks").with(own_list);

    /// Block a user
    ///
    /// Ends the follows between the two. From then on neither sees the content of the other in a timeline, or follows the
    /// other; with a user token, neither reacts to items of the other.
    put("/v1/users/{uid}/blocks/{target}", |call| set(call, Restriction::Block, true), "block")
        .with(block)
        .takes_nothing()
        .refuses(&Restriction::Block.refusals())
        .leads_to(&["unblock"], BOTH)
        .leads_to(&["listBlocks"], USER);

    /// Unblock a user
    ///
    /// No follow comes back. A block of `uid` by `target` stays.
    delete("/v1/users/{uid}/blocks/{target}", |call| set(call, Restriction::Block, false), "unblock")
        .with(block)
        .leads_to(&["block"], BOTH);
}

async fn set(mut call: Call, restriction: Restriction, raised: bool) -> Answer {
    call.empty_body().await?;
    let set = move |feed: &Feed, user, target| feed.submit(SetRestriction { user, target, restriction, raised });
    relate(&call, "target", set).await
}
