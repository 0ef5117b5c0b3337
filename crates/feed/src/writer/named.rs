//! The users and the items that changes name, by the types of their fields.

use crate::core::Core;
use crate::erasure;
use crate::read::Visibility;
use model::error::{Code, Error, Result};
use model::{
    ContentEdit, ErasedPart, ExternalId, ExternalNoticeId, ListSettings, NamedRule, NewContent, Position, Profile,
    Restriction, UserId, UserSettings,
};

/// Gets each id, and whether it is that of a user who may not be erased while the change is made.
pub(crate) type See<'s, 'c> = &'s mut dyn FnMut(&'c ExternalId, bool);

/// A field of a change.
pub(crate) trait Named {
    /// Visits the ids that it names.
    fn each<'c>(&'c self, _: See<'_, 'c>) {}
}

macro_rules! named {
    ($($type:ty: |$this:ident, $see:ident| $each:expr;)+) => {
        $(impl Named for $type {
            fn each<'c>(&'c self, $see: See<'_, 'c>) {
                let $this = self;
                $each
            }
        })+
    };
}

named! {
    ExternalId: |id, see| see(id, true);
    NewContent: |new_item, see| {
        new_item.users().for_each(|user| see(user, true));
        new_item.content_id.iter().chain(&new_item.ref_id).for_each(|item| see(item, false));
    };
    Position<ExternalId>: |place, see| see(&place.id, false);
    Position<ExternalNoticeId>: |place, see| {
        [&place.id.actor].into_iter().chain(&place.id.item).for_each(|id| see(id, false));
    };
}

impl<T: Named> Named for Vec<T> {
    fn each<'c>(&'c self, see: See<'_, 'c>) {
        self.iter().for_each(|one| one.each(see));
    }
}

impl<T: Named> Named for Option<T> {
    fn each<'c>(&'c self, see: See<'_, 'c>) {
        self.iter().for_each(|one| one.each(see));
    }
}

impl<A: Named, B: Named> Named for (A, B) {
    fn each<'c>(&'c self, see: See<'_, 'c>) {
        self.0.each(see);
        self.1.each(see);
    }
}

macro_rules! nameless {
    ($($type:ty),+) => {
        $(impl Named for $type {})+
    };
}

nameless!(
    bool,
    u64,
    String,
    ContentEdit,
    ErasedPart,
    ListSettings,
    Profile,
    Restriction,
    NamedRule,
    UserSettings,
    Visibility
);

/// `erasing` if one of these users is being erased.
pub(crate) fn refuse_erasing<'i>(feed: &Core, users: impl IntoIterator<Item = &'i ExternalId>) -> Result<()> {
    if !erasure::tables::has_erasures(&feed.store) {
        return Ok(());
    }
    for id in users {
        let user: UserId = feed.read().number_of(id)?;
        if erasure::tables::is_erasing(&feed.store, user) {
            return Err(Error::refused(Code::Erasing, format_args!("user {id} is being erased")));
        }
    }
    Ok(())
}
