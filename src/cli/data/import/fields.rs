//! The fields and columns of CSV records.

use std::borrow::Cow;

use super::refusal::{INVALID_LINE, Refusal};

/// A field of a record. `None` is a null: without quotes, nothing or `\N`.
pub(crate) type Field<'r> = Option<Cow<'r, str>>;

/// The kind of value that a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli::data) enum Holds {
    Id,
    Time,
    Flag,
    Audience,
    Object,
    Text,
}

impl Holds {
    /// By the name of the field, which has the same meaning in all lines.
    pub(in crate::cli::data) fn of(name: &str) -> Self {
        match name {
            "published_at" | "edited_at" | "deleted_at" | "since" => Self::Time,
            "approve_followers" | "exclusive" | "notices" | "purged" => Self::Flag,
            "default_audience" => Self::Audience,
            "extra" => Self::Object,
            "id" => Self::Id,
            name if name.ends_with("_id") => Self::Id,
            _ => Self::Text,
        }
    }
}

/// The columns of a table, and the place of each in a record.
#[derive(Debug)]
pub(crate) struct Columns {
    /// The name of each, and whether a record must have it.
    table: Vec<(&'static str, bool)>,
    /// For each column of the table, the place of its field.
    places: Vec<Option<usize>>,
    /// Most fields of a record.
    width: usize,
}

impl Columns {
    /// The columns that a table declares, for a file without a header.
    pub(in crate::cli::data) fn declared(declared: &'static str) -> Self {
        let column = |name: &'static str| (name.trim_matches(['[', ']']), !name.contains(']'));
        let table: Vec<_> = declared.split(',').map(column).collect();
        Self { places: (0..table.len()).map(Some).collect(), width: table.len(), table }
    }

    /// Takes the order of a header. Refuses unknown, repeated and missing names.
    pub(in crate::cli::data) fn take_header(&mut self, header: &[Field<'_>]) -> Result<(), String> {
        let names: Vec<_> = header.iter().map(|name| name.as_deref().unwrap_or_default()).collect();
        let known: Vec<_> = self.table.iter().map(|(name, _)| *name).collect();
        if let Some(name) = known.iter().find(|known| names.iter().filter(|name| name == known).count() > 1) {
            return Err(format!("column {name} occurs twice in the header"));
        }
        let unknown: Vec<_> = names.iter().filter(|name| !known.contains(name)).collect();
        if !unknown.is_empty() {
            let hint = unknown.iter().find_map(|name| slip(name)).map_or_else(String::new, |hint| format!("; {hint}"));
            let unknown: Vec<_> = unknown.iter().map(|name| format!("{name:?}")).collect();
            let (unknown, known) = (unknown.join(", "), known.join(","));
            return Err(format!(
                "unknown column {unknown} in the header{hint}. The known columns are {known}. If this line is data, put a \
                 line with their names before it"
            ));
        }
        if let Some((name, _)) = self.table.iter().find(|(name, is_needed)| *is_needed && !names.contains(name)) {
            return Err(format!("column {name} is missing in the header"));
        }
        let place = |known: &&str| names.iter().position(|name| name == known);
        (self.places, self.width) = (known.iter().map(place).collect(), header.len());
        Ok(())
    }

    /// Whether a record is a header: its first field, or two of its fields, are names of columns, in upper or lower case; or
    /// all of its fields, at least two, read as names of columns elsewhere. With a wrong separator the record is one field.
    pub(in crate::cli::data) fn is_header(&self, fields: &[Field<'_>]) -> bool {
        let is_name = |field: &str| self.table.iter().any(|(name, _)| name.eq_ignore_ascii_case(field.trim()));
        let texts = || fields.iter().map(|field| field.as_deref().unwrap_or_default());
        let first = texts().next().and_then(|field| field.split([';', '\t']).next()).unwrap_or_default();
        is_name(first)
            || texts().filter(|field| is_name(field)).count() > 1
            || (fields.len() > 1 && texts().all(is_label))
    }

    /// Refuses a record with more fields than there are columns, or with another separator.
    pub(in crate::cli::data) fn check(&self, fields: &[Field<'_>]) -> Result<(), Refusal> {
        if let [Some(field)] = fields
            && let Some(hint) = slip(field)
        {
            return Err(Refusal::of_line(INVALID_LINE, "the line has only one field").with_hint(hint));
        }
        if fields.len() > self.width {
            let detail = format_args!("the line has {} fields, but at most {} are expected", fields.len(), self.width);
            return Err(Refusal::of_line(INVALID_LINE, detail));
        }
        Ok(())
    }

    /// The value of each column in a record: the name, whether it is needed, and the text if there is one.
    pub(in crate::cli::data) fn values<'f>(
        &self,
        fields: &'f [Field<'_>],
    ) -> impl Iterator<Item = (&'static str, bool, Option<&'f str>)> {
        let text = |place: Option<usize>| fields.get(place?)?.as_deref();
        self.table.iter().zip(&self.places).map(move |((name, needed), place)| (*name, *needed, text(*place)))
    }
}

/// Words in the names that other programs give to columns.
const WORDS: &str = "id user username account handle follower followee following followed source target author content post \
                     item created date time timestamp at text body name";

/// Whether a field reads as the name of a column elsewhere: some words of letters, or a word that is common there.
fn is_label(field: &str) -> bool {
    let is_letters = |word: &str| word.chars().all(char::is_alphabetic);
    let is_common = |word: &str| {
        ["Id", "ID"].iter().any(|end| word.ends_with(end))
            || WORDS.split(' ').any(|known| known.eq_ignore_ascii_case(word))
    };
    let mut words = field.split([' ', '_']).filter(|word| !word.is_empty());
    words.clone().all(is_letters) && (field.trim().contains(' ') || words.any(is_common))
}

/// The likely mistake behind a refused value, if it is recognised.
pub(in crate::cli::data) fn slip(field: &str) -> Option<&'static str> {
    if field.contains([';', '\t']) {
        Some("separate the columns by commas")
    } else if field.trim() != field {
        Some("remove the space")
    } else {
        None
    }
}

