//! The tables in words, by their declarations: a table of `docs/schema.md`.

use super::table::AnyTable;
use super::tables::ALL;

/// A table in Markdown with a line for each table, in their order.
pub fn described() -> String {
    let mut page = "| table | rows | key | value | derived from |\n|---|---|---|---|---|\n".to_owned();
    ALL.iter().for_each(|table| page += &line(table));
    page
}

fn line(table: AnyTable) -> String {
    let own = if table.counted.is_none() { " Each server's own." } else { "" };
    let gone = if table.ends_with_item { " Of gone items not [compared](#tables-of-a-cluster)." } else { "" };
    let mut sources: Vec<_> = table.follows.iter().map(|(source, _)| format!("`{source}`")).collect();
    sources.dedup();
    let (about, values, sources) = (table.about.trim(), table.values, sources.join(", "));
    let keys = table.keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    format!("| `{table}` | {about}{own}{gone} | {keys} | {values} | {sources} |\n")
}
