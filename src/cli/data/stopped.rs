//! Work on the data directory of a stopped server.

use crate::server::{self, App, Told};
use config::Config;
use model::error::Result;

/// The result of work on an open directory, which must be there, and is closed at the end.
pub(crate) fn on_directory<T>(config: &Config, told: Told, work: impl FnOnce(&App) -> Result<T>) -> Result<T> {
    kv::must_be_there(&config.storage.data_dir)?;
    let app = server::open(config, told)?;
    let done = work(&app);
    app.stop(config.server.shutdown_timeout.get())?;
    done
}
