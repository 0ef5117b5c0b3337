//! Puts the modules of the console together into one script, which the program has.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

#[path = "build/bundle.rs"]
mod bundle;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=../../console");
    let script = bundle::script("main.js", &|path| fs::read_to_string(Path::new("../../console").join(path)))?;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("console.js"), script)?;
    Ok(())
}
