//! The keys in force: those of the settings, and those of the files that the settings name. No refusal and no output of
//! this module has a key or a secret.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::auth::{Key, KeyHash, PublicKey, Secret};
use super::choices::KeyRole;
use super::key_files::{blocks, from_file, lines, text_of};
use super::settings::Auth;
use super::wrong;
use model::error::Result;

/// Most keys in all, and most keys for tokens: each is tried for each request that has not been seen before.
const MOST_KEYS: usize = 1000;
const MOST_TOKEN_KEYS: usize = 16;

/// All keys that are in force: those of the settings, and those of the files that the settings name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Credentials {
    /// Each key, with its role.
    pub keys: Vec<(KeyRole, Key)>,
    /// Secrets of tokens.
    pub secrets: Vec<Secret>,
    /// Public keys of tokens.
    pub public_keys: Vec<PublicKey>,
}

impl Credentials {
    /// Whether there are none: then every client may make every call.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.secrets.is_empty() && self.public_keys.is_empty()
    }
}

impl Auth {
    /// Reads the files that are named, and puts all keys together. Refuses by the name of the setting: an unreadable
    /// or empty file, a wrong entry, a key in two lists, and too many keys.
    pub fn credentials(&self) -> Result<Credentials> {
        let mut all = Credentials::default();
        for (role, name, own, file) in [
            (KeyRole::Full, "auth.keys", &self.keys, &self.keys_file),
            (KeyRole::Read, "auth.read_keys", &self.read_keys, &self.read_keys_file),
            (KeyRole::Metrics, "auth.metrics_keys", &self.metrics_keys, &self.metrics_keys_file),
        ] {
            for key in own.iter().cloned().chain(from_file(name, file, lines, Key::read)?) {
                match all.keys.iter().find(|(_, known)| known.hash == key.hash) {
                    None => all.keys.push((role, key)),
                    Some((other, _)) if *other == role => (),
                    Some(_) => return Err(wrong(format_args!("{name}: the key {} is in another list, too", key.hash))),
                }
            }
        }
        all.secrets = self.jwt_secrets.clone();
        all.secrets.extend(from_file("auth.jwt_secrets", &self.jwt_secrets_file, lines, Secret::read)?);
        let is_key = |secret: &Secret| all.keys.iter().any(|(_, key)| key.hash == KeyHash::of(secret.reveal()));
        if all.secrets.iter().any(is_key) {
            return Err(wrong(
                "auth.jwt_secrets: a secret is a key, too, so that each holder of the key could make tokens",
            ));
        }
        all.public_keys = self.jwt_public_keys.clone();
        all.public_keys.extend(from_file("auth.jwt_public_keys", &self.jwt_public_keys_file, blocks, PublicKey::read)?);
        if all.keys.len() > MOST_KEYS {
            return Err(wrong(format_args!("auth.keys: there are more than {MOST_KEYS} keys")));
        }
        if all.secrets.len() + all.public_keys.len() > MOST_TOKEN_KEYS {
            return Err(wrong(format_args!(
                "auth.jwt_secrets and auth.jwt_public_keys: there are more than {MOST_TOKEN_KEYS} keys for tokens"
            )));
        }
        Ok(all)
    }

    /// Those of the files with keys or secrets, and of the configuration file, that every user of the machine may read,
    /// with their modes. Files with only hashes or public keys do not count.
    pub fn exposed(&self, configuration: Option<&Path>) -> Vec<(PathBuf, u32)> {
        let of_keys = [&self.keys_file, &self.read_keys_file, &self.metrics_keys_file, &self.jwt_secrets_file];
        let is_plain = |text: String| lines(&text).iter().any(|(_, entry)| !is_hash(entry));
        let files = of_keys.into_iter().filter(|file| text_of(file).is_ok_and(is_plain));
        let in_settings = configuration.filter(|file| text_of(file).is_ok_and(|text| has_secrets(&text)));
        let all = files.map(PathBuf::as_path).chain(in_settings);
        let mode = |file: &Path| Some((file.to_owned(), fs::metadata(file).ok()?.mode() & 0o7777));
        all.filter_map(mode).filter(|(_, mode)| mode & 0o004 != 0).collect()
    }
}

fn is_hash(entry: &str) -> bool {
    entry.starts_with("sha256:")
}

