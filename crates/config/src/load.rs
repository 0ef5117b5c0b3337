//! Reads the settings from the file and the environment, each value by the type of its setting.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use serde::Deserialize;
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

use super::settings::Config;
use super::{Webhook, environment, wrong};
use model::error::Result;

/// The section that is a list of tables.
const WEBHOOKS: &str = "webhooks";

impl Config {
    /// Reads the file, if given, and the environment. Refuses by name: an unknown key, an unknown variable that begins
    /// with `TIDELINE_`, a value of another type, and a value out of range.
    pub fn load(file: Option<&Path>) -> Result<Self> {
        Self::from_sources(file, std::env::vars_os())
    }

    fn from_sources(file: Option<&Path>, environment: impl Iterator<Item = (OsString, OsString)>) -> Result<Self> {
        let defaults = Table::try_from(Config::default()).map_err(wrong)?;
        let mut settings = Settings { given: Table::new(), defaults };
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
        let config = Self::deserialize(settings.given).map_err(|e| wrong(e.message()))?;
        config.validate()?;
        Ok(config)
    }

    /// The settings in the form of `config.toml`.
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).map_err(wrong)
    }
}

/// The settings given by the sources.
struct Settings {
    given: Table,
    /// All settings with their defaults, which show the type of each setting.
    defaults: Table,
}

impl Settings {
    fn add_file(&mut self, path: &Path) -> Result<()> {
        let file = path.display();
        let text = std::fs::read_to_string(path).map_err(|e| wrong(format_args!("cannot read {file}: {e}")))?;
        let invalid = |e: toml::de::Error| wrong(format_args!("{file} is not valid TOML: {e}"));
        // Read twice: once for the values, once for their lines.
        let (sections, places) = (text.parse::<Table>().map_err(invalid)?, DeTable::parse(&text).map_err(invalid)?);
        for (section, keys) in places.get_ref() {
            let place =
                |at: usize| format!("{file}, line {}", 1 + text.bytes().take(at).filter(|b| *b == b'\n').count());
            let begins = place(section.span().start);
            let section: &str = section.get_ref();
            if section == WEBHOOKS {
                self.add_webhooks(sections.get(section), &begins)?;
                continue;
            }
            let (Some(Value::Table(values)), DeValue::Table(keys)) = (sections.get(section), keys.get_ref()) else {
                return Err(wrong(format_args!("{section} ({begins}): expected a section, such as [timeline]")));
            };
            if !self.defaults.contains_key(section) {
                let known: Vec<_> = self.defaults.keys().map(String::as_str).collect();
                let known = known.join(", ");
                return Err(wrong(format_args!("[{section}] ({begins}) is not a section; the sections are {known}")));
            }
            for (key, _) in keys {
                if let Some(list) =
                    environment::plural(section, key.get_ref()).filter(|list| values.contains_key(*list))
                {
                    let (key, at) = (key.get_ref(), place(key.span().start));
                    return Err(wrong(format_args!("{section}.{key} ({at}) is another name of {list}; give only one")));
                }
                if let Some(value) = values.get(key.get_ref().as_ref()) {
                    self.add(section, key.get_ref(), value.clone(), &place(key.span().start))?;
                }
            }
        }
        Ok(())
    }

    /// Adds the receivers of changes, one or more tables.
    fn add_webhooks(&mut self, tables: Option<&Value>, place: &str) -> Result<()> {
        let refused = |detail: &str| wrong(format_args!("{WEBHOOKS} ({place}): {detail}"));
        let Some(Value::Array(tables)) = tables else { return Err(refused("expected [[webhooks]] for each receiver")) };
        for (number, table) in (1..).zip(tables) {
            let read = Webhook::deserialize(table.clone());
            read.map_err(|e| refused(&format!("receiver {number}: {}", e.message())))?;
        }
        self.given.insert(WEBHOOKS.to_owned(), Value::Array(tables.clone()));
        Ok(())
    }

    /// Adds a variable that must be a setting.
    fn add_variable(&mut self, name: &OsStr, value: OsString) -> Result<()> {
        let name = name.to_string_lossy();
        let Some((section, key)) = environment::setting(&name, &self.defaults) else {
            return Err(wrong(environment::no_setting(&name, &self.defaults)));
        };
        let text = value.into_string().map_err(|_| wrong(format_args!("the value of {name} is not UTF-8")))?;
        // The type of the default defines how the text is parsed.
        let value = match self.defaults.get(&section).and_then(|section| section.get(&key)) {
            Some(Value::String(_)) | None => Value::String(text),
            Some(Value::Array(_)) => {
                let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
                Value::Array(entries.map(|entry| Value::String(entry.to_owned())).collect())
            }
            Some(other) => {
                let value: Option<Value> = text.parse().ok();
                value.filter(|value| value.same_type(other)).unwrap_or(Value::String(text))
            }
        };
        self.add(&section, &key, value, &name)
    }

