//! The program; see [`tideline::cli`].

fn main() {
    tideline::cli::main()
}
