//! Files of an import: records are found whole and in order, and each line is read or refused with a reason.

use super::super::tables::Table;
use super::csv::object_of;
use super::fields::{Columns, split};
use super::records::{MAX_RECORD, Records, Shape};

/// The first byte selects the table; the rest is a file.
pub fn imports(input: &[u8]) {
    let Some((table, file)) = input.split_first() else { return };
    let table = Table::ALL[usize::from(*table) % Table::ALL.len()];
    for shape in [Shape::Lines, Shape::Csv] {
        let mut records = Records::new(file);
        let (mut columns, mut is_first) = (Columns::declared(table.columns()), true);
        let mut last = 0;
        while let Some(record) = records.next(shape).expect("memory reads") {
            assert!(record.line > last, "records are in order");
            last = record.line;
            assert!(record.bytes.len() <= MAX_RECORD);
            let (None, Ok(text)) = (record.refused, std::str::from_utf8(&record.bytes)) else { continue };
            let line = match shape {
                Shape::Lines => table.change(text),
                Shape::Csv => {
                    let fields = split(text);
                    if std::mem::take(&mut is_first) && columns.is_header(&fields) {
                        if columns.take_header(&fields).is_err() {
                            return;
                        }
                        continue;
                    }
                    object_of(&columns, &fields).and_then(|text| table.change(&text))
                }
            };
            if let Err(refusal) = line {
                let shown = refusal.showing(text.as_bytes(), shape).to_string();
                assert!(!shown.chars().any(char::is_control), "a reason is safe for a terminal");
            }
        }
    }
}
