//! The settings that decide outcomes and pages, and so must be the same on all nodes of a cluster.

use serde::{Deserialize, Serialize};

use super::{AcceptedIds, Config, Duration};

/// Settings in force on all nodes. They stand in the command log; a node uses them in place of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agreed {
    accept: AcceptedIds,
    follow_limit: usize,
    max_ahead: Duration,
    deleted_retention: Duration,
    include_own: bool,
    topic_limit: usize,
}

impl Agreed {
    /// The time before which deletions are final when other settings follow these: what was final stays final. `time` is
    /// that of the change, and `final_before` the result of the change before it; milliseconds.
    pub fn final_before(&self, time: u64, final_before: u64) -> u64 {
        final_before.max((time + 1).saturating_sub(self.deleted_retention.as_millis()))
    }
}

impl Config {
    /// The present values of the settings that all nodes must share.
    pub fn agreed(&self) -> Agreed {
        Agreed {
            accept: self.ids.accept,
            follow_limit: self.graph.follow_limit,
            max_ahead: self.content.max_ahead,
            deleted_retention: self.content.deleted_retention,
            include_own: self.timeline.include_own,
            topic_limit: self.topics.limit,
        }
    }

    /// Takes over the values of the command log. Returns the names of the settings that had other values.
    pub fn adopt(&mut self, agreed: &Agreed) -> Vec<&'static str> {
        let own = self.agreed();
        let differ = [
            ("ids.accept", own.accept != agreed.accept),
            ("graph.follow_limit", own.follow_limit != agreed.follow_limit),
            ("content.max_ahead", own.max_ahead != agreed.max_ahead),
            ("content.deleted_retention", own.deleted_retention != agreed.deleted_retention),
            ("timeline.include_own", own.include_own != agreed.include_own),
            ("topics.limit", own.topic_limit != agreed.topic_limit),
        ];
        self.ids.accept = agreed.accept;
        self.graph.follow_limit = agreed.follow_limit;
        self.content.max_ahead = agreed.max_ahead;
        self.content.deleted_retention = agreed.deleted_retention;
        self.timeline.include_own = agreed.include_own;
        self.topics.limit = agreed.topic_limit;
        differ.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_takes_over_what_the_others_have_agreed_on() {
        let mut first = Config::default();
        first.graph.follow_limit = 7;
        first.timeline.include_own = true;
        first.timeline.inbox_limit = 9;
        let text = serde_json::to_string(&first.agreed()).expect("writes");
        let agreed = serde_json::from_str(&text).expect("reads");
        let mut second = Config::default();
        assert_eq!(second.adopt(&agreed), ["graph.follow_limit", "timeline.include_own"]);
        assert_eq!((second.graph.follow_limit, second.timeline.inbox_limit), (7, 1000), "{text}");
        assert!(second.adopt(&agreed).is_empty());
    }
}
