//! Tables on stdout.

use std::io::{self, Write};

use crate::cli::plain;

/// A column: its head, and the fewest characters of it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Column {
    /// Texts, which begin at the left.
    Text(&'static str, usize),
    /// Figures, which end at the right.
    Figure(&'static str, usize),
}

/// Writes a line of heads, and a line for each row.
pub(crate) fn write<const N: usize>(
    out: &mut dyn Write,
    columns: [Column; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> io::Result<()> {
    let heads = columns.map(|(Column::Text(head, _) | Column::Figure(head, _))| head.to_owned());
    let lines: Vec<_> = [heads].into_iter().chain(rows).map(|line| line.map(|cell| plain(&cell))).collect();
    for line in &lines {
        let cells = columns.iter().zip(line).enumerate().map(|(place, (column, cell))| {
            let longest = |least| lines.iter().map(|line| line[place].chars().count()).max().unwrap_or(0).max(least);
            match *column {
                Column::Text(_, least) => format!("{cell:0$}", longest(least)),
                Column::Figure(_, least) => format!("{cell:>0$}", longest(least)),
            }
        });
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}
