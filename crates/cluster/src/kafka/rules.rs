//! The settings that a topic needs so that no acknowledged record is lost, and lesser dangers.

use std::collections::BTreeMap;

use super::MAX_MESSAGE;

/// Settings by their names.
pub(super) type Settings = BTreeMap<String, String>;

const DAY: i64 = 24 * 3600 * 1000;

/// The description of a topic by its brokers.
#[derive(Debug, Clone, Default)]
pub(super) struct Found {
    pub(super) partitions: usize,
    /// Copies of the partition, and those of them that have all records now.
    pub(super) replicas: usize,
    pub(super) in_sync: usize,
    /// The settings in force for the topic.
    pub(super) settings: Settings,
    /// The settings of brokers, by their ids.
    pub(super) brokers: Vec<(i32, Settings)>,
    /// Whether the brokers keep *eligible leader replicas* (KIP-966); `None` if no broker tells its settings.
    pub(super) has_elr: Option<bool>,
}

/// The lesser dangers of a topic, one line each; or all reasons why it cannot hold the promise.
pub(super) fn judge(topic: &str, found: &Found, single: bool) -> Result<Vec<String>, String> {
    let mut verdict = Verdict { found, single, refusals: Vec::new(), warnings: Vec::new() };
    verdict.copies();
    verdict.order_and_time();
    verdict.retention();
    verdict.brokers();
    if verdict.refusals.is_empty() {
        return Ok(verdict.warnings.into_iter().map(|warning| format!("the topic {topic:?}: {warning}")).collect());
    }
    Err(format!(
        "the topic {topic:?} cannot be the command log: {}. A setting is changed with kafka-configs.sh \
         --bootstrap-server BROKER --alter --entity-type topics --entity-name {topic} --add-config NAME=VALUE",
        verdict.refusals.join("; ")
    ))
}

struct Verdict<'a> {
    found: &'a Found,
    single: bool,
    refusals: Vec<String>,
    warnings: Vec<String>,
}

