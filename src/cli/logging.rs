//! Log lines on stderr, by the settings.

use std::io;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use crate::config::{Log, LogFormat};
use crate::error::{Error, Result};

/// Filter for the HTTP library: its starts are not news, and it logs every malformed request as an error. A later part
/// of the filter overrides this.
const QUIET: &str = "actix_server=warn,actix_http::h1=off";

/// Starts logging. Call it once, before anything logs.
pub(super) fn init(log: &Log) -> Result<()> {
    let builder = tracing_subscriber::fmt().with_env_filter(filter(&log.level)?).with_writer(io::stderr);
    let begun = match log.format {
        LogFormat::Text => builder.with_ansi(io::IsTerminal::is_terminal(&io::stderr())).try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    begun.map_err(|e| Error::Setup(format!("cannot start logging: {e}")))
}

/// Checks that the settings allow logging.
pub(super) fn check(log: &Log) -> Result<()> {
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
    use super::*;

    #[test]
    fn levels_and_filters_are_told_from_mistakes() {
        for good in ["info", "WARN", "off", "tideline=debug,warn", "warn,tideline::http=trace"] {
            assert!(filter(good).is_ok(), "{good}");
        }
        for bad in ["inof", "", "info,", "tideline", "tideline=loud", "tideline=debug,wran"] {
            let error = filter(bad).expect_err(bad).to_string();
            assert!(error.contains("log.level"), "{error}");
        }
    }
}
