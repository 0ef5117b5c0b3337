//! The tables in words, by their declarations: a table of `docs/schema.md`.

use super::key_types::Keys;
use super::table::AnyTable;
use super::tables::ALL;

/// A table in Markdown with a line for each table, in their order.
pub fn described() -> String {
    let mut page = "| table | rows | key | value | follow from |\n|---|---|---|---|---|\n".to_owned();
    ALL.iter().for_each(|table| page += &line(table));
    page
}

fn line(table: AnyTable) -> String {
    let own = if table.counted.is_none() { " Each server's own." } else { "" };
    let purged = if table.ends_with_item { " Purged with items." } else { "" };
    let mut sources: Vec<_> = table.follows.iter().map(|(source, _)| format!("`{source}`")).collect();
    sources.dedup();
    let (about, values, sources) = (table.about.trim(), table.values, sources.join(", "));
    format!("| `{table}` | {about}{own}{purged} | {} | {values} | {sources} |\n", key(table.keys))
}

/// The parts of a key; `!` before those that are stored inverted.
fn key(keys: Keys) -> String {
    match keys {
        Keys::One(what) => what.to_owned(),
        Keys::Pair(first, second) => format!("{first}, {second}"),
        Keys::OfUser(what) => format!("user, name of the {what}"),
        Keys::Counter => "user, number of the counter".to_owned(),
        Keys::Text(what) => format!("the {what}, UTF-8"),
        Keys::Reaction => "content, kind, user".to_owned(),
        Keys::Row(owner, of) => format!("{owner}, !time, !{of}"),
        Keys::KindRow(owner, of) => format!("{owner}, kind, !time, !{of}"),
        Keys::Job => "lane, 2 bytes; number".to_owned(),
        Keys::Kind => "0 or 1, number of the kind".to_owned(),
        Keys::Notice => "user, !time, !kind, !reaction, !actor, !item".to_owned(),
        Keys::Nickname => "a beginning, a 0, user".to_owned(),
    }
}
