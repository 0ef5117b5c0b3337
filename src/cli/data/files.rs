//! The options of an import and of an export that name files: one for each table.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Args, Command, FromArgMatches, value_parser};

use super::lines::{Declared, Table};

/// The files that a command line names, in the order of their tables: `MANY` of a table, or one.
#[derive(Debug, Default)]
pub(super) struct Files<const MANY: bool>(pub(super) Vec<(Table, PathBuf)>);

impl<const MANY: bool> Args for Files<MANY> {
    fn augment_args(command: Command) -> Command {
        let command = command.group(ArgGroup::new("files").required(true).multiple(true));
        let (action, begin) = if MANY { (ArgAction::Append, "A file of") } else { (ArgAction::Set, "The file for") };
        Table::ALL.into_iter().fold(command, |command, table| {
            let Declared { name, what, .. } = table.declared();
            let file = Arg::new(name).long(name).value_name("FILE").group("files").action(action.clone());
            command.arg(file.value_parser(value_parser!(PathBuf)).help(format!("{begin} {what}")))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const MANY: bool> FromArgMatches for Files<MANY> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let files = |table: Table| {
            let paths = matches.get_many::<PathBuf>(table.name()).into_iter().flatten();
            paths.map(move |path| (table, path.clone()))
        };
        Ok(Self(Table::ALL.into_iter().flat_map(files).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
