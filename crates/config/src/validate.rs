//! Rules between settings. Ranges of single settings are in their table.

use std::collections::BTreeSet;
use std::path::Path;

use super::choices::Sasl;
use super::cluster::MAX_MEMBERS;
use super::settings::{Cluster, Config};
use super::{Webhook, wrong};
use model::error::Result;

/// Whether a path is set; unset ones are empty.
fn is_set(path: &Path) -> bool {
    !path.as_os_str().is_empty()
}

impl Config {
    /// Refuses invalid values, each by its name.
    pub fn validate(&self) -> Result<()> {
        self.check_ranges().map_err(|(name, detail)| wrong(format_args!("{name}: {detail}")))?;
        let (push, pull) = (self.fanout.push_threshold, self.fanout.pull_threshold);
        let [cert, key] = [&self.server.tls_cert, &self.server.tls_key].map(|path| is_set(path));
        let rules = [
            (
                pull < push,
                format!("fanout.pull_threshold: expected at least fanout.push_threshold ({push}), not {pull}"),
            ),
            (cert && !key, "server.tls_cert: a certificate needs its key, server.tls_key".to_owned()),
            (key && !cert, "server.tls_key: a key needs its certificate, server.tls_cert".to_owned()),
            (
                !self.webhooks.is_empty() && self.changes.keep.as_millis() == 0,
                "webhooks: they send the feed of changes, but changes.keep is \"0s\"".to_owned(),
            ),
            (!is_set(&self.storage.data_dir), "storage.data_dir: expected a path, not \"\"".to_owned()),
        ];
        let broken = rules.into_iter().find(|(is_broken, _)| *is_broken).map(|(_, rule)| rule);
        let broken = broken.or_else(|| Webhook::broken_rule(&self.webhooks));
        broken.or_else(|| self.cluster.broken_rule()).map_or(Ok(()), |rule| Err(wrong(rule)))
    }
}

