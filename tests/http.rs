//! The API over a real socket, against the real binary.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "http/admin.rs"]
mod admin;
#[path = "http/ahead.rs"]
mod ahead;
#[path = "http/auth.rs"]
mod auth;
#[path = "http/clock.rs"]
mod clock;
#[path = "http/consistency.rs"]
mod consistency;
#[path = "http/console.rs"]
mod console;
#[path = "http/content.rs"]
mod content;
#[path = "http/cors.rs"]
mod cors;
#[path = "http/cuts.rs"]
mod cuts;
#[path = "http/docs.rs"]
mod docs;
#[path = "http/events.rs"]
mod events;
#[path = "http/listener.rs"]
mod listener;
#[path = "http/lists.rs"]
mod lists;
#[path = "http/markers.rs"]
mod markers;
#[path = "http/metrics.rs"]
mod metrics;
#[path = "http/polls.rs"]
mod polls;
#[path = "http/presence.rs"]
mod presence;
#[path = "http/races.rs"]
mod races;
#[path = "http/rate_limits.rs"]
mod rate_limits;
#[path = "http/raw.rs"]
mod raw;
#[path = "http/request_ids.rs"]
mod request_ids;
#[path = "http/resume.rs"]
mod resume;
#[path = "http/rotation.rs"]
mod rotation;
#[path = "http/running.rs"]
mod running;
mod server;
#[path = "http/set_back.rs"]
mod set_back;
#[path = "http/sight.rs"]
mod sight;
#[path = "http/stream.rs"]
mod stream;
#[path = "http/toggles.rs"]
mod toggles;
#[path = "http/topics.rs"]
mod topics;
#[path = "http/types.rs"]
mod types;
#[path = "http/users.rs"]
mod users;
#[path = "http/viewers.rs"]
mod viewers;
#[path = "http/visible.rs"]
mod visible;
#[path = "http/worked_case.rs"]
mod worked_case;
