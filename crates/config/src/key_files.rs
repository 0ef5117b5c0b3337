//! Files of keys, with one entry on each line.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use super::wrong;
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

/// The text of such a file.
pub(super) fn text_of(file: &Path) -> io::Result<String> {
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
