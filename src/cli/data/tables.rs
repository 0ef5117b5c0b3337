//! The tables of an application's data: an import reads each from files of its own, and an export writes it to one.

/// Declares the tables: the name, which is that of the option; the table on disk; the columns of CSV, in brackets those that
/// may be missing; what a file has.
macro_rules! tables {
    ($($table:ident = $name:literal, $on_disk:literal, $columns:literal, $what:literal;)+) => {
        /// A table, in the order in which an import takes the files: a line may need one of another table.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(in crate::cli) enum Table { $($table),+ }

        impl Table {
            /// All of them.
            pub(in crate::cli) const ALL: [Self; [$($name),+].len()] = [$(Self::$table),+];

            pub(super) fn declaration(self) -> [&'static str; 4] {
                match self {
                    $(Self::$table => [$name, $on_disk, $columns, $what]),+
                }
            }
        }
    };
}

// Follows over a block are refused, in a second run too. A deleted item takes no reactions. A suspension comes last: it hides
// items from the lines before it.
tables! {
    Names = "names", "names_by_number", "id",
        "names and kinds of reactions, each in the order that they have at equal times";
    Settings = "settings", "settings", "user_id[,approve_followers][,default_audience]", "settings of users";
    Blocks = "blocks", "blocks", "user_id,target_id[,since]", "blocks";
    Follows = "follows", "following", "user_id,target_id[,since]", "follows";
    Requests = "requests", "requests", "user_id,target_id[,since]", "requests to follow that wait for an answer";
    Mutes = "mutes", "mutes", "user_id,target_id[,since]", "mutes";
    Hides = "hides", "hidden", "user_id,target_id[,since]", "hides: who hides content from whom";
    Lists = "lists", "lists", "user_id,list[,title][,exclusive]", "lists of users";
    ListMembers = "list-members", "list_members", "user_id,list,source_id[,since]", "members of lists";
    Content = "content", "content", "content_id,author_id,published_at[,text]", "content";
    Reactions = "reactions", "reactions", "content_id,user_id,kind[,since]", "reactions";
    Deletions = "deletions", "deleted", "content_id[,deleted_at][,purged]", "deleted items, and ids of purged ones";
    Profiles = "profiles", "profiles", "user_id[,nickname][,avatar][,extra]", "profiles";
    Markers = "markers", "markers", "user_id,cursor[,list][,notices]", "markers";
    Suspensions = "suspensions", "suspended", "user_id[,since]", "suspended users";
}

impl Table {
    /// The name, which is that of the option.
    pub(in crate::cli) fn name(self) -> &'static str {
        self.declaration()[0]
    }

    /// The name of the table on disk.
    pub(super) fn on_disk(self) -> &'static str {
        self.declaration()[1]
    }

    /// The columns of CSV, in the order of a file without a header. Those in brackets may be missing.
    pub(super) fn columns(self) -> &'static str {
        self.declaration()[2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_and_documentation_have_the_columns_of_each_table() {
        let (help, page) = (include_str!("import/help.txt"), include_str!("../../../docs/use/import.md"));
        for table in Table::ALL {
            let (name, columns) = (table.name(), table.columns());
            let words: Vec<_> = help.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()).collect();
            assert!(words.iter().any(|line| line.starts_with(&[&format!("{name}:"), columns])), "{name}");
            assert!(page.contains(&format!("| `--{name}` | `{columns}` |")), "{name}");
        }
    }
}
