//! `GET /v1/admin/alerts`: the alerts of `docs/alerts.yaml` that hold now, as far as one server can tell by itself. So the
//! console can say whether all is well without Prometheus. The conditions are looked at with each sample of the history.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::api::Api;
use crate::call::Call;
use crate::endpoint::{Endpoint, get, group};
use crate::figures::disk::DiskFigures;
use crate::figures::firing::Condition;
use crate::figures::webhooks::WebhookFigures;
use crate::wire::reply::{self, Answer};
use ::cluster::Status;
use model::Millis;
use model::clock::now;

/// The age of the newest good backup that is too old.
const OLD_BACKUP: Millis = 2 * 86_400_000;
/// The seconds before its end at which a certificate should have been replaced.
const CERTIFICATE_ENDS: u64 = 14 * DAY;
const MINUTE: u64 = 60;
const HOUR: u64 = 3600;
const DAY: u64 = 24 * HOUR;

/// The call of this file.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let example = json!({
        "name": "TidelineDiskFull", "severity": "page", "runbook": "docs/operate/faults.md#the-disk-is-full"
    });
    let call = get("/v1/admin/alerts", list, "listAlerts", "The alerts that hold now")
        .about("By the rules of docs/alerts.yaml that one server can tell by itself. None if all is well.")
        .of_this_server()
        .answers_items::<Alert>(200, "AlertList", "The alerts, the most urgent first", example)
        .never_waits();
    group("operations", [call])
}

/// `GET /v1/admin/alerts`
async fn list(call: Call) -> Answer {
    let (sample, node) = (call.api.sample().await, call.api.sample_node().await);
    let firing = look(&call.api, sample, node);
    let mut items: Vec<_> =
        ALERTS.iter().zip(firing).filter(|(_, fires)| *fires).map(|(rule, _)| &rule.alert).collect();
    items.sort_by_key(|alert| alert.severity);
    reply::ok(&json!({ "items": items }))
}

/// Looks at all rules; for each whether its alert holds.
pub(super) fn look(api: &Arc<Api>, sample: Option<DiskFigures>, node: Option<Status>) -> Vec<bool> {
    let seen = Seen { api, sample, node, now: now() };
    let condition = |rule: &Rule| Condition {
        holds: (rule.holds)(&seen),
        grows: rule.grows.map(|(count, within)| (count(&seen), Duration::from_secs(within))),
        lasts: Duration::from_secs(rule.lasts),
    };
    api.observed.firing.look(Instant::now(), ALERTS.iter().map(condition))
}

/// An alert.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
struct Alert {
    /// The name of the rule.
    name: &'static str,
    /// `page`: somebody must act now. `ticket`: on the same day.
    severity: &'static str,
    /// The page of the documentation about it.
    runbook: &'static str,
}

