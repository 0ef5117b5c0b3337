//! Tests the contract row by row over a real socket: the effect of each call, its refusals, its repetition, and its
//! changes in every other list.

mod access;
mod bad_fields;
mod bad_input;
mod behaviour;
mod blocks;
mod calls;
mod comment;
mod delete;
mod edit;
mod empty;
mod export;
mod follow;
mod following_batch;
mod lists;
mod members;
mod model;
mod modes;
mod mutes;
mod names;
mod operations;
mod paths;
mod presence;
mod publish;
mod publish_batch;
mod reactions;
mod read_content;
mod records;
mod relations;
mod requests;
mod rules;
mod stream;
mod suspension;
mod timeline;
mod topic;
mod town;
mod user_lists;
mod visibility;
mod walk;

use crate::http::listener;
