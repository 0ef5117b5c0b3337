//! Tests the contract row by row over a real socket: the effect of each call, its refusals, its repetition, and its
//! changes in every other list.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "contract/access.rs"]
mod access;
#[path = "contract/bad_fields.rs"]
mod bad_fields;
#[path = "contract/bad_input.rs"]
mod bad_input;
#[path = "contract/behaviour.rs"]
mod behaviour;
#[path = "contract/calls.rs"]
mod calls;
#[path = "contract/comment.rs"]
mod comment;
#[path = "contract/delete.rs"]
mod delete;
#[path = "contract/edit.rs"]
mod edit;
#[path = "contract/follow.rs"]
mod follow;
#[path = "contract/following_batch.rs"]
mod following_batch;
#[allow(dead_code, reason = "shared with tests/http")]
#[path = "http/listener.rs"]
mod listener;
#[path = "contract/lists.rs"]
mod lists;
#[path = "contract/members.rs"]
mod members;
#[path = "contract/model.rs"]
mod model;
#[path = "contract/mutes.rs"]
mod mutes;
#[path = "contract/operations.rs"]
mod operations;
#[path = "contract/presence.rs"]
mod presence;
#[path = "contract/publish.rs"]
mod publish;
#[path = "contract/publish_batch.rs"]
mod publish_batch;
#[path = "contract/reactions.rs"]
mod reactions;
#[path = "contract/read_content.rs"]
mod read_content;
#[path = "contract/records.rs"]
mod records;
#[path = "contract/relations.rs"]
mod relations;
mod server;
#[path = "contract/settings.rs"]
mod settings;
#[path = "contract/stream.rs"]
mod stream;
#[path = "contract/timeline.rs"]
mod timeline;
#[path = "contract/topic.rs"]
mod topic;
#[path = "contract/town.rs"]
mod town;
#[path = "contract/walk.rs"]
mod walk;