/// Whether a text of settings has a key or a secret.
fn has_secrets(text: &str) -> bool {
    let settings = text.parse::<Table>().unwrap_or_default();
    let auth = settings.get("auth").and_then(Value::as_table);
    let named = |name: &str| auth.and_then(|auth| auth.get(name));
    let is_plain = |name: &&str| {
        named(name)
            .and_then(Value::as_array)
            .is_some_and(|entries| entries.iter().any(|entry| entry.as_str().is_some_and(|entry| !is_hash(entry))))
    };
    ["keys", "read_keys", "metrics_keys", "jwt_secrets"].iter().any(is_plain) || named("jwt_secret").is_some()
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::Command;

    use super::*;

    /// The example of RFC 8037, appendix A.2, in both notations.
    const PUBLIC: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
    const PEM: &str = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n\
                       -----END PUBLIC KEY-----\n";

    fn file(text: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().expect("temp file");
        file.write_all(text.as_bytes()).expect("write");
        file
    }

    const KEY: &str = "tlk_0123456789abcdefghijklmnopqrstuvwxyz";

    #[test]
    fn only_regular_files_without_a_mark_of_the_byte_order() {
        let dir = tempfile::tempdir().expect("temp dir");
        let file = dir.path().join("keys");
        let refusal = |file: &Path| {
            let auth = Auth { jwt_secrets_file: file.to_owned(), ..Auth::default() };
            auth.credentials().expect_err("refused").to_string()
        };
        fs::write(&file, format!("\u{feff}# a comment that is longer than any secret must be\n{KEY}")).expect("write");
        assert!(refusal(&file).contains("byte order mark"));
        fs::write(&file, vec![b'x'; (1 << 20) + 1]).expect("write");
        assert!(refusal(&file).contains("larger than 1 MiB"));
        let pipe = dir.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
        for other in [&pipe, dir.path(), Path::new("/dev/null")] {
            assert!(refusal(other).contains("not a regular file"), "{}", other.display());
        }
    }

    #[test]
    fn files_with_secrets_that_all_may_read_are_named() {
        let dir = tempfile::tempdir().expect("temp dir");
        let write = |name: &str, text: &str, mode: u32| {
            let file = dir.path().join(name);
            fs::write(&file, text).expect("write");
            fs::set_permissions(&file, Permissions::from_mode(mode)).expect("mode");
            file
        };
        let hash = format!("sha256:{}", "0".repeat(64));
        let auth = Auth {
            keys_file: write("keys", &format!("# hashes\n{hash}\n{KEY}\n"), 0o644),
            read_keys_file: write("hashes", &hash, 0o644),
            metrics_keys_file: write("private", KEY, 0o640),
            jwt_secrets_file: write("secrets", KEY, 0o604),
            jwt_public_keys_file: write("public", KEY, 0o644),
            ..Auth::default()
        };
        let exposed = [(auth.keys_file.clone(), 0o644), (auth.jwt_secrets_file.clone(), 0o604)];
        assert_eq!(auth.exposed(None), exposed);
        for (text, counts) in [
            (format!("[auth]\nkeys = [\"{hash}\", \"{KEY}\"]"), true),
            (format!("[auth]\njwt_secrets = [\"{KEY}\"]"), true),
            (format!("[auth]\njwt_secret = \"{KEY}\""), true),
            (format!("[auth]\nread_keys = [\"{hash}\"]\njwt_public_key = \"{KEY}\""), false),
            ("[server]\nworkers = 2".to_owned(), false),
        ] {
            let file = write("settings", &text, 0o644);
            let expected: &[_] = if counts { &[(file.clone(), 0o644)] } else { &[] };
            assert_eq!(Auth::default().exposed(Some(&file)), expected, "{text}");
        }
    }

    #[test]
    fn files_add_to_the_settings() {
        let [one, other] = [KEY, &KEY.to_uppercase()].map(|key| KeyHash::of(key.as_bytes()));
        let keys = file(&format!("# the shop\n\n  {KEY} the shop\r\n{other}\n{KEY}"));
        let public = file(&format!("# old\n{PEM}# new\n{PUBLIC}\n"));
        let secrets = file("0123456789 0123456789 0123456789\n");
        let auth = Auth {
            keys_file: keys.path().into(),
            metrics_keys: vec![KeyHash::of(b"metrics").into()],
            jwt_public_keys_file: public.path().into(),
            jwt_secrets_file: secrets.path().into(),
            ..Auth::default()
        };
        let found = auth.credentials().expect("reads");
        let metrics = (KeyRole::Metrics, KeyHash::of(b"metrics").into());
        let named = Key { hash: one, name: Some("the shop".into()) };
        assert_eq!(found.keys, [(KeyRole::Full, named), (KeyRole::Full, other.into()), metrics]);
        assert_eq!(found.public_keys.iter().map(PublicKey::to_string).collect::<Vec<_>>(), [PUBLIC, PUBLIC]);
        assert_eq!(found.secrets.len(), 1);
        assert!(!format!("{found:?} {auth:?}").contains("0123456789 "));
        assert!(Auth::default().credentials().expect("reads").is_empty());
    }

    #[test]
    fn a_refusal_names_setting_file_and_line_but_not_the_entry() {
        let refusal = |set: &dyn Fn(&mut Auth)| {
            let mut auth = Auth::default();
            set(&mut auth);
            auth.credentials().expect_err("refused").to_string()
        };
        let weak = file(&format!("{KEY}\nhunter2\n"));
        let told = refusal(&|auth| auth.read_keys_file = weak.path().into());
        assert!(told.contains("auth.read_keys_file: ") && told.contains("line 2: a key has at least 32"), "{told}");
        assert!(!told.contains("hunter2") && !told.contains(KEY), "{told}");
        let told = refusal(&|auth| auth.jwt_secrets_file = weak.path().into());
        assert!(told.contains("auth.jwt_secrets_file: ") && told.contains("line 2: a secret has"), "{told}");
        let told = refusal(&|auth| auth.jwt_public_keys_file = weak.path().into());
        assert!(told.contains("line 1: expected an Ed25519 public key"), "{told}");
        let told = refusal(&|auth| auth.keys_file = "/nowhere/keys".into());
        assert!(told.contains("auth.keys_file: /nowhere/keys: "), "{told}");
        let empty = file("# none yet\n");
        assert!(refusal(&|auth| auth.metrics_keys_file = empty.path().into()).contains("has no entry"));
        let told = refusal(&|auth| {
            for keys in [&mut auth.keys, &mut auth.read_keys] {
                keys.push(KeyHash::of(b"abc").into())
            }
        });
        assert!(told.contains("auth.read_keys: the key sha256:ba78"), "{told}");
        assert!(
            refusal(&|auth| auth.jwt_public_keys = vec![PublicKey::read(PUBLIC).expect("a key"); 17])
                .contains("more than 16")
        );
        let both = file(KEY);
        let told = refusal(&|auth| {
            auth.read_keys = vec![KeyHash::of(KEY.as_bytes()).into()];
            auth.jwt_secrets_file = both.path().into();
        });
        assert!(told.contains("a secret is a key, too") && !told.contains(KEY), "{told}");
    }
}