    /// Adds one value. Checks it alone first, so that a refusal names the setting and `place`.
    fn add(&mut self, section: &str, key: &str, value: Value, place: &str) -> Result<()> {
        let (key, value) = match environment::plural(section, key) {
            Some(list) => (list, if value.is_str() { Value::Array(vec![value]) } else { value }),
            None => (key, value),
        };
        let name = format!("{section}.{key}");
        let Some(default) = self.defaults.get(section).and_then(|section| section.get(key)) else {
            let meant = environment::meant(&name, &self.defaults, |section, key| format!("{section}.{key}"));
            return Err(wrong(format_args!("{name} ({place}) is not a setting{meant}")));
        };
        let values = Table::from_iter([(key.to_owned(), value.clone())]);
        let alone = Table::from_iter([(section.to_owned(), Value::Table(values))]);
        let refusal = match Config::deserialize(alone) {
            Ok(alone) => alone.check_ranges().err().map(|(_, detail)| detail),
            // The value has the right TOML type, and the type of the setting refuses it. Numbers have ranges instead.
            Err(error) if value.same_type(default) && !value.is_integer() => Some(error.message().to_owned()),
            // The value may be a key in place of a list of keys: no message may have it.
            Err(_) if section == "auth" && default.is_array() => Some(format!("expected {}", kind(default, None))),
            Err(_) => Some(format!("expected {}, not {value}", kind(default, Config::range_of(&name)))),
        };
        if let Some(detail) = refusal {
            return Err(wrong(format_args!("{name} ({place}): {detail}")));
        }
        let values = self.given.entry(section).or_insert_with(|| Value::Table(Table::new()));
        if let Value::Table(values) = values {
            values.insert(key.to_owned(), value);
        }
        Ok(())
    }
}

/// The kind of a setting's value, in words.
fn kind(default: &Value, range: Option<String>) -> String {
    match (default, range) {
        (Value::Integer(_), Some(range)) => format!("a whole number {range}"),
        (Value::Integer(_), None) => "a whole number from 0".to_owned(),
        (Value::Boolean(_), _) => "true or false".to_owned(),
        (Value::Array(_), _) => "a list of texts in quotes".to_owned(),
        _ => format!("a text in quotes, such as {default}"),
    }
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
    fn webhooks_are_a_list_of_tables() {
        let hook = "[[webhooks]]\nname = \"a\"\nurl = \"https://a.example.org/x\"\nsecret_file = \"s\"\n";
        let config =
            load(&format!("{hook}types = [\"follow.created\"]\n[timeline]\ninbox_limit = 5\n")).expect("loads");
        assert_eq!((config.webhooks.len(), config.timeline.inbox_limit), (1, 5));
        assert_eq!(load(&config.to_toml().expect("prints")).expect("loads again"), config);
        for (text, detail) in [
            ("[webhooks]\nname = \"a\"\n".to_owned(), "line 1): expected [[webhooks]]"),
            (format!("{hook}{hook}"), "two receivers have the same name"),
            (hook.repeat(17), "at most 16"),
            (format!("{hook}typos = 1\n"), "receiver 1: unknown field"),
            (format!("{hook}types = [\"follow\"]\n"), "the types are content.published, "),
            (hook.replace("https:", "http:"), "http is for loopback addresses"),
            (hook.replace("\"s\"", "\"\""), "webhooks.a.secret_file: "),
            (hook.replace("url", "uri"), "unknown field"),
        ] {
            let error = load(&text).expect_err(&text).to_string();
            assert!(error.contains(detail), "{error}");
        }
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
            ("[server]\navatar_origins = [\"http://cdn.example.org\"]\n", "expected an origin with https"),
            ("[server]\navatar_origins = [\"https://cdn.example.org/a\"]\n", "server.avatar_origins"),
            ("[timeline]\nactive_for = \"soon\"\n", "timeline.active_for"),
            ("[timeline]\nactive_for = 5\n", "timeline.active_for"),
            ("[log]\nlevel = 5\n", "log.level"),
            ("[log]\nlevel = \"info\"\nlevel = \"warn\"\n", "line 3"),
        ] {
            let error = load(text).expect_err(text).to_string();
            assert!(error.contains(name) && error.starts_with("configuration: "), "{error}");
        }
    }

    #[test]
    fn a_refusal_names_the_line_and_the_expected_value() {
        let secret = "0123456789 0123456789 0123456789";
        for text in [
            format!("[auth]\nkeys = \"{secret}\"\n"),
            format!("[auth]\nkeys = [\"{secret}\"]\n"),
            format!("[auth]\njwt_secrets = \"{secret}\"\n"),
            format!("[auth]\njwt_public_keys = [\"{secret}\"]\n"),
            format!("[auth]\njwt_secret = \"{secret}\"\njwt_secrets = []\n"),
        ] {
            let error = load(&text).expect_err(&text).to_string();
            assert!(error.contains("auth.") && error.contains("line 2") && !error.contains(secret), "{error}");
        }
        let one = load(&format!("[auth]\njwt_secret = \"{secret}\"\n")).expect("one secret");
        assert_eq!(one, with("TIDELINE__AUTH__JWT_SECRET", secret).expect("the same"));
        assert_eq!(one.auth.jwt_secrets.len(), 1);
        assert!(!one.to_toml().expect("prints").contains(secret));
        for (text, refusal) in [
            (
                "# x\n[timeline]\ninbox_limit = \"300\"\n",
                "line 3): expected a whole number from 1 to 1000000, not \"300\"",
            ),
            ("[timeline]\ninbox_limit = -5\n", "line 2): expected a whole number from 1 to 1000000, not -5"),
            ("[timeline]\ninbox_limit = 0\n", "line 2): expected a value from 1 to 1000000, not 0"),
            ("[timeline]\n\nactive_for = 5\n", "line 3): expected a text in quotes, such as \"30d\", not 5"),
            ("[storage]\nmin_free_mb = -1\n", "line 2): expected a whole number from 0, not -1"),
            ("[auth]\ninsecure = 1\n", "line 2): expected true or false, not 1"),
            ("[server]\nallowed_hosts = \"a\"\n", "line 2): expected a list of texts in quotes, not \"a\""),
            ("timeline.inbox_limt = 5\n", "line 1) is not a setting; did you mean timeline.inbox_limit?"),
            ("[timelines]\n", "line 1) is not a section; the sections are "),
            ("timeline = 5\n", "line 1): expected a section, such as [timeline]"),
        ] {
            let error = load(text).expect_err(text).to_string();
            assert!(error.contains(refusal), "{error}");
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
