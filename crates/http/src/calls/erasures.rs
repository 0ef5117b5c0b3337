//! Erasures of users.

use crate::prelude::*;
use feed::erasure;
use model::{ErasedUser, Erasure};

endpoints! { "users":
    /// Erase a user
    ///
    /// Nothing of the user is shown from the answer on, and changes that name the user are 409 `erasing`. A job then
    /// removes every row that names the user: items of all kinds, comments, reactions, relations in both directions,
    /// lists, memberships, markers, profile, settings, and the name itself. `GET /v1/admin/erasures` tells how far it
    /// is. Can be repeated. There is no way back.
    delete("/v1/users/{uid}", erase, "eraseUser").answers::<Begun>(202, "The user is being erased");

    /// The erasures of users
    ///
    /// Those under way, then those that were over in the last 90 days, which do not tell whose they were.
    get("/v1/admin/erasures", list, "listErasures")
        .in_group("operations")
        .answers_items::<ErasureBody>(200, "ErasureList", "The erasures")
        .refuses(&[Code::Overloaded]);
}

answers! {
    /// An erasure that has begun.
    struct Begun {
        user_id: ExternalId,
        /// When it began; left out if the server has nothing of the user.
        since?: Millis as Time,
    }

    /// An erasure.
    struct ErasureBody as Erasure (user: Option<ExternalId>, hash: String, since: Millis, over: Option<Millis>, rows: u64) {
        /// The user, while the erasure is under way.
        (user_id?: ExternalId) = user;
        /// What is kept of the id: the first 32 hexadecimal digits of the SHA-256 of `tideline:erasure:` and the id.
        (hash: String) = hash;
        /// `erasing` or `over`.
        (state: &'static str) = if over.is_some() { "over" } else { "erasing" };
        (since: Millis as Time) = since;
        /// When it was over.
        (over?: Millis as Time) = over;
        /// How many items, relations, reactions, lists, memberships and changes were removed so far.
        (rows: u64) = rows;
    }
}

/// `DELETE /v1/users/{uid}`
async fn erase(call: Call) -> Answer {
    let user_id = call.user()?;
    let id = user_id.clone();
    let since = call.run(Wants::Change, move |feed| erasure::erase(feed, id)).await?;
    reply::with(StatusCode::ACCEPTED, &Begun { user_id, since })
}

/// `GET /v1/admin/erasures`
async fn list(call: Call) -> Answer {
    let (under_way, over) = call.read(erasure::erasures).await?;
    let under_way = under_way
        .into_iter()
        .map(|(user, Erasure { hash, since, rows, .. })| ErasureBody::new(Some(user), hash, since, None, rows));
    let over = over.into_iter().map(|of: ErasedUser| ErasureBody::new(None, of.hash, of.since, Some(of.over), of.rows));
    reply::items(&under_way.chain(over).collect::<Vec<_>>())
}
