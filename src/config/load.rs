//! Reads the settings from the file and the environment, each value by the type of its setting.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use serde::Deserialize;
use toml::{Table, Value};

use super::{Config, environment};
use crate::error::{Error, Result};

impl Config {
    /// Reads the file, if given, and the environment. Refuses by name: an unknown key, an unknown variable that begins
    /// with `TIDELINE_`, a value of another type, and a value out of range.
    pub fn load(file: Option<&Path>) -> Result<Self> {
        Self::from_sources(file, std::env::vars_os())
    }

    fn from_sources(file: Option<&Path>, environment: impl Iterator<Item = (OsString, OsString)>) -> Result<Self> {
        let mut settings = Settings::default();
        if let Some(path) = file {
            settings.add_file(path)?;
        }
        // Sorted, so that the same error is reported each time if there are several.
        let mut variables: Vec<_> = environment.collect();
        variables.sort();
        let in_kubernetes = environment::in_kubernetes(variables.iter().map(|(name, _)| name.as_os_str()));
        for (name, value) in variables {
            if environment::is_ours(&name, in_kubernetes) {
                settings.add_variable(&name, value)?;
            }
        }
        let config = Self::deserialize(settings.0).map_err(|e| wrong(e.message()))?;
        config.validate()?;
        Ok(config)
    }

    /// The settings in the form of `config.toml`.
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).map_err(wrong)
    }
}

/// The settings given by the sources.
#[derive(Default)]
struct Settings(Table);

