//! The tables of an application's data: an import reads each from files of its own, and an export writes it to one. A line is the
//! body of a call of the API, with the ids that the call has in its path, and with times that only an import can give.

mod items;
mod line_forms;
mod lists;
mod relations;
mod users;

use self::items::{Deletion, Reaction};
use self::lists::{List, Member};
use self::relations::{Following, Pair};
use self::users::{Marker, Settings, Suspension, UserProfile};
use super::export::output::Output;
use super::import::ndjson::object;
use super::import::refusal::Refusal;
use feed::Command;
use feed::reader::Reader;
use model::error::Result;
use model::{Millis, ReactionKinds, Restriction, Time};

/// The extent of an export.
pub(super) struct Scope<'a> {
    /// The directory.
    pub(super) reader: &'a Reader,
    /// The kinds of reactions.
    pub(super) kinds: &'a ReactionKinds,
    /// Whether it has deleted items and the reactions to them. An import without their deletions would make them live.
    pub(super) deleted: bool,
}

/// The declaration of a table.
#[derive(Clone, Copy)]
pub(super) struct Declared {
    /// The name, which is that of the option.
    pub(super) name: &'static str,
    /// The name of the table on disk.
    pub(super) on_disk: &'static str,
    /// The columns of CSV, in the order of a file without a header. Those in brackets may be missing.
    pub(super) columns: &'static str,
    /// The content of a file, in words.
    pub(super) what: &'static str,
    /// A note on the columns, for the help.
    note: &'static str,
    /// The change that a line of NDJSON is.
    change: fn(&str) -> Result<Command, Refusal>,
    /// Writes all lines.
    write: fn(&Scope<'_>, &mut Output<'_>) -> Result<()>,
}

/// Declares the tables: the name, which is that of the option; the table on disk; the columns; what a file has, and a note on the
/// columns; how a line becomes a change, and how all lines are written.
macro_rules! tables {
    ($($table:ident = $name:literal, $on_disk:literal, $columns:expr, $what:literal $([$note:literal])?,
        $change:expr, $write:expr;)+) => {
        /// A table, in the order in which an import takes the files: a line may need one of another table.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(in crate::cli) enum Table { $($table),+ }

        impl Table {
            /// All of them.
            pub(in crate::cli) const ALL: [Self; [$($name),+].len()] = [$(Self::$table),+];

            pub(super) fn declared(self) -> Declared {
                match self {
                    $(Self::$table => Declared {
                        name: $name,
                        on_disk: $on_disk,
                        columns: $columns,
                        what: $what,
                        note: concat!($($note)?),
                        change: |text| object(text).and_then($change),
                        write: $write,
                    }),+
                }
            }
        }
    };
}

// Follows over a block are refused, in a second run too. A deleted item takes no reactions. A suspension comes last: it hides
// items from the lines before it.
tables! {
    Names = "names", "names_by_number", "id",
        "names and kinds of reactions, each in the order that they have at equal times"
        ["NDJSON also has kinds of reactions: {\"reaction\": \"like\"}"],
        users::name, users::write_names;
    Settings = "settings", "settings", Settings::COLUMNS, "settings of users",
        users::settings, users::write_settings;
    Blocks = "blocks", "blocks", Pair::COLUMNS, "blocks",
        |pair| relations::restriction(pair, Restriction::Block),
        |scope, out| relations::write_restrictions(scope, Restriction::Block, out);
    Follows = "follows", "following", Following::COLUMNS, "follows",
        |line| relations::follow(line, false), relations::write_follows;
    Requests = "requests", "requests", Following::COLUMNS, "requests to follow that wait for an answer",
        |line| relations::follow(line, true), relations::write_requests;
    Mutes = "mutes", "mutes", Pair::COLUMNS, "mutes",
        |pair| relations::restriction(pair, Restriction::Mute),
        |scope, out| relations::write_restrictions(scope, Restriction::Mute, out);
    Hides = "hides", "hidden", Pair::COLUMNS, "hides: who hides content from whom",
        |pair| relations::restriction(pair, Restriction::Hide),
        |scope, out| relations::write_restrictions(scope, Restriction::Hide, out);
    Lists = "lists", "lists", List::COLUMNS, "lists of users",
        lists::list, lists::write_lists;
    ListMembers = "list-members", "list_members", Member::COLUMNS, "members of lists",
        lists::member, lists::write_members;
    Content = "content", "content", "content_id,author_id,published_at[,text]", "content",
        items::item, items::write_items;
    Reactions = "reactions", "reactions", Reaction::COLUMNS, "reactions" ["kind: one of reactions.kinds"],
        items::reaction, items::write_reactions;
    Deletions = "deletions", "deleted", Deletion::COLUMNS, "deleted items, and ids of purged ones",
        items::deletion, items::write_deletions;
    Profiles = "profiles", "profiles", UserProfile::COLUMNS, "profiles" ["extra: a JSON object"],
        users::profile, users::write_profiles;
    Markers = "markers", "markers", Marker::COLUMNS, "markers",
        users::marker, users::write_markers;
    Suspensions = "suspensions", "suspended", Suspension::COLUMNS, "suspended users",
        users::suspension, users::write_suspensions;
}

impl Table {
    /// The name, which is that of the option.
    pub(in crate::cli) fn name(self) -> &'static str {
        self.declared().name
    }

    /// The change that a line of NDJSON is.
    pub(super) fn change(self, text: &str) -> Result<Command, Refusal> {
        (self.declared().change)(text)
    }

    /// Writes all lines.
    pub(super) fn write(self, scope: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
        (self.declared().write)(scope, out)
    }
}

/// The columns of each table, for the help of an import.
pub(super) fn columns() -> String {
    let line = |table: Table| {
        let Declared { name, columns, note, .. } = table.declared();
        let name = format!("{name}:");
        match note {
            "" => format!("  {name:<13} {columns}\n"),
            note => format!("  {name:<13} {columns:<38}({note})\n"),
        }
    };
    Table::ALL.into_iter().map(line).collect()
}

/// The time that a line gives.
pub(super) fn time(line: &Command) -> Option<Millis> {
    match line {
        Command::ImportFollows(line) => line.follows.first()?.1,
        Command::ImportItems(line) => line.new_items.first()?.published_at.map(|Time(at)| at),
        Command::React(line) => line.requests.first()?.since,
        Command::ImportLine(line) => line.since,
        _ => None,
    }
}

#[cfg(test)]
mod tests;
