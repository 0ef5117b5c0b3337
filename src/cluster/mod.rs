//! A cluster: nodes that apply one command log, each to a whole store of its own.

mod log;
mod mark;
mod record;

pub use log::{Log, NotAppended, NotRead, Record};
