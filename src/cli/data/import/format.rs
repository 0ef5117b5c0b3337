//! The format of an input, by its first bytes.

use super::split_records::Shape;

/// This many bytes tell the format.
pub(super) const TELLING: usize = 300;

const UTF_16: (&str, &str) = ("text in UTF-16", "convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)");
const PAGE: (&str, &str) = ("a page of HTML or XML", "perhaps the answer to a download that failed");
const UNPACK: &str = "unpack it; gzip and Zstandard are read as they are";

/// Formats that are often given by mistake: first bytes, name, advice.
const OTHERS: &[(&[u8], (&str, &str))] = &[
    (b"[", ("a JSON array", "write its elements as lines (jq -c '.[]')")),
    (b"\xFF\xFE", UTF_16),
    (b"\xFE\xFF", UTF_16),
    (b"<!doctype", PAGE),
    (b"<html", PAGE),
    (b"<?xml", PAGE),
    (b"PK\x03\x04", ("a zip archive or a spreadsheet", "unpack it, or save the sheet as CSV")),
    (b"BZh91AY&SY", ("packed with bzip2", UNPACK)),
    (b"\xFD7zXZ\0", ("packed with xz", UNPACK)),
    (b"7z\xBC\xAF\x27\x1C", ("a 7-Zip archive", UNPACK)),
    (b"SQLite format 3\0", ("an SQLite database", "export its tables")),
    (b"PGDMP", ("an archive of pg_dump", "export the tables with \\copy")),
];

/// The shape of the records, or the reason why the input has none.
pub(super) fn shape(beginning: &[u8]) -> Result<Shape, String> {
    let begins = |first: &[u8]| beginning.get(..first.len()).is_some_and(|bytes| bytes.eq_ignore_ascii_case(first));
    let other = OTHERS.iter().find(|(first, _)| begins(first)).map(|(_, other)| *other);
    let other = other
        .or_else(|| beginning.contains(&0).then_some(("binary data", "if it is text in UTF-16, convert it to UTF-8")));
    match (other, beginning.first()) {
        (Some((what, advice)), _) => {
            Err(format!("expected one JSON object on each line, or CSV, not {what}; {advice}"))
        }
        (None, Some(b'{')) => Ok(Shape::Lines),
        (None, _) => Ok(Shape::Csv),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_formats_are_called_by_their_names() {
        for (beginning, name) in [
            (&b"[{\"user_id\":1}]"[..], "not a JSON array"),
            (b"\xFF\xFE1\0,\x002\0", "not text in UTF-16; convert it to UTF-8"),
            (b"\xFE\xFF\x001\0,", "not text in UTF-16"),
            (b"1\0,\x002\0", "not binary data; if it is text in UTF-16"),
            (b"<!DOCTYPE html>\n<html>", "not a page of HTML or XML"),
            (b"<HTML>", "not a page of HTML or XML"),
            (b"PK\x03\x04\x14", "not a zip archive or a spreadsheet"),
            (b"\xFD7zXZ\0\0", "not packed with xz; unpack it"),
            (b"SQLite format 3\0\x10", "not an SQLite database"),
            (b"follows.csv\0\0\0", "not binary data"),
        ] {
            let reason = shape(beginning).expect_err(name);
            assert!(reason.starts_with("expected one JSON object on each line, or CSV, not "), "{reason}");
            assert!(reason.contains(name), "{reason}");
        }
        assert_eq!(shape(b"{\"user_id\":1}"), Ok(Shape::Lines));
        for csv in [&b"1,2\n"[..], b"<a>,2", b"PKW,2", b"\xFF,1", b"", b"BZh,1"] {
            assert_eq!(shape(csv), Ok(Shape::Csv));
        }
    }
}
