//! `GET /v1/admin/alerts`: the alerts of `docs/alerts.yaml` that hold now, as far as one server can tell by itself. So the
//! console can say whether all is well without Prometheus. The conditions are looked at with each sample of the history.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use crate::api::Api;
use crate::figures::disk::DiskFigures;
use crate::figures::firing::Condition;
use crate::prelude::*;
use ::cluster::Status;
use model::clock::now;

/// The age of the newest good backup that is too old.
const OLD_BACKUP: Millis = 2 * 86_400_000;
/// The seconds before its end at which a certificate should have been replaced.
const CERTIFICATE_ENDS: u64 = 14 * 86_400;

endpoints! { "operations":
    let example = json!({
        "name": "TidelineDiskFull", "severity": "page", "runbook": "docs/operate/faults.md#the-disk-is-full"
    });

    /// The alerts that hold now
    ///
    /// By the rules of docs/alerts.yaml that one server can tell by itself. None if all is well.
    get("/v1/admin/alerts", list, "listAlerts")
        .of_this_server()
        .answers_items::<Alert>(200, "AlertList", "The alerts, the most urgent first", example)
        .never_waits();
}

/// `GET /v1/admin/alerts`
async fn list(call: Call) -> Answer {
    let (sample, node) = (call.api.sample().await, call.api.sample_node().await);
    let firing = look(&call.api, sample, node);
    let mut items: Vec<_> = RULES.iter().zip(firing).filter(|(_, fires)| *fires).map(|(rule, _)| &rule.alert).collect();
    items.sort_by_key(|alert| alert.severity);
    reply::items(&items)
}

/// Looks at all rules; for each whether its alert holds.
pub(super) fn look(api: &Arc<Api>, sample: Option<DiskFigures>, node: Option<Status>) -> Vec<bool> {
    let seen = Seen { api, sample, node, now: now() };
    let condition = |rule: &Rule| Condition {
        holds: (rule.check.holds)(&seen),
        count: (rule.check.count)(&seen),
        window: rule.window,
        lasts: rule.lasts,
    };
    api.observed.firing.look(Instant::now(), RULES.iter().map(condition))
}

answers! {
    /// An alert.
    #[derive(PartialEq, Eq)]
    struct Alert {
        /// The name of the rule.
        name: &'static str,
        /// `page`: somebody must act now. `ticket`: on the same day.
        severity: &'static str,
        /// The page of the documentation about it.
        runbook: &'static str,
    }
}

/// How a server judges a rule itself: its alert holds while a condition does, or for a while after a number has risen.
struct Check {
    name: &'static str,
    holds: fn(&Seen<'_>) -> bool,
    /// A number that only rises.
    count: fn(&Seen<'_>) -> u64,
}

const fn when(name: &'static str, holds: fn(&Seen<'_>) -> bool) -> Check {
    Check { name, holds, count: |_| 0 }
}

const fn risen(name: &'static str, count: fn(&Seen<'_>) -> u64) -> Check {
    Check { name, holds: |_| false, count }
}

