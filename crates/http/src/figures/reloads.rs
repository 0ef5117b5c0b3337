//! Keys and the certificate, whose files are read again while the server runs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use model::figures;
use model::metrics::{Page, by};

/// How the files of keys and of the certificate were read last.
#[derive(Debug, Default)]
pub struct Reloads {
    /// Those of the keys.
    pub keys: Reload,
    /// Those of the certificate.
    pub certificate: Reload,
    /// When the certificate in use ends, seconds since 1970; 0 without TLS.
    certificate_ends: AtomicU64,
}

/// Whether files could be read the last time.
#[derive(Debug, Default)]
pub struct Reload(AtomicBool);

impl Reload {
    /// The files were read, or could not be used: what was read before stays in force.
    pub fn ended(&self, well: bool) {
        self.0.store(!well, Ordering::Relaxed);
    }
}

impl Reloads {
    /// A certificate is in use from now on, until this time, seconds since 1970.
    pub fn uses_certificate_until(&self, end: u64) {
        self.certificate_ends.store(end, Ordering::Relaxed);
        self.certificate.ended(true);
    }

    /// When the certificate in use ends, seconds since 1970; `None` without TLS.
    pub(crate) fn certificate_ends(&self) -> Option<u64> {
        Some(self.certificate_ends.load(Ordering::Relaxed)).filter(|end| *end > 0)
    }

    /// Writes the figures.
    pub(crate) fn figures(&self, page: &mut Page) {
        let files = [("keys", &self.keys), ("certificate", &self.certificate)];
        let failed = files.map(|(name, reload)| (name, u64::from(reload.0.load(Ordering::Relaxed))));
        figures! { page =>
            /// 1 if changed files could not be used; those read before stay in force. The server log has the reason.
            tideline_reload_failed = by("of", failed);
            /// The time when the certificate in use ends, in seconds since 1970.
            tideline_certificate_ends_timestamp_seconds = self.certificate_ends();
        }
    }
}
