//! Files of an import: records are found whole and in order, and each row is read or refused with a reason.

use super::fields::{Columns, is_header, split};
use super::records::{MAX_RECORD, Records, Shape};
use super::rows::Row;
use super::rows::deletion::Deletions;
use super::rows::line::{LineOf, Lists, Markers, Members, Settings};
use super::rows::name::Name;
use feed::{Follow, ImportedItem, Reacting};

/// The first byte selects the table; the rest is a file.
pub fn imports(input: &[u8]) {
    let Some((table, file)) = input.split_first() else { return };
    match table % 9 {
        0 => read::<Follow>(file),
        1 => read::<ImportedItem>(file),
        2 => read::<Reacting>(file),
        3 => read::<LineOf<Settings>>(file),
        4 => read::<LineOf<Lists>>(file),
        5 => read::<LineOf<Members>>(file),
        6 => read::<LineOf<Deletions>>(file),
        7 => read::<Name>(file),
        _ => read::<LineOf<Markers>>(file),
    }
}

fn read<T: Row>(file: &[u8]) {
    for shape in [Shape::Lines, Shape::Csv] {
        let mut records = Records::new(file);
        records.beginning(1).expect("memory reads");
        let mut columns = None;
        let mut last = 0;
        while let Some(record) = records.next(shape).expect("memory reads") {
            assert!(record.line > last, "records are in order");
            last = record.line;
            let Ok(range) = record.found else { continue };
            assert!(range.len() <= MAX_RECORD);
            let Ok(text) = std::str::from_utf8(records.bytes(range)) else { continue };
            let row = match shape {
                Shape::Lines => T::from_json(text),
                Shape::Csv => {
                    let fields = split(text);
                    if columns.is_none() && is_header(T::COLUMNS, &fields) {
                        match Columns::of_header(T::COLUMNS, &fields) {
                            Ok(found) => columns = Some(found),
                            Err(_) => return,
                        }
                        continue;
                    }
                    T::from_fields(columns.get_or_insert_with(|| Columns::in_order(T::COLUMNS)), &fields)
                }
            };
            if let Err(refusal) = row {
                let shown = refusal.showing(text.as_bytes()).to_string();
                assert!(!shown.chars().any(char::is_control), "a reason is safe for a terminal");
            }
        }
    }
}
