//! `tideline completions` and `tideline man`: what shells and readers know of the commands, made from their definitions.

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::prelude::*;

/// For which shell.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the completions of a shell.
pub(crate) fn completions(mut program: Command, args: &CompletionsArgs) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "tideline", &mut script);
    print(|out| out.write_all(&script))
}

/// Where to.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write the pages of the program and of each command into DIR [default: print the page of the program]
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Prints the page of the program, or writes all pages into a directory, which is made if it is missing.
pub(crate) fn man(program: Command, args: &ManArgs) -> Result<()> {
    // The pages themselves are the help.
    let program = program.disable_help_subcommand(true);
    let Some(dir) = &args.dir else { return print(|out| Man::new(program).render(out)) };
    let made = std::fs::create_dir_all(dir).and_then(|()| clap_mangen::generate_to(program, dir));
    made.context(format_args!("cannot write to {}", dir.display()))
}
