//! Looks at the settings of the log again and again: somebody may change them while nodes run.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use super::log::Log;

/// How often.
pub(super) const EVERY: Duration = Duration::from_secs(3600);

/// A lesser danger, or a reason why the log can lose acknowledged records.
pub(super) type Found = Result<String, String>;

/// Looks until the other end of `stop` is gone. Tells what it did not find the time before.
pub(super) fn look(log: &dyn Log, every: Duration, stop: &Receiver<()>, mut tell: impl FnMut(&Found)) {
    let mut known = Vec::new();
    while stop.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
        let found: Vec<Found> = match log.dangers() {
            Ok(dangers) => dangers.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error.to_string())],
        };
        found.iter().filter(|found| !known.contains(*found)).for_each(&mut tell);
        known = found;
    }
}

/// Writes it into the server log.
pub(super) fn tell(found: &Found) {
    match found {
        Ok(danger) => tracing::warn!("{danger}"),
        Err(fault) => tracing::error!("the settings of the command log: {fault}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::ops::Range;
    use std::sync::mpsc::{Sender, channel};

    use parking_lot::Mutex;

    use super::super::log::{NotAppended, NotRead, Record};
    use super::*;
    use model::error::{Error, Result};

    /// A log with other settings at each look. After the last one it ends the looks.
    #[derive(Debug)]
    struct Changing {
        looks: Mutex<VecDeque<Result<Vec<String>>>>,
        stop: Mutex<Option<Sender<()>>>,
    }

    impl Log for Changing {
        fn append(&self, _: &[u8], _: Duration) -> Result<u64, NotAppended> {
            Err(NotAppended::Refused(String::new()))
        }

        fn read(&self, _: u64, _: Duration) -> Result<Vec<Record>, NotRead> {
            Ok(Vec::new())
        }

        fn bounds(&self, _: Duration) -> Result<Range<u64>, NotRead> {
            Ok(0..0)
        }

        fn dangers(&self) -> Result<Vec<String>> {
            let mut looks = self.looks.lock();
            let look = looks.pop_front().unwrap_or_else(|| Ok(Vec::new()));
            if looks.is_empty() {
                *self.stop.lock() = None;
            }
            look
        }
    }

    #[test]
    fn a_change_of_the_settings_is_told_once() {
        let danger = |name: &str| name.to_owned();
        let fault = || Err(Error::Setup("unclean".to_owned()));
        let looks =
            [Ok(vec![danger("a")]), Ok(vec![danger("a"), danger("b")]), fault(), fault(), Ok(vec![danger("b")])];
        let (stop, stopped) = channel();
        let log = Changing { looks: Mutex::new(looks.into()), stop: Mutex::new(Some(stop)) };
        let mut told = Vec::new();
        look(&log, Duration::from_millis(1), &stopped, |found| told.push(found.clone()));
        let b = || Ok(danger("b"));
        assert_eq!(told, [Ok(danger("a")), b(), Err("unclean".to_owned()), b()]);
    }
}
