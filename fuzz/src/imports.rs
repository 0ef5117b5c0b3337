//! Files of an import: records are found whole and in order, and each line is read or refused with a reason.

use serde::de::DeserializeOwned;

use super::csv::object_of;
use super::fields::{Columns, split};
use super::lines::{Deletion, Following, Item, List, Marker, Member, Name, Reaction, Settings, UserProfile};
use super::records::{MAX_RECORD, Records, Shape};
use super::refusal::Refusal;
use super::rows::object;

/// The first byte selects the table; the rest is a file.
pub fn imports(input: &[u8]) {
    let Some((table, file)) = input.split_first() else { return };
    match table % 10 {
        0 => read("user_id,target_id[,since]", Following::row, file),
        1 => read("content_id,author_id,published_at[,text]", Item::row, file),
        2 => read("content_id,user_id,kind[,since]", Reaction::row, file),
        3 => read("user_id[,approve_followers][,default_audience]", Settings::row, file),
        4 => read("user_id,list[,title][,exclusive]", List::row, file),
        5 => read("user_id,list,source_id[,since]", Member::row, file),
        6 => read("content_id[,deleted_at][,purged]", Deletion::row, file),
        7 => read("id", Name::row, file),
        8 => read("user_id[,nickname][,avatar][,extra]", UserProfile::row, file),
        _ => read("user_id,cursor[,list][,notices]", Marker::row, file),
    }
}

fn read<L: DeserializeOwned, T>(columns: &'static str, row: fn(L) -> Result<T, Refusal>, file: &[u8]) {
    for shape in [Shape::Lines, Shape::Csv] {
        let mut records = Records::new(file);
        records.beginning(1).expect("memory reads");
        let (mut columns, mut is_first) = (Columns::declared(columns), true);
        let mut last = 0;
        while let Some(record) = records.next(shape).expect("memory reads") {
            assert!(record.line > last, "records are in order");
            last = record.line;
            assert!(record.bytes.len() <= MAX_RECORD);
            let (None, Ok(text)) = (record.refused, std::str::from_utf8(&record.bytes)) else { continue };
            let line = match shape {
                Shape::Lines => object(text),
                Shape::Csv => {
                    let fields = split(text);
                    if std::mem::take(&mut is_first) && columns.is_header(&fields) {
                        if columns.take_header(&fields).is_err() {
                            return;
                        }
                        continue;
                    }
                    object_of(&columns, &fields).and_then(|text| object(&text))
                }
            };
            if let Err(refusal) = line.and_then(row) {
                let shown = refusal.showing(text.as_bytes(), shape).to_string();
                assert!(!shown.chars().any(char::is_control), "a reason is safe for a terminal");
            }
        }
    }
}
