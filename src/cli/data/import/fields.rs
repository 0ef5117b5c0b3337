//! The fields and columns of CSV records.

use std::borrow::Cow;

use super::refusal::{INVALID_LINE, Refusal};

/// A column of a table: its name, and whether a record must have it.
pub(crate) type Column = (&'static str, bool);

/// The place of each column in a record.
#[derive(Debug)]
pub(crate) struct Columns {
    /// For each column of the table, the place of its field.
    places: Vec<Option<usize>>,
    /// Most fields of a record.
    width: usize,
}

impl Columns {
    /// The table's order, for a file without a header.
    pub(super) fn in_order(table: &[Column]) -> Self {
        Self { places: (0..table.len()).map(Some).collect(), width: table.len() }
    }

    /// The order of a header. Refuses unknown, repeated and missing names.
    pub(super) fn of_header(table: &[Column], header: &[Cow<'_, str>]) -> Result<Self, String> {
        let mut places = vec![None; table.len()];
        for (place, name) in header.iter().enumerate() {
            let column = table.iter().position(|(known, _)| known == name);
            let slot = column.and_then(|column| places.get_mut(column));
            match slot {
                None => {
                    let known: Vec<_> = table.iter().map(|(name, _)| *name).collect();
                    let hint = slip(name).map_or_else(String::new, |hint| format!("; {hint}"));
                    return Err(format!(
                        "unknown column {name:?} in the header; the known columns are {}{hint}. A first line is a header \
                         if its first field is the name of a column",
                        known.join(", ")
                    ));
                }
                Some(Some(_)) => return Err(format!("column {name} occurs twice in the header")),
                Some(slot) => *slot = Some(place),
            }
        }
        let missing = table.iter().zip(&places).find(|((_, needed), place)| *needed && place.is_none());
        match missing {
            Some(((name, _), _)) => Err(format!("column {name} is missing in the header")),
            None => Ok(Self { places, width: header.len() }),
        }
    }

    /// Refuses a record with more fields than there are columns, or with another separator.
    pub(super) fn check(&self, fields: &[Cow<'_, str>]) -> Result<(), Refusal> {
        if let [field] = fields
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

    /// The field of a column; `None` if the record has none or it is empty.
    pub(super) fn get<'f>(&self, fields: &'f [Cow<'_, str>], column: usize) -> Option<&'f str> {
        let place = self.places.get(column).copied().flatten()?;
        fields.get(place).map(Cow::as_ref).filter(|field| !field.is_empty())
    }
}

/// Whether a record is a header: its first field, or two of its fields, are names of columns, in upper or lower case.
/// With a wrong separator the record is one field.
pub(super) fn is_header(table: &[Column], fields: &[Cow<'_, str>]) -> bool {
    let is_name = |field: &str| table.iter().any(|(name, _)| name.eq_ignore_ascii_case(field.trim()));
    let first = fields.first().map_or("", |field| field.split([';', '\t']).next().unwrap_or_default());
    is_name(first) || fields.iter().filter(|field| is_name(field)).count() > 1
}

/// The likely mistake behind a refused value, if it is recognised.
pub(super) fn slip(field: &str) -> Option<&'static str> {
    if field.contains([';', '\t']) {
        Some("separate the columns by commas")
    } else if field.trim() != field {
        Some("remove the space")
    } else {
        None
    }
}

/// Splits a record whose quotes are valid.
pub(super) fn split(record: &str) -> Vec<Cow<'_, str>> {
    let mut fields = Vec::with_capacity(4);
    let mut rest = record;
    loop {
        let (field, after) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let end = closing_quote(quoted);
                let inside = &quoted[..end];
                let field = if inside.contains('"') { inside.replace("\"\"", "\"").into() } else { inside.into() };
                (field, quoted.get(end + 1..).unwrap_or_default())
            }
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                (Cow::Borrowed(&rest[..end]), &rest[end..])
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

    const TABLE: &[Column] = &[("user_id", true), ("target_id", true), ("since", false)];

    #[test]
    fn fields_are_split_and_unquoted() {
        for (record, want) in [
            ("1,2", vec!["1", "2"]),
            ("1,2,", vec!["1", "2", ""]),
            (",", vec!["", ""]),
            ("", vec![""]),
            (r#""1","2""#, vec!["1", "2"]),
            (r#"1,"a,""b""""#, vec!["1", r#"a,"b""#]),
            ("1,\"a\nb\",\"\"", vec!["1", "a\nb", ""]),
            (r#"1,a"b"#, vec!["1", r#"a"b"#]),
            ("1,\"é\",ü", vec!["1", "é", "ü"]),
        ] {
            assert_eq!(split(record), want, "{record}");
        }
    }

    #[test]
    fn a_header_is_known_by_the_name_of_a_column() {
        for header in
            ["user_id,target_id", "x,Target_ID,since", "\"user_id\"", " since", "user_id;target_id", "user_id\tx"]
        {
            assert!(is_header(TABLE, &split(header)), "{header}");
        }
        for data in ["1,2", "alice,bob", "", ",2", "user,target", "user_id1,2", "\"1\",2", "1,since", "1,\"since; x\""]
        {
            assert!(!is_header(TABLE, &split(data)), "{data}");
        }
    }

    #[test]
    fn a_header_may_reorder_and_leave_out_what_is_optional() {
        let columns = Columns::of_header(TABLE, &split("since,target_id,user_id")).expect("known");
        let record = split("5,2,1");
        assert_eq!((0..3).map(|c| columns.get(&record, c)).collect::<Vec<_>>(), [Some("1"), Some("2"), Some("5")]);
        let columns = Columns::of_header(TABLE, &split("target_id,user_id")).expect("known");
        assert_eq!(columns.get(&split("2,1"), 2), None);
        assert!(columns.check(&split("2,1,5")).is_err());
    }

    #[test]
    fn a_wrong_header_is_refused_by_name() {
        for (header, word) in [
            ("user_id,target", "\"target\""),
            ("user_id,target_id,", "\"\""),
            ("user_id,user_id,target_id", "user_id occurs twice"),
            ("user_id,since", "target_id is missing"),
            ("User_id,target_id", "\"User_id\""),
        ] {
            let error = Columns::of_header(TABLE, &split(header)).expect_err(header);
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn short_records_lack_fields_and_long_ones_are_refused() {
        let columns = Columns::in_order(TABLE);
        assert_eq!(columns.get(&split("1"), 1), None);
        assert_eq!(columns.get(&split("1,"), 1), None);
        assert!(columns.check(&split("1,2,3")).is_ok());
        let refusal = columns.check(&split("1,2,3,4")).expect_err("refused").to_string();
        assert_eq!(refusal, "invalid_line: the line has 4 fields, but at most 3 are expected");
    }
}