/// Splits a record whose quotes are valid.
pub(in crate::cli::data) fn split(record: &str) -> Vec<Field<'_>> {
    let mut fields = Vec::with_capacity(4);
    let mut rest = record;
    loop {
        let (field, after) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let end = closing_quote(quoted);
                let inside = &quoted[..end];
                let field = if inside.contains('"') { inside.replace("\"\"", "\"").into() } else { inside.into() };
                (Some(field), quoted.get(end + 1..).unwrap_or_default())
            }
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                let (bare, after) = rest.split_at(end);
                ((!matches!(bare, "" | "\\N")).then_some(Cow::Borrowed(bare)), after)
            }
        };
        fields.push(field);
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None => return fields,
        }
    }
}

/// The position of the closing quote: the first that is not one of a pair.
fn closing_quote(text: &str) -> usize {
    let mut quotes = text.match_indices('"').map(|(at, _)| at).peekable();
    while let Some(at) = quotes.next() {
        if quotes.next_if_eq(&(at + 1)).is_none() {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "user_id,target_id[,since]";

    /// The columns of a file that begins with a header.
    fn of_header(header: &str) -> Result<Columns, String> {
        let mut columns = Columns::declared(TABLE);
        columns.take_header(&split(header)).map(|()| columns)
    }

    #[test]
    fn fields_are_split_and_unquoted() {
        for (record, want) in [
            ("1,2", vec![Some("1"), Some("2")]),
            ("1,2,", vec![Some("1"), Some("2"), None]),
            (",", vec![None, None]),
            ("", vec![None]),
            (r#""1","2""#, vec![Some("1"), Some("2")]),
            (r#"1,"a,""b""""#, vec![Some("1"), Some(r#"a,"b""#)]),
            ("1,\"a\nb\",\"\"", vec![Some("1"), Some("a\nb"), Some("")]),
            (r#"1,a"b"#, vec![Some("1"), Some(r#"a"b"#)]),
            ("1,\"é\",ü", vec![Some("1"), Some("é"), Some("ü")]),
            (r#"\N,"\N",\n"#, vec![None, Some(r"\N"), Some(r"\n")]),
        ] {
            let fields = split(record);
            assert_eq!(fields.iter().map(Option::as_deref).collect::<Vec<_>>(), want, "{record}");
        }
    }

    #[test]
    fn a_header_is_known_by_the_name_of_a_column() {
        for header in [
            "user_id,target_id",
            "x,Target_ID,since",
            "\"user_id\"",
            " since",
            "user_id;target_id",
            "user_id\tx",
            "Account address,Show boosts",
            "follower,followee",
            "followerId,followee_id",
        ] {
            assert!(Columns::declared(TABLE).is_header(&split(header)), "{header}");
        }
        for data in [
            "1,2",
            "alice,bob",
            "",
            ",2",
            "author,alice",
            "jane_doe,john_doe",
            "Account address,",
            "Jane Doe,@bob",
            "user_id1,2",
            "\"1\",2",
            "1,since",
            "1,\"since; x\"",
        ] {
            assert!(!Columns::declared(TABLE).is_header(&split(data)), "{data}");
        }
    }

    #[test]
    fn a_wrong_header_is_refused_by_name() {
        for (header, word) in [
            (
                "user_id,target",
                "unknown column \"target\" in the header. The known columns are user_id,target_id,since. If",
            ),
            ("user_id,target_id,", "\"\""),
            ("Account address,Show boosts", "\"Account address\", \"Show boosts\""),
            ("user_id, since", "remove the space"),
            ("user_id,user_id,target_id", "user_id occurs twice"),
            ("user_id,since", "target_id is missing"),
            ("User_id,target_id", "\"User_id\""),
        ] {
            let error = of_header(header).expect_err(header);
            assert!(error.contains(word), "{error}");
        }
    }
}
