//! A change as clients see it.

use crate::prelude::*;
use feed::ChangesPage;
use model::{Changed, EffectKind, HostIds, ShownId, UserId};

answers! {
    /// Changes, and the position from which to continue.
    pub(super) struct Changes<'a> {
        pub(super) items: Vec<Change<'a>>,
        pub(super) position: String,
    }
}

impl<'a> Changes<'a> {
    /// A page with the ids that it mentions.
    pub(super) fn of(page: &'a ChangesPage, ids: &'a HostIds) -> Self {
        let items = page.changes.iter().map(|changed| Change::new(page, changed, ids)).collect();
        Self { items, position: page.end.to_string() }
    }
}

answers! {
    /// What a change did. The ids depend on its type.
    pub(super) struct Change<'a> {
        pub(super) position: String,
        /// What was done, such as `content.published` or `follow.created`.
        #[serde(rename = "type")]
        what: &'static str,
        at: Millis as Time,
        /// The author, the follower, or the owner. Left out of `user.erased` once the rows of the user are removed.
        user_id?: ShownId<'a> as HostId,
        /// The other user: the followee, the path, the member, the author of the item of a reaction. Left out of
        /// `content.taken_off` once the path is erased.
        target_id?: ShownId<'a> as HostId,
        content_id?: ShownId<'a> as HostId,
        /// The kind of the item or of the reaction.
        #[serde(skip_serializing_if = "Option::is_none")]
        kind: Option<&'a str>,
        /// The name of the list.
        #[serde(skip_serializing_if = "Option::is_none")]
        list: Option<&'a str>,
        /// Of `user.erased`: the first 32 hexadecimal digits of the SHA-256 of `tideline:erasure:` and the id.
        #[serde(skip_serializing_if = "Option::is_none")]
        hash: Option<&'a str>,
    }
}

impl<'a> Change<'a> {
    pub(super) fn new(page: &ChangesPage, changed: &'a Changed, ids: &'a HostIds) -> Self {
        let Changed { at, effect, .. } = changed;
        let name = effect.name.as_deref();
        let (kind, list, hash) = match effect.item {
            Some(_) => (name, None, None),
            None if effect.kind == EffectKind::UserErased => (None, None, name),
            None => (None, name, None),
        };
        Self {
            position: page.position(changed).to_string(),
            what: effect.kind.name(),
            at: *at,
            user_id: (effect.user != UserId::UNKNOWN).then(|| ids.show(effect.user)),
            target_id: effect.target.map(|target| ids.show(target)),
            content_id: effect.item.map(|item| ids.show(item)),
            kind,
            list,
            hash,
        }
    }
}