impl Verdict<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        self.found.settings.get(name).map(String::as_str)
    }

    fn number(&self, name: &str) -> Option<i64> {
        self.get(name)?.parse().ok()
    }

    fn refuse(&mut self, name: &str, wanted: &str, why: &str) {
        let value = self.get(name).map_or("not told".to_owned(), |value| value.to_owned());
        self.refusals.push(format!("{name} is {value}, and must be {wanted}, because {why}"));
    }

    fn warn(&mut self, warning: impl Into<String>) {
        self.warnings.push(warning.into());
    }

    fn copies(&mut self) {
        let Found { partitions, replicas, in_sync, .. } = *self.found;
        if partitions != 1 {
            self.refusals.push(format!(
                "it has {partitions} partitions, and must have 1, because only one partition has one order. Partitions \
                 cannot be taken away: make another topic"
            ));
        }
        match replicas {
            0 | 1 if self.single => self.warn("it has 1 replica: the loss of one disk loses acknowledged changes"),
            0 | 1 => self.refusals.push(format!(
                "it has {replicas} replica, and must have at least 2, better 3, because the loss of one disk would lose \
                 acknowledged changes. kafka-reassign-partitions.sh adds replicas"
            )),
            2 => self.warn("it has 2 replicas: no change is possible while one broker is away; 3 are better"),
            _ => {}
        }
        if in_sync < replicas {
            self.warn(format!("only {in_sync} of {replicas} replicas are in sync now"));
        }
        let replicas = i64::try_from(replicas).unwrap_or(i64::MAX);
        match self.number("min.insync.replicas") {
            None => self.warn("the engine does not tell min.insync.replicas; it must acknowledge from a majority only"),
            Some(least) if least < 2 && self.single => {
                self.warn(format!("min.insync.replicas is {least}: one disk may have the only copy of a change"));
            }
            Some(least) if least < 2 => {
                self.refuse("min.insync.replicas", "2", "one disk could have the only copy of an acknowledged change");
            }
            Some(least) if least > replicas => {
                self.refuse("min.insync.replicas", "2", "there are fewer replicas, so that no change is possible");
            }
            Some(least) if least == replicas && replicas > 2 => {
                self.warn(format!(
                    "min.insync.replicas is {least}, as many as replicas: no change is possible while one broker is away"
                ));
            }
            Some(_) => {}
        }
        match self.get("unclean.leader.election.enable") {
            None => self.warn("the engine does not tell unclean.leader.election.enable; it must never elect one"),
            Some("false") => {}
            Some(_) => {
                self.refuse(
                    "unclean.leader.election.enable",
                    "false",
                    "a replica that lacks acknowledged changes could become the leader",
                );
            }
        }
        if self.get("write.caching") == Some("true") {
            self.warn("write.caching is true: brokers acknowledge before their disks have a change");
        } else if self.number("flush.messages").is_some_and(|messages| messages != 1) {
            self.warn(
                "flush.messages is not 1: brokers acknowledge before their disks have a change, so that a power cut of \
                 all of them can lose acknowledged changes. 1 prevents this, and makes each change wait for the disks",
            );
        }
    }

    fn order_and_time(&mut self) {
        if self.get("message.timestamp.type") != Some("LogAppendTime") {
            self.refuse("message.timestamp.type", "LogAppendTime", "the log decides the time of a change");
        }
        let policy = self.get("cleanup.policy");
        if policy.is_none_or(|policy| policy.contains("compact")) {
            self.refuse("cleanup.policy", "delete", "compaction takes records out of the middle of the log");
        }
        match self.get("compression.type") {
            None | Some("lz4" | "snappy" | "uncompressed") => {}
            Some("producer") => self.warn(
                "compression.type is producer: a record that another program has written in gzip or zstd stops all nodes; \
                 lz4 prevents this",
            ),
            Some(_) => self.refuse("compression.type", "lz4", "nodes cannot read records that the brokers compress so"),
        }
        let largest = i64::try_from(MAX_MESSAGE).unwrap_or(i64::MAX);
        if self.number("max.message.bytes").is_some_and(|bytes| bytes < largest) {
            self.refuse("max.message.bytes", &format!("at least {largest}"), "records may be that large");
        }
    }

    fn retention(&mut self) {
        // Only "delete" takes records away at all; an absent policy is refused before.
        match self.number("retention.ms") {
            None => self.warn("the engine does not tell retention.ms"),
            Some(-1) => {}
            Some(time) if time < DAY => {
                self.refuse(
                    "retention.ms",
                    "at least 86400000 (a day)",
                    "a node that is away for longer than this cannot catch up",
                );
            }
            Some(time) if time < 3 * DAY => {
                self.warn(format!(
                    "retention.ms is {time}, less than 3 days: a node that is away for longer starts from a backup"
                ));
            }
            Some(_) => {}
        }
        if let Some(bytes) = self.number("retention.bytes").filter(|bytes| *bytes >= 0) {
            self.warn(format!(
                "retention.bytes is {bytes}: many changes shorten the time for which a node may be away; -1 prevents this"
            ));
        }
    }

    fn brokers(&mut self) {
        if self.found.has_elr == Some(false) && !self.single {
            self.warn(
                "the brokers have no eligible leader replicas (KIP-966): if all other replicas have fallen behind and the \
                 leader loses power, acknowledged changes can be lost. kafka-features.sh --bootstrap-server BROKER upgrade \
                 --feature eligible.leader.replicas.version=1 prevents this, from Kafka 4.0 on",
            );
        }
        let creating = self
            .found
            .brokers
            .iter()
            .filter(|(_, settings)| settings.get("auto.create.topics.enable").is_some_and(|value| value == "true"));
        let ids: Vec<_> = creating.map(|(id, _)| id.to_string()).collect();
        if !ids.is_empty() {
            self.warn(format!(
                "auto.create.topics.enable is true at the brokers {}: another client could make the topic again, with \
                 other settings, after it was deleted by mistake",
                ids.join(", ")
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `make_topic` makes it.
    fn good() -> Found {
        let settings = [
            ("min.insync.replicas", "2"),
            ("unclean.leader.election.enable", "false"),
            ("message.timestamp.type", "LogAppendTime"),
            ("cleanup.policy", "delete"),
            ("retention.ms", "604800000"),
            ("retention.bytes", "-1"),
            ("max.message.bytes", "33619968"),
            ("compression.type", "lz4"),
            ("flush.messages", "1"),
        ];
        let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Found {
            partitions: 1,
            replicas: 3,
            in_sync: 3,
            settings,
            brokers: vec![(1, Settings::new())],
            has_elr: Some(true),
        }
    }

    fn with(name: &str, value: &str) -> Found {
        let mut found = good();
        found.settings.insert(name.into(), value.into());
        found
    }

    #[test]
    fn a_good_topic_passes_without_a_warning() {
        assert_eq!(judge("log", &good(), false), Ok(Vec::new()));
        assert_eq!(judge("log", &with("retention.ms", "-1"), false), Ok(Vec::new()));
    }

    #[test]
    fn a_topic_that_can_lose_records_is_refused_by_name() {
        for (name, value) in [
            ("min.insync.replicas", "1"),
            ("min.insync.replicas", "4"),
            ("unclean.leader.election.enable", "true"),
            ("message.timestamp.type", "CreateTime"),
            ("cleanup.policy", "compact,delete"),
            ("retention.ms", "3600000"),
            ("max.message.bytes", "1048588"),
            ("compression.type", "zstd"),
        ] {
            let refusal = judge("log", &with(name, value), false).expect_err(name);
            assert!(refusal.contains(&format!("{name} is {value}, and must be ")), "{refusal}");
        }
        for (found, words) in [
            (Found { partitions: 2, ..good() }, "it has 2 partitions, and must have 1"),
            (Found { replicas: 1, in_sync: 1, ..good() }, "it has 1 replica, and must have at least 2"),
            (Found { settings: Settings::new(), ..good() }, "message.timestamp.type is not told, and must be"),
        ] {
            let refusal = judge("log", &found, false).expect_err(words);
            assert!(refusal.contains(words), "{refusal}");
        }
    }

    #[test]
    fn a_single_broker_is_allowed_for_trials_only() {
        let found = Found { replicas: 1, in_sync: 1, ..with("min.insync.replicas", "1") };
        assert!(judge("log", &found, false).is_err());
        assert_eq!(judge("log", &found, true).map(|warnings| warnings.len()), Ok(2));
        let other = Found { partitions: 2, ..found };
        assert!(judge("log", &other, true).is_err());
    }

    #[test]
    fn lesser_dangers_are_warnings() {
        let mut creating = good();
        creating.brokers[0].1.insert("auto.create.topics.enable".into(), "true".into());
        for (found, words) in [
            (with("retention.ms", "172800000"), "retention.ms is 172800000"),
            (with("retention.bytes", "1000000000"), "retention.bytes is 1000000000"),
            (with("flush.messages", "9223372036854775807"), "flush.messages is not 1"),
            (with("write.caching", "true"), "write.caching is true"),
            (with("compression.type", "producer"), "in gzip or zstd stops all nodes"),
            (with("min.insync.replicas", "3"), "as many as replicas"),
            (Found { replicas: 2, in_sync: 2, ..good() }, "it has 2 replicas"),
            (Found { in_sync: 2, ..good() }, "only 2 of 3 replicas are in sync"),
            (creating, "at the brokers 1"),
            (Found { has_elr: Some(false), ..good() }, "no eligible leader replicas"),
        ] {
            let warnings = judge("log", &found, false).expect(words);
            assert!(warnings.len() == 1 && warnings[0].contains(words), "{words}: {warnings:?}");
        }
    }
}
