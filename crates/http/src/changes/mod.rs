//! `/v1/changes`: what each change did, in one order, as pages and as a stream.

mod change;
mod list;
mod stream;

pub(crate) use self::list::endpoints;
