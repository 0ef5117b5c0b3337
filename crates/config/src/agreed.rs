//! The settings that decide outcomes and pages, and so must be the same on all nodes of a cluster.

use serde::{Deserialize, Serialize};

use super::choices::AcceptedIds;
use super::duration::Duration;
use super::settings::Config;
use model::ReactionKinds;

/// Declares the settings that are agreed on: the name in the command log, the type, and the setting.
macro_rules! agreed {
    ($($(#[$attribute:meta])* $name:ident: $Type:ty = $section:ident.$key:ident;)*) => {
        /// Settings in force on all nodes. They stand in the command log; a node uses them in place of its own.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Agreed {
            $($(#[$attribute])* $name: $Type,)*
        }

        impl Config {
            /// The present values of the settings that all nodes must share.
            pub fn agreed(&self) -> Agreed {
                Agreed { $($name: Clone::clone(&self.$section.$key),)* }
            }

            /// Takes over the values of the command log. Returns the names of the settings that had other values.
            pub fn adopt(&mut self, agreed: &Agreed) -> Vec<&'static str> {
                let mut differ = Vec::new();
                $(
                    if self.$section.$key != agreed.$name {
                        self.$section.$key = Clone::clone(&agreed.$name);
                        differ.push(concat!(stringify!($section), ".", stringify!($key)));
                    }
                )*
                differ
            }
        }
    };
}

agreed! {
    accept: AcceptedIds = ids.accept;
    server: u16 = ids.server;
    follow_limit: usize = graph.follow_limit;
    max_ahead: Duration = content.max_ahead;
    deleted_retention: Duration = content.deleted_retention;
    include_own: bool = timeline.include_own;
    topic_limit: usize = topics.limit;
    reaction_kinds: ReactionKinds = reactions.kinds;
    notices_keep: Duration = notices.keep;
}

impl Agreed {
    /// The time before which deletions are final when other settings follow these: what was final stays final. `time` is
    /// that of the change, and `final_before` the result of the change before it; milliseconds.
    pub fn final_before(&self, time: u64, final_before: u64) -> u64 {
        final_before.max((time + 1).saturating_sub(self.deleted_retention.as_millis()))
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
