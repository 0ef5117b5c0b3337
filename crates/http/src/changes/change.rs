//! A change as clients see it.

use crate::prelude::*;
use feed::events::ChangesPage;
use model::{Changed, EffectKind, ExternalIds, ShownId, UserId};

answers! {
    /// Changes, and the position from which to continue.
    pub(super) struct Changes<'a> (page: &'a ChangesPage, ids: &'a ExternalIds) {
        (items: Vec<Change<'a>>) = page.changes.iter().map(|changed| Change::new(page, changed, ids)).collect();
        (position: String) = page.end.to_string();
    }

    /// What a change did. The ids depend on its type.
    pub(super) struct Change<'a> (page: &ChangesPage, changed: &'a Changed, ids: &'a ExternalIds) {
        let effect = &changed.effect;
        let name = effect.name.as_deref();
        let (kind, list, hash) = match effect.item {
            Some(_) => (name, None, None),
            None if effect.kind == EffectKind::UserErased => (None, None, name),
            None => (None, name, None),
        };
        (pub(super) position: String) = page.position(changed).to_string();
        /// What was done, such as `content.published` or `follow.created`.
        #[serde(rename = "type")]
        (what: &'static str) = effect.kind.name();
        (at: Millis as Time) = changed.at;
        /// The author, the follower, or the owner. Left out of `user.erased` once the rows of the user are removed.
        (user_id?: ShownId<'a> as ExternalId) = (effect.user != UserId::UNKNOWN).then(|| ids.show(effect.user));
        /// The other user, such as the followee, the path, or the author of the item that the user reacted to. Left out of
        /// `content.taken_off` once the path is erased.
        (target_id?: ShownId<'a> as ExternalId) = effect.target.map(|target| ids.show(target));
        (content_id?: ShownId<'a> as ExternalId) = effect.item.map(|item| ids.show(item));
        /// The kind of the item or of the reaction.
        #[serde(skip_serializing_if = "Option::is_none")]
        (kind: Option<&'a str>) = kind;
        /// The name of the list.
        #[serde(skip_serializing_if = "Option::is_none")]
        (list: Option<&'a str>) = list;
        /// Of `user.erased`: the first 32 hexadecimal digits of the SHA-256 of `tideline:erasure:` and the id.
        #[serde(skip_serializing_if = "Option::is_none")]
        (hash: Option<&'a str>) = hash;
    }
}