/// A number that only rises.
type Counter = fn(&Seen<'_>) -> u64;

/// When an alert holds: while its condition has held for so many seconds, or a number has grown within so many.
struct Rule {
    alert: Alert,
    holds: fn(&Seen<'_>) -> bool,
    grows: Option<(Counter, u64)>,
    lasts: u64,
}

impl Rule {
    const fn of(name: &'static str, severity: &'static str, runbook: &'static str) -> Self {
        Self { alert: Alert { name, severity, runbook }, holds: |_| false, grows: None, lasts: 0 }
    }

    const fn page(name: &'static str, runbook: &'static str) -> Self {
        Self::of(name, "page", runbook)
    }

    const fn ticket(name: &'static str, runbook: &'static str) -> Self {
        Self::of(name, "ticket", runbook)
    }

    const fn if_so(self, holds: fn(&Seen<'_>) -> bool) -> Self {
        Self { holds, ..self }
    }

    /// If a number that only rises has done so within these seconds.
    const fn if_grown(self, within: u64, count: Counter) -> Self {
        Self { grows: Some((count, within)), ..self }
    }

    /// Only after so many seconds.
    const fn lasting(self, lasts: u64) -> Self {
        Self { lasts, ..self }
    }
}

/// What the rules are about.
struct Seen<'a> {
    api: &'a Api,
    sample: Option<DiskFigures>,
    node: Option<Status>,
    now: Millis,
}

impl Seen<'_> {
    fn disk(&self, is_so: impl Fn(&DiskFigures) -> bool) -> bool {
        self.sample.as_ref().is_some_and(is_so)
    }

    fn count(&self, count: impl Fn(&DiskFigures) -> u64) -> u64 {
        self.sample.as_ref().map_or(0, count)
    }

    /// Whether the newest backup of a kind began too long ago.
    fn is_old(&self, newest: &AtomicU64) -> bool {
        self.now.saturating_sub(newest.load(Ordering::Relaxed)) > OLD_BACKUP
    }

    fn node(&self, is_so: impl Fn(&Status) -> bool) -> bool {
        self.node.as_ref().is_some_and(is_so)
    }

    fn webhook(&self, is_so: impl Fn(&WebhookFigures) -> bool) -> bool {
        self.api.observed.webhooks.iter().any(|webhook| is_so(webhook))
    }
}

/// The rules. A test holds names, severities, runbooks and times to those of `docs/alerts.yaml`.
static ALERTS: &[Rule] = &[
    Rule::page("TidelineDiskFull", "docs/operate/faults.md#the-disk-is-full")
        .if_so(|seen| {
            // A stopped engine has an alert of its own.
            let is_full = |disk: &DiskFigures| disk.store.writes_refused || disk.store.writes_stopped;
            seen.disk(|disk| is_full(disk) && !disk.store.needs_restart)
        })
        .if_grown(5 * MINUTE, |seen| seen.count(|disk| disk.store.background_errors)),
    Rule::ticket("TidelineDiskFills", "docs/operate/disk.md#disk-space")
        .if_so(|seen| seen.disk(|disk| disk.store.device.used > disk.store.device.limit / 10 * 9))
        .lasting(30 * MINUTE),
    Rule::page("TidelineStorageStopped", "docs/operate/faults.md#damage")
        .if_so(|seen| seen.disk(|disk| disk.store.needs_restart)),
    Rule::page("TidelineDiskHangs", "docs/operate/disk.md#disk-space").if_so(|seen| {
        let age = seen.api.observed.sampler.age(seen.sample.as_ref().map(|sample| sample.at));
        age > Duration::from_secs(60)
    }),
    Rule::page("TidelineMemory", "docs/operate/capacity.md")
        .if_so(|seen| {
            seen.disk(|disk| disk.process.resident_bytes.unwrap_or_default() > seen.api.planned_memory(&disk.store))
        })
        .lasting(5 * MINUTE),
    Rule::page("TidelineLogUnreachable", "docs/operate/cluster.md#what-may-fail")
        .if_so(|seen| seen.node(|node| !node.reachable))
        .lasting(MINUTE),
    Rule::ticket("TidelineOverloaded", "docs/operate/faults.md#503-overloaded").if_grown(5 * MINUTE, |seen| {
        let mut problems = seen.api.observed.requests.problems();
        problems.find(|(code, _)| *code == "overloaded").map_or(0, |(_, count)| count)
    }),
    Rule::ticket("TidelineJobsPileUp", "docs/operate/faults.md#jobs-pile-up")
        .if_so(|seen| {
            let places = seen.api.feed().backlog().usage().places;
            2 * places.used > places.limit
        })
        .lasting(10 * MINUTE),
    Rule::ticket("TidelineJobsFail", "docs/operate/alerts.md#pages-stay-right")
        .if_so(|seen| seen.api.feed().backlog().usage().parked > 0)
        .if_grown(5 * MINUTE, |seen| seen.api.observed.workers.usage().failures),
    // The oldest job tells it also while no fan-out ends.
    Rule::ticket("TidelineLateDelivery", "docs/operate/faults.md#jobs-pile-up")
        .if_so(|seen| seen.api.feed().backlog().oldest().is_some_and(|age| age > Duration::from_secs(60)))
        .lasting(10 * MINUTE),
    Rule::ticket("TidelineDamagedInboxes", "docs/operate/disk.md#restarts-and-damage")
        .if_grown(DAY, |seen| seen.count(|disk| disk.store.damaged_inboxes)),
    Rule::ticket("TidelineSlowDisk", "docs/operate/capacity.md")
        .if_grown(5 * MINUTE, |seen| seen.count(|disk| disk.store.engine.stops)),
    Rule::ticket("TidelineBackupOld", "docs/operate/faults.md#backups")
        .if_so(|seen| seen.is_old(&seen.api.backups.figures().newest_verified))
        .lasting(10 * MINUTE),
    Rule::ticket("TidelineBackupNotCopied", "docs/operate/faults.md#backups")
        .if_so(|seen| seen.is_old(&seen.api.backups.figures().newest_copied))
        .lasting(10 * MINUTE),
    Rule::ticket("TidelineBackupFailed", "docs/operate/faults.md#backups").if_grown(DAY, |seen| {
        let figures = seen.api.backups.figures();
        figures.failed.load(Ordering::Relaxed) + figures.copies_failed.load(Ordering::Relaxed)
    }),
    Rule::ticket("TidelineReloadFailed", "docs/operate/faults.md#keys-and-the-certificate")
        .if_so(|seen| seen.api.observed.reloads.have_failed())
        .lasting(5 * MINUTE),
    Rule::ticket("TidelineCertificateEnds", "docs/operate/faults.md#keys-and-the-certificate").if_so(|seen| {
        seen.api.observed.reloads.certificate_ends().is_some_and(|end| end < seen.now / 1000 + CERTIFICATE_ENDS)
    }),
    Rule::ticket("TidelineWebhookLate", "docs/use/webhooks.md#when-a-receiver-is-away")
        .if_so(|seen| seen.webhook(|webhook| webhook.lag() > 600)),
    Rule::ticket("TidelineWebhookGap", "docs/use/webhooks.md#when-a-receiver-is-away").if_grown(HOUR, |seen| {
        seen.api.observed.webhooks.iter().map(|webhook| webhook.gaps.load(Ordering::Relaxed)).sum()
    }),
    Rule::ticket("TidelineStandbyBehind", "docs/operate/standby.md#how-far-it-is-behind")
        .if_so(|seen| {
            let known = seen.api.standbys.list(seen.api.feed().store()).unwrap_or_default();
            known.iter().any(|standby| standby.behind_for > 60_000)
        })
        .lasting(5 * MINUTE),
    Rule::ticket("TidelineNodeNotReady", "docs/operate/cluster.md#what-may-fail")
        .if_so(|seen| seen.node(|node| !node.caught_up))
        .lasting(10 * MINUTE),
    Rule::ticket("TidelineNodeSlow", "docs/operate/cluster.md#what-may-fail")
        .if_so(|seen| seen.node(|node| node.oldest_wait > Duration::from_secs(1)))
        .lasting(2 * MINUTE),
    Rule::ticket("TidelineNodeLags", "docs/operate/cluster.md#sizing")
        .if_so(|seen| seen.node(|node| node.lag > Some(1000)))
        .lasting(5 * MINUTE),
    Rule::ticket("TidelineLogBusy", "docs/operate/limits.md#a-cluster")
        .if_so(|seen| seen.node(|node| node.waiting > 8000))
        .lasting(MINUTE),
    Rule::ticket("TidelineNodesDiffer", "docs/operate/cluster.md#are-two-nodes-equal")
        .if_so(|seen| seen.node(|node| node.differing > 0)),
    Rule::ticket("TidelineClockWrong", "docs/operate/cluster.md#operation")
        .if_so(|seen| seen.node(|node| node.clock_ahead.unsigned_abs() > 60_000)),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// A time as Prometheus writes it, in seconds.
    fn seconds(text: &str) -> u64 {
        let (number, unit) = text.split_at(text.len() - 1);
        let unit = match unit {
            "m" => MINUTE,
            "h" => HOUR,
            "d" => DAY,
            other => panic!("the unit {other}"),
        };
        unit * number.parse::<u64>().expect("a number")
    }

    #[test]
    fn the_rules_are_those_for_prometheus() {
        let rules: Vec<_> = include_str!("../../../../docs/alerts.yaml").split("- alert: ").skip(1).collect();
        let field = |rule: &str, name: &str| {
            let (_, rest) = rule.split_once(&format!("{name}: "))?;
            Some(rest.split(['\n', '}']).next()?.to_owned())
        };
        for Rule { alert: Alert { name, severity, runbook }, grows, lasts, .. } in ALERTS {
            let rule =
                rules.iter().find(|rule| rule.lines().next() == Some(name)).unwrap_or_else(|| panic!("no rule {name}"));
            let known = (field(rule, "severity"), field(rule, "runbook"));
            assert_eq!(known, (Some((*severity).to_owned()), Some((*runbook).to_owned())), "{name}");
            assert_eq!(field(rule, " for").map_or(0, |time| seconds(&time)), *lasts, "the time of {name}");
            if let Some((_, within)) = grows {
                let window = rule.split_once('[').and_then(|(_, rest)| rest.split_once(']')).expect("a window").0;
                assert_eq!(seconds(window), *within, "the window of {name}");
            }
        }
        assert!(ALERTS.len() > 20);
    }
}