impl Check {
    const fn or_risen(self, count: fn(&Seen<'_>) -> u64) -> Self {
        Self { count, ..self }
    }
}

/// A rule of docs/alerts.yaml with its check.
struct Rule {
    alert: Alert,
    check: &'static Check,
    /// How long the condition must hold before the alert does.
    lasts: Duration,
    /// How long the condition holds after the number has risen: the window of the rule.
    window: Duration,
}

impl Rule {
    fn read(check: &'static Check) -> Option<Self> {
        let name = check.name;
        let mut rules = include_str!("../../../../docs/alerts.yaml").split("- alert: ");
        let rule = rules.find(|rule| rule.lines().next() == Some(name))?;
        let field = |before: &str| rule.split_once(before)?.1.split(['\n', '}', ']']).next();
        let time = |before| {
            let time: config::Duration = serde_json::from_value(field(before)?.into()).ok()?;
            Some(time.get())
        };
        Some(Self {
            alert: Alert { name, severity: field("severity: ")?, runbook: field("runbook: ")? },
            check,
            lasts: time(" for: ").unwrap_or_default(),
            window: time("[").unwrap_or_default(),
        })
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
}

/// The rules that one server can judge.
static CHECKS: &[Check] = &[
    when("TidelineDiskFull", |seen| {
        // A stopped engine has an alert of its own.
        let is_full = |disk: &DiskFigures| disk.store.writes_refused || disk.store.writes_stopped;
        seen.disk(|disk| is_full(disk) && !disk.store.needs_restart)
    })
    .or_risen(|seen| seen.count(|disk| disk.store.background_errors)),
    when("TidelineDiskFills", |seen| seen.disk(|disk| disk.store.device.used > disk.store.device.limit / 10 * 9)),
    when("TidelineStorageStopped", |seen| seen.disk(|disk| disk.store.needs_restart)),
    when("TidelineDiskHangs", |seen| {
        let age = seen.api.observed.sampler.age(seen.sample.as_ref().map(|sample| sample.at));
        age > Duration::from_secs(60)
    }),
    when("TidelineMemory", |seen| {
        seen.disk(|disk| disk.process.resident_bytes.unwrap_or_default() > seen.api.planned_memory(&disk.store))
    }),
    when("TidelineLogUnreachable", |seen| seen.node(|node| !node.reachable)),
    risen("TidelineOverloaded", |seen| {
        let mut problems = seen.api.observed.requests.problems();
        problems.find(|(code, _)| *code == "overloaded").map_or(0, |(_, count)| count)
    }),
    when("TidelineJobsPileUp", |seen| {
        let places = seen.api.feed().backlog().usage().places;
        2 * places.used > places.limit
    }),
    when("TidelineJobsFail", |seen| seen.api.feed().backlog().usage().parked > 0)
        .or_risen(|seen| seen.api.observed.workers.usage().failures),
    // The oldest job tells it also while no fan-out ends.
    when("TidelineLateDelivery", |seen| {
        seen.api.feed().backlog().oldest().is_some_and(|age| age > Duration::from_secs(60))
    }),
    risen("TidelineDamagedInboxes", |seen| seen.count(|disk| disk.store.damaged_inboxes)),
    risen("TidelineSlowDisk", |seen| seen.count(|disk| disk.store.engine.stops)),
    when("TidelineBackupOld", |seen| seen.is_old(&seen.api.backups.figures().newest_verified)),
    when("TidelineBackupNotCopied", |seen| seen.is_old(&seen.api.backups.figures().newest_copied)),
    risen("TidelineBackupFailed", |seen| {
        let figures = seen.api.backups.figures();
        figures.failed.load(Ordering::Relaxed) + figures.copies_failed.load(Ordering::Relaxed)
    }),
    when("TidelineReloadFailed", |seen| seen.api.observed.reloads.have_failed()),
    when("TidelineCertificateEnds", |seen| {
        seen.api.observed.reloads.certificate_ends().is_some_and(|end| end < seen.now / 1000 + CERTIFICATE_ENDS)
    }),
    when("TidelineWebhookLate", |seen| {
        seen.api.observed.webhooks.iter().any(|webhook| webhook.now().lag_seconds > 600)
    }),
    risen("TidelineWebhookGap", |seen| seen.api.observed.webhooks.iter().map(|webhook| webhook.now().gaps).sum()),
    when("TidelineStandbyBehind", |seen| {
        let known = seen.api.standbys.list(seen.api.feed().store()).unwrap_or_default();
        known.iter().any(|standby| standby.behind_ms > 60_000)
    }),
    when("TidelineNodeNotReady", |seen| seen.node(|node| !node.caught_up)),
    when("TidelineNodeSlow", |seen| seen.node(|node| node.oldest_wait > Duration::from_secs(1))),
    when("TidelineNodeLags", |seen| seen.node(|node| node.lag > Some(1000))),
    when("TidelineLogBusy", |seen| seen.node(|node| node.waiting > 8000)),
    when("TidelineNodesDiffer", |seen| seen.node(|node| node.differing > 0)),
    when("TidelineClockWrong", |seen| seen.node(|node| node.clock_ahead.unsigned_abs() > 60_000)),
];

/// The rules of the checks.
static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| CHECKS.iter().filter_map(Rule::read).collect());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_check_has_its_rule() {
        assert!(CHECKS.len() > 20);
        let names: Vec<_> = CHECKS.iter().map(|check| check.name).collect();
        assert_eq!(RULES.iter().map(|rule| rule.alert.name).collect::<Vec<_>>(), names);
        for Rule { alert: Alert { name, severity, runbook }, .. } in &*RULES {
            assert!(
                ["page", "ticket"].contains(severity) && runbook.starts_with("docs/"),
                "{name} {severity} {runbook}"
            );
        }
        let rule = |name| RULES.iter().find(|rule| rule.alert.name == name).expect(name);
        let [fills, gap, full] = ["TidelineDiskFills", "TidelineWebhookGap", "TidelineDiskFull"].map(rule);
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        assert_eq!(
            (fills.lasts, gap.lasts, gap.window, full.window),
            (minutes(30), minutes(0), minutes(60), minutes(5))
        );
    }
}