impl Cluster {
    /// The first rule that the settings break, in words.
    fn broken_rule(&self) -> Option<String> {
        let (has_name, node) = (!self.node.as_str().is_empty(), &self.node);
        if !self.is_on() {
            let is_node = has_name || !self.members.is_empty();
            return is_node.then(|| "cluster.brokers: a node needs the brokers of the command log".to_owned());
        }
        let names: BTreeSet<_> = self.members.iter().map(|member| &member.name).collect();
        let urls: BTreeSet<_> = self.members.iter().map(|member| &member.url).collect();
        let has_user = !self.sasl_user.is_empty() && !self.sasl_password.reveal().is_empty();
        let [ca, cert, key] = [&self.tls_ca, &self.tls_cert, &self.tls_key].map(|path| is_set(path));
        let (in_sync, replicas) = (self.min_in_sync, self.replication);
        let rules = [
            (!has_name, "node: a node of a cluster needs a name".to_owned()),
            (names.len() < self.members.len(), "members: two members have the same name".to_owned()),
            (urls.len() < self.members.len(), "members: two members have the same URL".to_owned()),
            (names.len() > MAX_MEMBERS, format!("members: expected at most {MAX_MEMBERS} members")),
            (!names.contains(node), format!("members: \"{node}\", the name in cluster.node, is not among them")),
            (
                self.sasl != Sasl::Off && !has_user,
                "sasl_user: SASL needs cluster.sasl_user and cluster.sasl_password".to_owned(),
            ),
            (!self.tls && (ca || cert || key), "tls: its files are set, but cluster.tls is false".to_owned()),
            (cert != key, "tls_cert: a certificate and its key (cluster.tls_key) belong together".to_owned()),
            (
                in_sync > replicas,
                format!("min_in_sync: expected at most cluster.replication ({replicas}), not {in_sync}"),
            ),
        ];
        rules.into_iter().find(|(is_broken, _)| *is_broken).map(|(_, rule)| format!("cluster.{rule}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Duration, Member, NodeName};

    /// Sets one value, and returns the error.
    fn refusal(set: impl FnOnce(&mut Config)) -> Option<String> {
        let mut config = Config::default();
        set(&mut config);
        config.validate().err().map(|error| error.to_string())
    }

    /// One or two settings of each type: the same code checks all ranges.
    #[test]
    fn values_out_of_range_are_refused_by_name() {
        let named = |name: &str, refusal: Option<String>| {
            let refusal = refusal.unwrap_or_else(|| panic!("{name} is taken"));
            assert!(refusal.starts_with(&format!("configuration: {name}")), "{refusal}");
        };
        for n in [0, usize::MAX] {
            named("server.body_limit: ", refusal(|c| c.server.body_limit = n));
            named("server.max_connections: ", refusal(|c| c.server.max_connections = n));
            named("fanout.chunk: ", refusal(|c| c.fanout.chunk = n));
        }
        for n in [7, (1 << 20) + 1] {
            named("storage.cache_mb: ", refusal(|c| c.storage.cache_mb = n));
        }
        for n in [7, 257, 1 << 40] {
            named("storage.write_buffer_mb: ", refusal(|c| c.storage.write_buffer_mb = n));
        }
        for n in [-1, 0, i32::MAX] {
            named("storage.max_open_files: ", refusal(|c| c.storage.max_open_files = n));
        }
        named("server.workers: expected a value from 0 to 512, not 513", refusal(|c| c.server.workers = 513));
        named("fanout.push_threshold: ", refusal(|c| c.fanout.push_threshold = u64::MAX));
        named(
            "fanout.pull_threshold: expected at least fanout.push_threshold (10000), not 9999",
            refusal(|c| c.fanout.pull_threshold = 9_999),
        );
        named("server.tls_cert: ", refusal(|c| c.server.tls_cert = "cert.pem".into()));
        named("server.tls_key: ", refusal(|c| c.server.tls_key = "key.pem".into()));
        named("storage.data_dir: ", refusal(|c| c.storage.data_dir = "".into()));
        for span in [Duration::from_millis(99), Duration::from_days(1)] {
            named("server.request_timeout: ", refusal(|c| c.server.request_timeout = span));
        }
        let longer = Duration::from_days(36_501);
        named(
            "timeline.active_for: expected a value from 0s to 36500d, not 36501d",
            refusal(|c| c.timeline.active_for = longer),
        );
        for span in [Duration::from_millis(999), longer] {
            named("content.max_ahead: ", refusal(|c| c.content.max_ahead = span));
        }
    }

    #[test]
    fn the_greatest_settings_are_the_ends_of_their_ranges() {
        let greatest = Config::greatest();
        assert!(greatest.validate().is_ok());
        assert_eq!(
            (greatest.timeline.look_at, greatest.timeline.evict_after),
            (1_000_000, Duration::from_days(36_500))
        );
        assert_eq!(greatest.storage.min_free_mb, Config::default().storage.min_free_mb, "it has no range");
    }

    #[test]
    fn settings_that_do_not_belong_together_are_refused_by_name() {
        let node = |brokers: &[&str], node: &str, members: &[&str]| {
            let mut config = Config::default();
            config.cluster.brokers = brokers.iter().map(|name| (*name).to_owned()).collect();
            config.cluster.node = NodeName::read(node).expect(node);
            config.cluster.members = members.iter().map(|text| Member::read(text).expect(text)).collect();
            config
        };
        let refusal = |config: &Config| config.validate().expect_err("refused").to_string();
        assert!(node(&[], "", &[]).validate().is_ok());
        assert!(node(&["k:9092"], "a", &["a=http://a", "b=http://b"]).validate().is_ok());
        for (config, name) in [
            (node(&[], "a", &[]), "cluster.brokers: "),
            (node(&["k:9092"], "", &["a=http://a"]), "cluster.node: "),
            (node(&["k:9092"], "a", &[]), "cluster.members: \"a\""),
            (node(&["k:9092"], "a", &["a=http://a", "a=http://b"]), "cluster.members: two"),
            (node(&["k:9092"], "a", &["a=http://a", "b=http://a/"]), "have the same URL"),
        ] {
            assert!(refusal(&config).contains(name), "{}", refusal(&config));
        }
        let mut config = node(&["k:9092"], "a", &["a=http://a"]);
        config.cluster.sasl = Sasl::Plain;
        assert!(refusal(&config).contains("cluster.sasl_user: "));
        config.cluster.sasl = Sasl::Off;
        config.cluster.tls_ca = "ca.pem".into();
        assert!(refusal(&config).contains("cluster.tls: "));
        config.cluster.tls = true;
        config.cluster.tls_key = "key.pem".into();
        assert!(refusal(&config).contains("cluster.tls_cert: "));
        config.cluster.tls_key = "".into();
        config.cluster.min_in_sync = 4;
        assert!(refusal(&config).contains("cluster.min_in_sync: "));
    }
}
