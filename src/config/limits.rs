//! Which values make sense: no server could run with those that are refused here.

use std::path::Path;

use super::load::wrong;
use super::{Config, Duration};
use crate::error::Result;

/// A setting's name, its value, and the smallest and largest that it may have.
type Range = (&'static str, u64, u64, u64);

/// Times beyond this are typing mistakes; a hundred years.
const LONGEST: Duration = Duration::from_days(36_500);

impl Config {
    /// Refuses values out of range, each by its name.
    pub fn validate(&self) -> Result<()> {
        for (name, value, least, most) in self.ranges() {
            if !(least..=most).contains(&value) {
                return Err(wrong(format_args!("{name}: {value} is not from {least} to {most}")));
            }
        }
        for (name, value, least, most) in self.spans() {
            if value < least || value > most {
                return Err(wrong(format_args!("{name}: {value} is not from {least} to {most}")));
            }
        }
        if self.fanout.pull_threshold < self.fanout.push_threshold {
            return Err(wrong("fanout.pull_threshold must not be below fanout.push_threshold"));
        }
        if self.storage.data_dir == Path::new("") {
            return Err(wrong("storage.data_dir: must not be empty"));
        }
        Ok(())
    }

    fn ranges(&self) -> [Range; 16] {
        let Self { server, storage, timeline, fanout, graph, topics, .. } = self;
        let wide = |value: usize| value as u64;
        // A negative number is below every range.
        let open_files = u64::try_from(storage.max_open_files).unwrap_or(0);
        [
            ("server.workers", wide(server.workers), 0, 1024),
            ("server.max_connections", wide(server.max_connections), 1, 1_000_000),
            ("server.max_streams_per_user", wide(server.max_streams_per_user), 1, 1_000_000),
            // A batch has 256 times as much, and a line of an import at most 1 MiB.
            ("server.body_limit", wide(server.body_limit), 256, 1 << 20),
            ("storage.block_cache_mb", wide(storage.block_cache_mb), 1, 1 << 20),
            // With less, shared by all tables, nearly every write would flush one. More than this they cannot have
            // together: each writes its own out when that is full.
            ("storage.write_buffer_mb", wide(storage.write_buffer_mb), 8, 256),
            // With fewer, table files would be opened and closed all the time; -1 would be no limit.
            ("storage.max_open_files", open_files, 64, 1_000_000),
            ("timeline.inbox_limit", wide(timeline.inbox_limit), 1, 1_000_000),
            ("timeline.outbox_limit", wide(timeline.outbox_limit), 0, 1_000_000),
            ("fanout.workers", wide(fanout.workers), 0, 1024),
            // A worker holds a whole sub-task in memory.
            ("fanout.chunk", wide(fanout.chunk), 1, 100_000),
            ("fanout.push_threshold", fanout.push_threshold, 0, i64::MAX as u64),
            ("fanout.pull_threshold", fanout.pull_threshold, 0, i64::MAX as u64),
            ("fanout.queue", wide(fanout.queue), 1, 10_000_000),
            ("graph.follow_limit", wide(graph.follow_limit), 1, 1_000_000),
            // A page may walk over as many rows, on a thread that must not wait for long.
            ("topics.limit", wide(topics.limit), 1, 10_000),
        ]
    }

    fn spans(&self) -> [(&'static str, Duration, Duration, Duration); 8] {
        let Self { server, timeline, content, presence, .. } = self;
        let (hour, zero) = (Duration::from_secs(3600), Duration::from_secs(0));
        [
            ("server.request_timeout", server.request_timeout, Duration::from_millis(100), hour),
            ("server.shutdown_timeout", server.shutdown_timeout, Duration::from_millis(100), hour),
            ("presence.ttl", presence.ttl, Duration::from_secs(1), Duration::from_days(1)),
            ("presence.heartbeat", presence.heartbeat, Duration::from_millis(100), hour),
            ("timeline.active_for", timeline.active_for, zero, LONGEST),
            ("timeline.evict_after", timeline.evict_after, zero, LONGEST),
            ("content.deleted_retention", content.deleted_retention, zero, LONGEST),
            // With less, a host whose clock is a little ahead could publish nothing.
            ("content.max_ahead", content.max_ahead, Duration::from_secs(1), LONGEST),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets one value and says what is wrong with it then.
    fn refusal(set: impl FnOnce(&mut Config)) -> Option<String> {
        let mut config = Config::default();
        set(&mut config);
        config.validate().err().map(|error| error.to_string())
    }

    #[test]
    fn values_out_of_range_are_refused_by_name() {
        let named = |name: &str, refusal: Option<String>| {
            let refusal = refusal.unwrap_or_else(|| panic!("{name} is taken"));
            assert!(refusal.starts_with(&format!("configuration: {name}")), "{refusal}");
        };
        for n in [0, usize::MAX] {
            named("server.body_limit", refusal(|c| c.server.body_limit = n));
            named("server.max_connections", refusal(|c| c.server.max_connections = n));
            named("server.max_streams_per_user", refusal(|c| c.server.max_streams_per_user = n));
            named("storage.block_cache_mb", refusal(|c| c.storage.block_cache_mb = n));
            named("timeline.inbox_limit", refusal(|c| c.timeline.inbox_limit = n));
            named("fanout.chunk", refusal(|c| c.fanout.chunk = n));
            named("fanout.queue", refusal(|c| c.fanout.queue = n));
            named("graph.follow_limit", refusal(|c| c.graph.follow_limit = n));
            named("topics.limit", refusal(|c| c.topics.limit = n));
        }
        for n in [7, 257, 1 << 40] {
            named("storage.write_buffer_mb", refusal(|c| c.storage.write_buffer_mb = n));
        }
        for n in [-1, 0, i32::MAX] {
            named("storage.max_open_files", refusal(|c| c.storage.max_open_files = n));
        }
        named("server.workers", refusal(|c| c.server.workers = 1025));
        named("fanout.workers", refusal(|c| c.fanout.workers = 1025));
        named("timeline.outbox_limit", refusal(|c| c.timeline.outbox_limit = 1_000_001));
        named("fanout.pull_threshold", refusal(|c| c.fanout.pull_threshold = 9_999));
        named("storage.data_dir", refusal(|c| c.storage.data_dir = "".into()));
        for span in [Duration::from_millis(99), Duration::from_days(1)] {
            named("server.request_timeout", refusal(|c| c.server.request_timeout = span));
            named("server.shutdown_timeout", refusal(|c| c.server.shutdown_timeout = span));
        }
        for span in [Duration::from_millis(99), Duration::from_days(2)] {
            named("presence.ttl", refusal(|c| c.presence.ttl = span));
            named("presence.heartbeat", refusal(|c| c.presence.heartbeat = span));
        }
        named("timeline.active_for", refusal(|c| c.timeline.active_for = Duration::from_days(36_501)));
        named("content.deleted_retention", refusal(|c| c.content.deleted_retention = Duration::from_days(36_501)));
        for span in [Duration::from_millis(999), Duration::from_days(36_501)] {
            named("content.max_ahead", refusal(|c| c.content.max_ahead = span));
        }
        named("timeline.evict_after", refusal(|c| c.timeline.evict_after = Duration::from_days(36_501)));
    }

    #[test]
    fn both_ends_of_a_range_are_taken() {
        let taken = |set: fn(&mut Config)| assert_eq!(refusal(set), None);
        taken(|_| {});
        taken(|c| (c.server.body_limit, c.fanout.queue, c.graph.follow_limit) = (256, 1, 1));
        taken(|c| (c.server.body_limit, c.fanout.queue, c.graph.follow_limit) = (1 << 20, 10_000_000, 1_000_000));
        taken(|c| (c.timeline.inbox_limit, c.timeline.outbox_limit, c.fanout.chunk) = (1_000_000, 1_000_000, 1));
        taken(|c| c.topics.limit = 1);
        taken(|c| c.topics.limit = 10_000);
        taken(|c| (c.timeline.evict_after, c.server.workers) = (Duration::from_secs(0), 1024));
    }
}
