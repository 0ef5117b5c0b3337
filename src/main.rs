//! The program; see [`tideline::cli`].

fn main() -> std::process::ExitCode {
    tideline::cli::main()
}
