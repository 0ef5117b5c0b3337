//! Log lines on stderr, as the settings ask.

use std::io;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use crate::config::{Log, LogFormat};
use crate::error::{Error, Result};

/// The HTTP library's own lines: its starts are no news, and every malformed request is an error to
/// it. A later part of the filter overrides this.
const QUIET: &str = "actix_server=warn,actix_http::h1=off";

/// Begins to log. To be called once, before anything that logs.
pub(super) fn init(log: &Log) -> Result<()> {
    let builder = tracing_subscriber::fmt().with_env_filter(filter(&log.level)?).with_writer(io::stderr);
    let begun = match log.format {
        LogFormat::Text => builder.with_ansi(io::IsTerminal::is_terminal(&io::stderr())).try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    begun.map_err(|e| Error::Setup(format!("cannot begin to log: {e}")))
}

/// Whether logging can begin as the settings ask.
pub(super) fn check(log: &Log) -> Result<()> {
    filter(&log.level).map(|_| ())
}

/// Reads `log.level`. A part without `=` must be a level: the library would take a misspelt one for the name of a
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
