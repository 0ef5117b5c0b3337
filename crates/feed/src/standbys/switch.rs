//! The hand-over to a standby: the server takes no changes, the standby comes to the last row, and the server gives up its
//! data directory. So at no time two servers take changes.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use model::clock::now;
use model::error::{Code, Error, Result};
use model::private;
use store::Store;

/// A server that is not told of the end of a hand-over takes changes again after so long.
const LASTS: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub(super) struct Switch {
    sealed: Option<Sealed>,
    is_over: bool,
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
    /// Returns the last row, and the ticket for the hand-over. A second seal of a standby ends its first.
    pub(super) fn seal(&mut self, store: &Store, standby: &str) -> Result<(u64, u64)> {
        if self.is_over {
            return Err(Code::HandingOver.into());
        }
        if let Some(sealed) = self.sealed.as_ref().filter(|sealed| sealed.standby != standby) {
            return Err(Error::refused(Code::HandingOver, format_args!("the server hands over to {}", sealed.standby)));
        }
        self.sealed = None;
        let row = store.seal().inspect_err(|_| store.unseal())?;
        tracing::warn!(standby, row, "the server takes no changes: it hands over to its standby");
        let ticket = fastrand::u64(..);
        self.sealed = Some(Sealed { standby: standby.to_owned(), ticket, since: Instant::now(), row });
        Ok((row, ticket))
    }

    /// Ends a seal: that of this standby, if one is named.
    pub(super) fn unseal(&mut self, store: &Store, standby: Option<&str>) -> Result<()> {
        let is_meant = |sealed: &Sealed| standby.is_none_or(|standby| standby == sealed.standby);
        if self.is_over || !self.sealed.as_ref().is_some_and(is_meant) {
            return Err(Code::NotHandingOver.into());
        }
        self.sealed = None;
        store.unseal();
        tracing::warn!("the server takes changes again: the hand-over was given up");
        Ok(())
    }

    pub(super) fn end_old(&mut self, store: &Store) {
        if !self.is_over && self.sealed.as_ref().is_some_and(|sealed| sealed.since.elapsed() > LASTS) {
            // It is sealed.
            let _ = self.unseal(store, None);
        }
    }

    pub(super) fn hand_over(&mut self, store: &Store, data: &Path, ticket: u64, url: &str, row: u64) -> Result<()> {
        let sealed = self.sealed.as_ref().filter(|sealed| sealed.ticket == ticket && sealed.row == row);
        let Some(Sealed { standby, .. }) = sealed else { return Err(Code::NotHandingOver.into()) };
        // Told twice, the answer to the first may be lost.
        if self.is_over {
            return Ok(());
        }
        let facts = store.log_facts()?;
        let text = format!("standby of {url}\nlog {:016x}\nwhole {}\n", facts.id, now());
        let file = data.join("STANDBY");
        private::replace_file(&file, text.as_bytes()).map_err(|e| {
            // It may be there all the same. The server goes on, so its next start must.
            let _ = fs::remove_file(&file);
            Error::Storage(format!("{}: {e}", data.display()))
        })?;
        self.is_over = true;
        tracing::warn!(standby, url, row, "the standby has taken over; this server answers no more calls. Stop it");
        Ok(())
    }
}
