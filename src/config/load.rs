//! Reading and checking the settings.

use std::path::Path;

use config::{Environment, File, FileFormat};

use super::Config;
use crate::error::{Error, Result};

/// Begins the name of every environment override.
const PREFIX: &str = "TIDELINE";
/// With less, shared by all tables, nearly every write would flush one.
const MIN_WRITE_BUFFER_MB: usize = 8;
/// With fewer, table files would be opened and closed all the time; -1 would be no limit.
const MIN_OPEN_FILES: i32 = 64;
/// A worker holds a whole sub-task in memory.
const MAX_CHUNK: usize = 100_000;

impl Config {
    /// Reads the file, if one is named, and the environment. An unknown key is refused by name.
    pub fn load(file: Option<&Path>) -> Result<Self> {
        let mut builder = config::Config::builder();
        if let Some(path) = file {
            let text = std::fs::read_to_string(path)
                .map_err(|e| Error::Setup(format!("cannot read {}: {e}", path.display())))?;
            builder = builder.add_source(File::from_str(&text, FileFormat::Toml));
        }
        let environment = Environment::with_prefix(PREFIX).prefix_separator("__").separator("__").try_parsing(true);
        let config: Self = builder
            .add_source(environment)
            .build()
            .and_then(config::Config::try_deserialize)
            .map_err(|e| Error::Setup(format!("configuration: {e}")))?;
        config.validate()?;
        Ok(config)
    }

    /// Refuses values that no server could run with, each by its name.
    pub fn validate(&self) -> Result<()> {
        let positive = [
            ("server.max_connections", self.server.max_connections),
            ("server.body_limit", self.server.body_limit),
            ("storage.block_cache_mb", self.storage.block_cache_mb),
            ("timeline.inbox_limit", self.timeline.inbox_limit),
            ("fanout.chunk", self.fanout.chunk),
            ("fanout.queue", self.fanout.queue),
            ("graph.follow_limit", self.graph.follow_limit),
        ];
        if let Some((name, _)) = positive.iter().find(|(_, value)| *value == 0) {
            return Err(Error::Setup(format!("configuration: {name} must be at least 1")));
        }
        if self.storage.max_open_files < MIN_OPEN_FILES {
            return Err(Error::Setup(format!(
                "configuration: storage.max_open_files must be at least {MIN_OPEN_FILES}"
            )));
        }
        if self.fanout.chunk > MAX_CHUNK {
            return Err(Error::Setup(format!("configuration: fanout.chunk must be at most {MAX_CHUNK}")));
        }
        if self.storage.write_buffer_mb < MIN_WRITE_BUFFER_MB {
            return Err(Error::Setup(format!(
                "configuration: storage.write_buffer_mb must be at least {MIN_WRITE_BUFFER_MB}"
            )));
        }
        if self.fanout.pull_threshold < self.fanout.push_threshold {
            return Err(Error::Setup(
                "configuration: fanout.pull_threshold must not be below fanout.push_threshold".to_owned(),
            ));
        }
        Ok(())
    }

    /// The settings as a `config.toml` would have them.
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).map_err(|e| Error::Setup(format!("configuration: {e}")))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn load(text: &str) -> Result<Config> {
        let mut file = tempfile::NamedTempFile::new().expect("temp file");
        file.write_all(text.as_bytes()).expect("write");
        Config::load(Some(file.path()))
    }

    #[test]
    fn a_file_overrides_defaults_and_prints_back() {
        let config = load("[timeline]\ninbox_limit = 300\nactive_for = \"7d\"\n").expect("loads");
        assert_eq!(config.timeline.inbox_limit, 300);
        assert_eq!(config.fanout, super::super::Fanout::default());
        let printed = config.to_toml().expect("prints");
        assert_eq!(load(&printed).expect("loads again"), config);
    }

    #[test]
    fn wrong_settings_are_refused_by_name() {
        for (text, name) in [
            ("[timeline]\ninbox_limt = 300\n", "inbox_limt"),
            ("[timelines]\ninbox_limit = 300\n", "timelines"),
            ("[fanout]\nchunk = 0\n", "fanout.chunk"),
            ("[fanout]\nchunk = 100001\n", "fanout.chunk"),
            ("[server]\nmax_connections = 0\n", "server.max_connections"),
            ("[storage]\nwrite_buffer_mb = 7\n", "storage.write_buffer_mb"),
            ("[fanout]\npush_threshold = 5\npull_threshold = 4\n", "fanout.pull_threshold"),
            ("[storage]\ndurability = \"maybe\"\n", "maybe"),
            ("[storage]\nmax_open_files = -1\n", "storage.max_open_files"),
            ("[server]\nlisten = \"nowhere\"\n", "listen"),
            ("[timeline]\nactive_for = \"soon\"\n", "soon"),
        ] {
            let error = load(text).expect_err(text).to_string();
            assert!(error.contains(name), "{error}");
        }
    }
}
