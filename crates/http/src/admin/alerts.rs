//! `GET /v1/admin/alerts`: the alerts of `docs/alerts.yaml` that hold now, as far as one server can tell by itself. So the
//! console can say whether all is well without Prometheus. Where a rule asks for a time, the last samples of the history must
//! agree.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::api::Api;
use crate::call::Call;
use crate::endpoint::{Endpoint, get, group};
use crate::figures::disk::DiskFigures;
use crate::figures::history::Sample;
use crate::figures::webhooks::WebhookFigures;
use crate::wire::reply::{self, Answer};
use ::cluster::Status;
use model::Millis;
use model::clock::now;

/// The age of the newest good backup that is too old.
const OLD_BACKUP: Millis = 2 * 86_400_000;
/// The spans of rules: rates, and rules that must hold for some time.
const RECENT: Millis = 300_000;
const LONG: Millis = 600_000;

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
    call.no_query()?;
    let (sample, node) = (call.api.sample().await, call.api.sample_node().await);
    let now = now();
    let seen = Seen { api: &call.api, sample, node, now, recent: call.api.history.after(now.saturating_sub(LONG)) };
    let mut items: Vec<_> = ALERTS.iter().filter(|(_, holds)| holds(&seen)).map(|(alert, _)| alert).collect();
    items.sort_by_key(|alert| alert.severity);
    reply::ok(&json!({ "items": items }))
}

/// A rule that holds.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
struct Alert {
    /// The name of the rule.
    name: &'static str,
    /// `page`: somebody must act now. `ticket`: on the same day.
    severity: &'static str,
    /// The page of the documentation about it.
    runbook: &'static str,
}

/// What the rules are about.
struct Seen<'a> {
    api: &'a Api,
    sample: Option<DiskFigures>,
    node: Option<Status>,
    now: Millis,
    /// The samples of the last ten minutes.
    recent: Vec<Arc<Sample>>,
}

impl Seen<'_> {
    /// Whether all samples of a span are so, and the span is covered by samples.
    fn always(&self, span: Millis, is_so: impl Fn(&Sample) -> bool) -> bool {
        let since = self.now.saturating_sub(span);
        let begins_before = self.recent.first().is_some_and(|first| first.at <= since.saturating_add(span / 10));
        begins_before && self.recent.iter().filter(|sample| sample.at > since).all(|sample| is_so(sample))
    }

    /// Whether some sample of the last minutes is so.
    fn lately(&self, is_so: impl Fn(&Sample) -> bool) -> bool {
        let since = self.now.saturating_sub(RECENT);
        self.recent.iter().filter(|sample| sample.at > since).any(|sample| is_so(sample))
    }

    fn disk(&self, is_so: impl Fn(&DiskFigures) -> bool) -> bool {
        self.sample.as_ref().is_some_and(is_so)
    }

    fn node(&self, is_so: impl Fn(&Status) -> bool) -> bool {
        self.node.as_ref().is_some_and(is_so)
    }

    fn webhook(&self, is_so: impl Fn(&WebhookFigures) -> bool) -> bool {
        self.api.webhooks.iter().any(|webhook| is_so(webhook))
    }
}

