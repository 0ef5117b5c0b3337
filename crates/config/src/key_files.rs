//! Files of keys, with one entry on each line; and files with secrets that every user of the machine may read.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::Auth;
use super::load::wrong;
use model::error::Result;

/// Most bytes of a file.
const MOST_BYTES: u64 = 1 << 20;

/// Divides a text into entries, each with the number of its first line.
type Divide = fn(&str) -> Vec<(usize, String)>;

/// The entries of the file of the setting `{name}_file`; none if no file is set.
pub(super) fn from_file<T>(
    name: &str,
    file: &Path,
    divide: Divide,
    read: fn(&str) -> Result<T, &'static str>,
) -> Result<Vec<T>> {
    if file == Path::new("") {
        return Ok(Vec::new());
    }
    let refused = |what: &dyn fmt::Display| wrong(format_args!("{name}_file: {}: {what}", file.display()));
    let text = text_of(file).map_err(|e| refused(&e))?;
    if text.starts_with('\u{feff}') {
        return Err(refused(&"the file begins with a byte order mark: save it as UTF-8 without BOM"));
    }
    let entries = divide(&text);
    if entries.is_empty() {
        return Err(refused(&"the file has no entry"));
    }
    let read = |(line, entry): (usize, String)| read(&entry).map_err(|e| refused(&format_args!("line {line}: {e}")));
    entries.into_iter().map(read).collect()
}

/// The bytes of a regular file of at most 1 MiB. Any other file is refused before it is opened, because that could wait for
/// a writer.
pub fn small_file(file: &Path) -> io::Result<Vec<u8>> {
    if !fs::metadata(file)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(file)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(io::Error::other("the file is larger than 1 MiB"));
    }
    Ok(bytes)
}

fn text_of(file: &Path) -> io::Result<String> {
    String::from_utf8(small_file(file)?).map_err(|_| io::Error::other("not UTF-8"))
}

/// One entry on each line, without comments and empty lines.
pub(super) fn lines(text: &str) -> Vec<(usize, String)> {
    let lines = text.lines().map(str::trim).enumerate();
    let entries = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    entries.map(|(at, line)| (at + 1, line.to_owned())).collect()
}

pub(super) const PEM_BEGIN: &str = "-----BEGIN ";
const PEM_END: &str = "-----END ";

/// The entries of a file with their lines. Lines from the beginning to the end of a PEM block are one entry.
pub(super) fn blocks(text: &str) -> Vec<(usize, String)> {
    let mut entries: Vec<(usize, String)> = Vec::new();
    let mut inside = false;
    for (number, line) in lines(text) {
        match entries.last_mut() {
            Some((_, block)) if inside => {
                block.push('\n');
                block.push_str(&line);
            }
            _ => entries.push((number, line.clone())),
        }
        inside = (inside || line.starts_with(PEM_BEGIN)) && !line.starts_with(PEM_END);
    }
    entries
}

impl Auth {
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
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::Command;

    use super::*;

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
}
