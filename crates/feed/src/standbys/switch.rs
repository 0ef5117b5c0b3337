//! The hand-over to a standby: the server takes no changes, the standby comes to the last row, and the server gives up its
//! data directory. So at no time two servers take changes.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

use super::Standbys;
use crate::store::Store;
use kv::Origin;
use model::clock::now;
use model::error::{Code, Error, Result};

/// A server that is not told of the end of a hand-over takes changes again after so long.
const LASTS: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub(super) struct Switch {
    sealed: Mutex<Option<Sealed>>,
    is_over: AtomicBool,
}

#[derive(Debug)]
struct Sealed {
    standby: String,
    /// Given to the standby at the seal: another standby may have the same name.
    ticket: u64,
    since: Instant,
    row: u64,
}

impl Switch {
    fn sealed(&self) -> MutexGuard<'_, Option<Sealed>> {
        self.sealed.lock()
    }
}

impl Standbys {
    /// Takes no changes from now on, for a standby that is to take over within a minute. Returns the last row, and a ticket
    /// for the hand-over. A second seal of a standby ends its first.
    pub fn seal(&self, store: &Store, standby: &str) -> Result<(u64, u64)> {
        let mut present = self.switch.sealed();
        if self.has_handed_over() {
            return Err(Code::HandingOver.into());
        }
        if let Some(sealed) = present.as_ref().filter(|sealed| sealed.standby != standby) {
            return Err(Error::refused(Code::HandingOver, format_args!("the server hands over to {}", sealed.standby)));
        }
        *present = None;
        let disk = store.disk()?;
        let row = disk.seal().inspect_err(|_| disk.unseal())?;
        tracing::warn!(standby, row, "the server takes no changes: it hands over to its standby");
        let ticket = fastrand::u64(..);
        *present = Some(Sealed { standby: standby.to_owned(), ticket, since: Instant::now(), row });
        Ok((row, ticket))
    }

    /// Takes changes again. If a standby is named, only if the server hands over to that one.
    pub fn unseal(&self, store: &Store, standby: Option<&str>) -> Result<()> {
        self.unseal_if(store, |sealed| standby.is_none_or(|standby| standby == sealed.standby))
    }

    fn unseal_if(&self, store: &Store, is_meant: impl Fn(&Sealed) -> bool) -> Result<()> {
        let mut present = self.switch.sealed();
        if self.has_handed_over() || !present.as_ref().is_some_and(is_meant) {
            return Err(Code::NotHandingOver.into());
        }
        *present = None;
        store.disk()?.unseal();
        tracing::warn!("the server takes changes again: the hand-over was given up");
        Ok(())
    }

    /// Takes changes again if the standby does not take over.
    pub(super) fn end_old_seal(&self, store: &Store) {
        // Mostly there is none.
        let _ = self.unseal_if(store, |sealed| sealed.since.elapsed() > LASTS);
    }

    /// Ends this server's part: the standby at `url`, which has the ticket of the present seal and all rows up to this one,
    /// takes over. From now on the data directory is that of a standby, and all calls of applications are refused.
    pub fn hand_over(&self, store: &Store, ticket: u64, url: &str, row: u64) -> Result<()> {
        let present = self.switch.sealed();
        let sealed = present.as_ref().filter(|sealed| sealed.ticket == ticket && sealed.row == row);
        let Some(Sealed { standby, .. }) = sealed else { return Err(Code::NotHandingOver.into()) };
        // Told twice, the answer to the first may be lost.
        if self.has_handed_over() {
            return Ok(());
        }
        let origin = Origin { url: url.to_owned(), log: Some(store.disk()?.log_facts()?.id), whole_at: Some(now()) };
        origin.write(&self.data).map_err(|e| {
            // It may be there all the same. The server goes on, so its next start must.
            let _ = fs::remove_file(Origin::file(&self.data));
            Error::Storage(format!("{}: {e}", self.data.display()))
        })?;
        self.switch.is_over.store(true, Ordering::Release);
        tracing::warn!(standby, url, row, "the standby has taken over; this server answers no more calls. Stop it");
        Ok(())
    }

    /// Whether a standby has taken over.
    #[inline]
    pub fn has_handed_over(&self) -> bool {
        self.switch.is_over.load(Ordering::Acquire)
    }
}