type Rule = (Alert, fn(&Seen<'_>) -> bool);

macro_rules! alerts {
    ($($name:ident $severity:ident $runbook:literal $holds:expr;)+) => {
        /// The rules. A test holds names, severities and runbooks to those of `docs/alerts.yaml`.
        static ALERTS: &[Rule] = &[$((
            Alert { name: stringify!($name), severity: stringify!($severity), runbook: $runbook },
            $holds,
        )),+];
    };
}

alerts! {
    TidelineDiskFull page "docs/operate/faults.md#the-disk-is-full"
        |seen| seen.disk(|disk| disk.store.writes_refused || disk.store.writes_stopped);
    TidelineStorageStopped page "docs/operate/faults.md#damage" |seen| seen.disk(|disk| disk.store.needs_restart);
    TidelineDiskHangs page "docs/operate/disk.md#disk-space"
        |seen| seen.disk(|disk| disk.at.elapsed() > Duration::from_secs(60));
    TidelineMemory page "docs/operate/capacity.md" |seen| seen.always(RECENT, |sample| sample.memory_bytes > 2_000_000_000);
    TidelineLogUnreachable page "docs/operate/cluster.md#what-may-fail" |seen| seen.node(|node| !node.reachable);
    TidelineOverloaded ticket "docs/operate/faults.md#503-overloaded"
        |seen| seen.lately(|sample| sample.has_problem("overloaded"));
    TidelineJobsPileUp ticket "docs/operate/faults.md#jobs-pile-up" |seen| {
        let limit = seen.api.feed().backlog().usage().places.limit;
        seen.always(LONG, |sample| 2 * sample.jobs > limit)
    };
    TidelineJobsFail ticket "docs/operate/alerts.md#pages-stay-right"
        |seen| seen.api.feed().backlog().usage().parked > 0;
    TidelineLateDelivery ticket "docs/operate/faults.md#jobs-pile-up"
        |seen| seen.always(LONG, |sample| sample.delivery_lag_p99.is_some_and(|lag| lag > 60.0));
    TidelineDamagedInboxes ticket "docs/operate/disk.md#restarts-and-damage"
        |seen| seen.disk(|disk| disk.store.damaged_inboxes > 0);
    TidelineSlowDisk ticket "docs/operate/capacity.md" |seen| {
        let stalls = |sample: Option<&Arc<Sample>>| sample.map_or(0, |sample| sample.stalls);
        stalls(seen.recent.last()) > stalls(seen.recent.first())
    };
    TidelineBackupOld ticket "docs/operate/faults.md#backups" |seen| {
        let (.., newest) = seen.api.backups.figures();
        seen.now.saturating_sub(newest) > OLD_BACKUP
    };
    TidelineBackupFailed ticket "docs/operate/faults.md#backups" |seen| seen.api.backups.figures().1 > 0;
    TidelineWebhookLate ticket "docs/use/webhooks.md#when-a-receiver-is-away"
        |seen| seen.webhook(|webhook| webhook.lag() > 600);
    TidelineWebhookGap ticket "docs/use/webhooks.md#when-a-receiver-is-away"
        |seen| seen.webhook(|webhook| webhook.gaps.load(Ordering::Relaxed) > 0);
    TidelineStandbyLate ticket "docs/operate/standby.md#how-far-it-is-behind" |seen| {
        let known = seen.api.standbys.list(&**seen.api.feed().store()).unwrap_or_default();
        known.iter().any(|standby| standby.behind_for > 60_000)
    };
    TidelineNodeNotReady ticket "docs/operate/cluster.md#what-may-fail" |seen| seen.node(|node| !node.caught_up);
    TidelineNodeSlow ticket "docs/operate/cluster.md#what-may-fail"
        |seen| seen.node(|node| node.oldest_wait > Duration::from_secs(1));
    TidelineNodeLags ticket "docs/operate/cluster.md#sizing" |seen| seen.node(|node| node.lag > Some(1000));
    TidelineLogBusy ticket "docs/operate/limits.md#a-cluster" |seen| seen.node(|node| node.waiting > 8000);
    TidelineNodesDiffer ticket "docs/operate/cluster.md#are-two-nodes-equal" |seen| seen.node(|node| node.differing > 0);
    TidelineClockWrong ticket "docs/operate/cluster.md#operation"
        |seen| seen.node(|node| node.clock_ahead.unsigned_abs() > 60_000);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_are_those_for_prometheus() {
        let rules = include_str!("../../../../docs/alerts.yaml").split("- alert: ").skip(1);
        let field = |rule: &str, name: &str| {
            let (_, rest) = rule.split_once(&format!("{name}: ")).expect("the field");
            rest.split(['\n', '}']).next().expect("its line").to_owned()
        };
        let known: Vec<_> = rules
            .map(|rule| (rule.lines().next().expect("a name"), field(rule, "severity"), field(rule, "runbook")))
            .collect();
        for (Alert { name, severity, runbook }, _) in ALERTS {
            let rule = known.iter().find(|(known, ..)| known == name).unwrap_or_else(|| panic!("no rule {name}"));
            assert_eq!((&*rule.1, &*rule.2), (*severity, *runbook), "{name}");
        }
        assert!(ALERTS.len() > 20);
    }
}
