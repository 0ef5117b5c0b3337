//! Work on the data directory of a stopped server.

use crate::prelude::*;

/// Users read at a time.
const AT_ONCE: usize = 1000;

/// The result of work on an open directory, which must be there, and is closed at the end.
pub(crate) fn on_directory<T>(
    config: &Config,
    start_options: StartOptions,
    work: impl FnOnce(&App) -> Result<T>,
) -> Result<T> {
    kv::must_be_there(&config.storage.data_dir)?;
    let app = server::open(config, start_options)?;
    let done = work(&app);
    app.stop(config.server.shutdown_timeout.get())?;
    done
}

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
