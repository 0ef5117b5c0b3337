//! What a store does beneath the feed: restarts, copies, standbys, reads from memory, digests. That each operation does what
//! it says is proven by `promises`, which compares every page on both kinds of store with the plain function.
//!
//! A test is a plain function over `&Store`; `on_both!` makes two tests of it. A function that is
//! left out of the list is dead code, which is an error here.

#![deny(dead_code)]
/// Makes of each function one test on memory and one on a fresh RocksDB directory.
macro_rules! on_both {
    ($($name:ident),+ $(,)?) => {
        mod memory {
            $(#[test] fn $name() { super::$name(&feed::store::Store::in_memory().expect("opens")); })+
        }
        mod rocks {
            $(#[test] fn $name() { $crate::store::support::on_rocks(super::$name); })+
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
