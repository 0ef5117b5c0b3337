//! Tests of every store, written once and run on each kind.
//!
//! A test is a plain function over `&Store`; `on_both!` makes two tests of it. A function that is
//! left out of the list is dead code, which is an error here.

#![deny(dead_code)]
/// Makes of each function one test on memory and one on a fresh RocksDB directory.
macro_rules! on_both {
    ($($name:ident),+ $(,)?) => {
        mod memory {
            $(#[test] fn $name() { super::$name(&store::Store::in_memory().expect("opens")); })+
        }
        mod rocks {
            $(#[test] fn $name() { $crate::store::support::on_rocks(super::$name); })+
        }
    };
}

mod activity;
mod archive;
mod backups;
mod barriers;
mod comments;
mod content;
mod damage;
mod digests;
mod edges;
mod erasures;
mod events;
pub(crate) mod everything;
mod fan_out;
mod inbox;
mod jobs;
mod members;
mod names;
mod notices;
mod outboxes;
mod paths;
mod publish;
mod races;
mod reactions;
mod records;
mod relate;
mod reopen;
mod replica;
mod requests;
mod restore;
mod settle;
mod standby;
pub(crate) mod support;
mod tiers;
mod topic_archive;
mod topics;
mod upkeep;
mod user_lists;
