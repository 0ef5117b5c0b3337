//! Log lines on stderr, by the settings.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use crate::prelude::*;
use config::{Log, LogFormat};

/// Filter for the libraries: the starts of the HTTP library are not news, it logs every malformed request as an error, and
/// that of TLS logs a warning for every message that it refuses. A later part of the filter overrides this.
const QUIET: &str = "actix_server=warn,actix_http::h1=off,rustls=error";

/// Starts logging. Call it once, before anything logs.
pub(crate) fn init(log: &Log) -> Result<()> {
    let builder = tracing_subscriber::fmt().with_env_filter(filter(&log.level)?).with_writer(io::stderr);
    let begun = match log.format {
        LogFormat::Text => builder.with_ansi(io::IsTerminal::is_terminal(&io::stderr())).try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    begun.context("cannot start logging")
}

/// Checks that the settings allow logging.
pub(crate) fn check(log: &Log) -> Result<()> {
    filter(&log.level).map(|_| ())
}

/// Parses `log.level`. A part without `=` must be a level: the library would read a misspelt level as the name of a
/// module, and log nothing.
fn filter(level: &str) -> Result<EnvFilter> {
    let wrong = |reason: &dyn std::fmt::Display| {
        Error::Setup(format!("configuration: log.level: {level:?} is neither a level nor a filter: {reason}"))
    };
    for part in level.split(',').filter(|part| !part.contains('=')) {
        if part.trim().is_empty() {
            return Err(wrong(&"a part is empty"));
        }
        part.trim().parse::<LevelFilter>().map_err(|e| wrong(&e))?;
    }
    EnvFilter::try_new(format!("{QUIET},{level}")).map_err(|e| wrong(&e))
}

#[cfg(test)]
mod tests {
    use tracing::Level;
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    /// A client can cause as many of these lines as it likes.
    #[test]
    fn mistakes_of_clients_are_not_logged() {
        let allows = |level: &str| {
            let subscriber = tracing_subscriber::registry().with(filter(level).expect(level));
            tracing::subscriber::with_default(subscriber, || {
                [
                    tracing::enabled!(target: "actix_http::h1::dispatcher", Level::ERROR),
                    tracing::enabled!(target: "rustls::common_state", Level::WARN),
                    tracing::enabled!(target: "rustls::common_state", Level::ERROR),
                ]
            })
        };
        assert_eq!(allows("info"), [false, false, true]);
        assert_eq!(allows("info,rustls=warn"), [false, true, true]);
    }
}
