//! A walk over all users of a data directory.

use feed::store::Store;
use model::UserId;
use model::error::Result;

/// Users read at a time.
const AT_ONCE: usize = 1000;

/// Visits all users, in the order of their numbers, until a visit fails.
pub(super) fn each_user(store: &Store, mut visit: impl FnMut(UserId) -> Result<()>) -> Result<()> {
    let mut after = None;
    loop {
        let users = feed::users::tables::users_after(store, after, AT_ONCE)?;
        let Some(last) = users.last() else { return Ok(()) };
        after = Some(*last);
        users.into_iter().try_for_each(&mut visit)?;
    }
}
