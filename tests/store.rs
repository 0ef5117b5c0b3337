//! What a store does beneath the feed: restarts, copies, standbys, reads from memory, digests. That each operation does what
//! it says is proven by `promises`, which compares every page with the plain function.
//!
//! A test is a plain function over `&Store`, which `on_a_store!` names. One that is left out is dead code, which is an error here.

#![deny(dead_code)]
/// Makes of each function a test on a fresh directory.
macro_rules! on_a_store {
    ($($name:ident),+ $(,)?) => {
        mod on_a_store {
            $(#[test] fn $name() { $crate::store::support::on_a_store(super::$name); })+
        }
    };
}

mod backups;
mod digests;
pub(crate) mod everything;
mod names;
mod reopen;
mod standby;
pub(crate) mod support;
mod tiers;
mod upkeep;