impl Settings {
    fn add_file(&mut self, path: &Path) -> Result<()> {
        let failed = |e: &dyn std::fmt::Display| Error::Setup(format!("cannot read {}: {e}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|e| failed(&e))?;
        let sections: Table = text.parse().map_err(|e| failed(&e))?;
        for (section, value) in sections {
            match value {
                Value::Table(values) => {
                    let empty = Table::from_iter([(section.clone(), Value::Table(Table::new()))]);
                    Config::deserialize(empty).map_err(|e| wrong(format_args!("{section}: {}", e.message())))?;
                    values.into_iter().try_for_each(|(key, value)| self.add(&section, &key, value))?;
                }
                other => return Err(wrong(format_args!("{section}: expected a section, not {other}"))),
            }
        }
        Ok(())
    }

    /// Adds a variable that must be a setting.
    fn add_variable(&mut self, name: &OsStr, value: OsString) -> Result<()> {
        let defaults = Table::try_from(Config::default()).map_err(wrong)?;
        let name = name.to_string_lossy();
        let Some((section, key)) = environment::setting(&name, &defaults) else {
            return Err(wrong(environment::no_setting(&name, &defaults)));
        };
        let (section, key) = (section.as_str(), key.as_str());
        let text = value.into_string().map_err(|_| wrong(format_args!("the value of {name} is not UTF-8")))?;
        // The type of the default defines how the text is parsed.
        let value = match defaults.get(section).and_then(|section| section.get(key)) {
            Some(Value::String(_)) | None => Value::String(text),
            Some(Value::Array(_)) => {
                let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
                Value::Array(entries.map(|entry| Value::String(entry.to_owned())).collect())
            }
            Some(other) => {
                let kind = other.type_str();
                let value: Option<Value> = text.parse().ok();
                let value = value.filter(|value| value.type_str() == kind);
                value.ok_or_else(|| {
                    wrong(format_args!("{section}.{key}: {text:?} from {name} is not of the type {kind}"))
                })?
            }
        };
        self.add(section, key, value)
    }

    /// Adds one value if it is valid alone, so that it can be refused by name.
    fn add(&mut self, section: &str, key: &str, value: Value) -> Result<()> {
        let values = Table::from_iter([(key.to_owned(), value.clone())]);
        let alone = Table::from_iter([(section.to_owned(), Value::Table(values))]);
        Config::deserialize(alone).map_err(|e| wrong(format_args!("{section}.{key}: {}", e.message())))?;
        let values = self.0.entry(section).or_insert_with(|| Value::Table(Table::new()));
        if let Value::Table(values) = values {
            values.insert(key.to_owned(), value);
        }
        Ok(())
    }
}

pub(super) fn wrong(what: impl std::fmt::Display) -> Error {
    Error::Setup(format!("configuration: {what}"))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::super::Host;
    use super::*;

    fn load(text: &str) -> Result<Config> {
        let mut file = tempfile::NamedTempFile::new().expect("temp file");
        file.write_all(text.as_bytes()).expect("write");
        Config::from_sources(Some(file.path()), std::iter::empty())
    }

    fn with(name: &str, value: &str) -> Result<Config> {
        Config::from_sources(None, [(name.into(), value.into())].into_iter())
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
            ("inbox_limit = 5\n", "inbox_limit"),
            ("timeline = 5\n", "timeline"),
            ("[timeline]\ninbox_limt = 300\n", "timeline.inbox_limt"),
            ("[timelines]\ninbox_limit = 300\n", "timelines"),
            ("[timelines]\n", "timelines"),
            ("[timeline]\ninbox_limit = 300.7\n", "timeline.inbox_limit"),
            ("[timeline]\ninbox_limit = true\n", "timeline.inbox_limit"),
            ("[timeline]\ninbox_limit = \"300\"\n", "timeline.inbox_limit"),
            ("[timeline]\ninbox_limit = -1\n", "timeline.inbox_limit"),
            ("[fanout]\npush_threshold = 99999999999999999999\n", "line 2"),
            ("[auth]\ninsecure = 5\n", "auth.insecure"),
            ("[auth]\ninsecure = \"true\"\n", "auth.insecure"),
            ("[storage]\ndata_dir = 7\n", "storage.data_dir"),
            ("[storage]\nmax_open_files = 3000000000\n", "storage.max_open_files"),
            ("[storage]\ndurability = \"maybe\"\n", "storage.durability"),
            ("[server]\nlisten = \"nowhere\"\n", "server.listen"),
            ("[server]\nallowed_hosts = \"tideline\"\n", "server.allowed_hosts"),
            ("[server]\nallowed_hosts = [\"tideline\", \"tideline:80\"]\n", "tideline:80"),
            ("[server]\nallowed_origins = [\"app.example.org\"]\n", "server.allowed_origins"),
            ("[timeline]\nactive_for = \"soon\"\n", "timeline.active_for"),
            ("[timeline]\nactive_for = 5\n", "timeline.active_for"),
            ("[log]\nlevel = 5\n", "log.level"),
            ("[log]\nlevel = \"info\"\nlevel = \"warn\"\n", "line 3"),
        ] {
            let error = load(text).expect_err(text).to_string();
            assert!(error.contains(name), "{error}");
        }
    }

    #[test]
    fn variables_are_read_by_the_type_of_their_setting() {
        let dir = |value: &str| with("TIDELINE__STORAGE__DATA_DIR", value).map(|config| config.storage.data_dir);
        for text in ["007", "true", "1e3", "[x]", "a b"] {
            assert_eq!(dir(text).expect(text), Path::new(text));
        }
        assert_eq!(with("TIDELINE__TIMELINE__INBOX_LIMIT", "300").expect("a number").timeline.inbox_limit, 300);
        assert!(with("TIDELINE__AUTH__INSECURE", "true").expect("a switch").auth.insecure);
        assert_eq!(with("TIDELINE__LOG__LEVEL", "5").expect("any text").log.level, "5");
        let lists =
            with("TIDELINE__SERVER__ALLOWED_HOSTS", " Tideline, tideline.example.org. ,").expect("a list").server;
        let [one, other] = ["tideline", "tideline.example.org"].map(Host::Name);
        assert!(lists.allowed_hosts.len() == 2 && lists.allowed_hosts[0].is(one) && lists.allowed_hosts[1].is(other));
        assert!(with("TIDELINE__SERVER__ALLOWED_HOSTS", "").expect("an empty list").server.allowed_hosts.is_empty());
        assert_eq!(with("TIDELINES_TIMELINE", "x").expect("not ours"), Config::default());
        let links = ["KUBERNETES_SERVICE_HOST", "TIDELINE_SERVICE_PORT"].map(|name| (name.into(), "80".into()));
        assert_eq!(Config::from_sources(None, links.into_iter()).expect("not ours either"), Config::default());
        for (name, value, word) in [
            ("TIDELINE__TIMELINE__INBOX_LIMIT", "300.7", "timeline.inbox_limit"),
            ("TIDELINE__TIMELINE__INBOX_LIMIT", "", "timeline.inbox_limit"),
            ("TIDELINE__TIMELINE__INBOX_LIMIT", "true", "timeline.inbox_limit"),
            ("TIDELINE__TIMELINE__INBOX_LIMIT", "\"300\"", "timeline.inbox_limit"),
            ("TIDELINE__TIMELINE__INBOX_LIMIT", "300\nx = 1", "timeline.inbox_limit"),
            ("TIDELINE__FANOUT__PUSH_THRESHOLD", "99999999999999999999", "fanout.push_threshold"),
            ("TIDELINE__AUTH__INSECURE", "1", "auth.insecure"),
            ("TIDELINE__SERVER__ALLOWED_HOSTS", "[\"tideline\"]", "server.allowed_hosts"),
            ("TIDELINE__SERVER__ALLOWED_ORIGINS", "https://a.example.org,*", "server.allowed_origins"),
            ("TIDELINE__AUTH__INSECURE", "yes", "auth.insecure"),
            ("TIDELINE__TIMELINE__ACTIVE_FOR", "5", "timeline.active_for"),
            ("TIDELINE__TIMELINE__INBOX_LIMT", "5", "TIDELINE__TIMELINE__INBOX_LIMT is not a setting"),
            ("TIDELINE__TIMELINES__X", "5", "TIDELINE__TIMELINES__X is not a setting"),
            ("TIDELINE__TIMELINE", "5", "TIDELINE__TIMELINE is not a setting"),
            ("TIDELINE__TIMELINE__INBOX_LIMIT__X", "5", "TIDELINE__TIMELINE__INBOX_LIMIT__X is not a setting"),
            ("TIDELINE_TIMELINE_INBOX_LIMIT", "5", "did you mean TIDELINE__TIMELINE__INBOX_LIMIT?"),
            ("TIDELINE_LISTEN", "127.0.0.1:0", "did you mean TIDELINE__SERVER__LISTEN?"),
            ("TIDELINE_SERVICE_PORT", "80", "TIDELINE_SERVICE_PORT is not a setting"),
        ] {
            let error = with(name, value).expect_err(name).to_string();
            assert!(error.contains(word) && error.starts_with("configuration: "), "{error}");
        }
    }
}
