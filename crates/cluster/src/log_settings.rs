//! Looks at the settings of the log again and again: somebody may change them while nodes run.

use std::sync::mpsc::{Receiver, RecvTimeoutError};

use crate::prelude::*;

/// How often.
pub(super) const EVERY: Duration = Duration::from_secs(3600);

/// A lesser danger, or a reason why the log can lose acknowledged records.
pub(super) type Found = std::result::Result<String, String>;

/// Looks until the other end of `stop` is gone. Tells what it did not find the time before.
pub(super) fn look(
    mut dangers: impl FnMut() -> Result<Vec<String>>,
    every: Duration,
    stop: &Receiver<()>,
    mut tell: impl FnMut(&Found),
) {
    let mut known = Vec::new();
    while stop.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
        let found: Vec<Found> = match dangers() {
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
    use std::sync::mpsc::channel;

    use super::*;
    use model::error::Error;

    #[test]
    fn a_change_of_the_settings_is_told_once() {
        let danger = |name: &str| name.to_owned();
        let fault = || Err(Error::Setup("unclean".to_owned()));
        let looks =
            [Ok(vec![danger("a")]), Ok(vec![danger("a"), danger("b")]), fault(), fault(), Ok(vec![danger("b")])];
        let (stop, stopped) = channel();
        // Other settings at each look. The last one ends the looks.
        let (mut looks, mut stop) = (looks.into_iter().peekable(), Some(stop));
        let dangers = || {
            let look = looks.next().unwrap_or_else(|| Ok(Vec::new()));
            stop.take_if(|_| looks.peek().is_none());
            look
        };
        let mut told = Vec::new();
        look(dangers, Duration::from_millis(1), &stopped, |found| told.push(found.clone()));
        let b = || Ok(danger("b"));
        assert_eq!(told, [Ok(danger("a")), b(), Err("unclean".to_owned()), b()]);
    }
}
