//! A cluster: nodes that apply one command log, each to a whole store of its own.

mod applier;
mod checkpoint;
mod clock_drift;
mod comparison;
mod health;
mod kafka;
mod log;
mod log_settings;
mod log_tail;
mod membership;
mod node;
mod position;
mod prelude;
mod record;
mod runs;
mod shared_state;
mod writer;

pub use crate::{comparison::*, health::*, log::*, membership::*, node::*, position::*, record::*};
pub use kafka::{connect, make_topic};

use std::sync::Arc;

use config::Config;
use feed::store::{MARK, Store};
use feed::streaming::Streaming;
use model::error::{Error, Result};

/// Joins the cluster of the settings: its log, and the part that the directory has in it. Takes over the settings that all its
/// nodes share. `None` for a server without a cluster, and for a command that makes no changes: such a command needs no
/// brokers.
pub fn join(config: &mut Config, store: &Store, changes: bool) -> Result<Option<(Arc<dyn Log>, LogMembership)>> {
    if !changes {
        // Also without a cluster in the settings: a purge by other settings would differ from those of all nodes.
        if let Some(membership) = LogMembership::of(store)? {
            config.adopt(&membership.agreed);
        }
        return Ok(None);
    }
    if !config.cluster.is_on() {
        if store.note(MARK)?.is_some() {
            return Err(Error::Setup(
                "this directory is that of a node of a cluster; changes that it makes alone would be missing on all \
                 other nodes. Set [cluster], or take it out of the cluster with \"tideline cluster leave\""
                    .to_owned(),
            ));
        }
        return Ok(None);
    }
    let log = connect(&config.cluster)?;
    let membership = LogMembership::join(&*log, store)?;
    for setting in config.adopt(&membership.agreed) {
        tracing::warn!(setting, "the cluster has agreed on another value of this setting, which is in force");
    }
    Ok(Some((log, membership)))
}

/// Lets a command that makes no changes go by the time of the log: by that of the clock it could purge an item that a
/// change in the log, not applied here yet, restores.
pub fn keep_time(store: &Store, streaming: &Streaming) -> Result<()> {
    if let Some(note) = store.note(MARK)? {
        let mark = checkpoint::Mark::read(&note)?;
        streaming.set_log_time(mark.time.max(1));
        streaming.set_final_before(mark.final_before);
    }
    Ok(())
}
