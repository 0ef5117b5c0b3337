//! `GET /v1/admin/alerts`: the alerts of `docs/alerts.yaml` that hold now, as far as one server can tell by itself. So the
//! console can say whether all is well without Prometheus. The conditions are looked at with each sample of the history.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use super::metrics;
use crate::figures::firing::Firing;
use crate::figures::reading::Reading;
use crate::prelude::*;
use model::clock::now;

/// The age of the newest good backup that is too old, seconds.
const OLD_BACKUP: f64 = 2.0 * 86_400.0;
/// The seconds before its end at which a certificate should have been replaced.
const CERTIFICATE_ENDS: f64 = 14.0 * 86_400.0;

endpoints! { "operations":
    /// The alerts that hold now
    ///
    /// By the rules of docs/alerts.yaml that one server can tell by itself. None if all is well.
    get("/v1/admin/alerts", list, "listAlerts")
        .of_this_server()
        .answers_items::<Alert>(200, "AlertList", "The alerts, the most urgent first")
        .never_waits();
}

/// `GET /v1/admin/alerts`
async fn list(call: Call) -> Answer {
    let firing = look(&call.api, &metrics::read(&call.api).await);
    let mut items: Vec<_> = RULES.iter().zip(firing).filter(|(_, fires)| *fires).map(|(rule, _)| &rule.alert).collect();
    items.sort_by_key(|alert| alert.severity);
    reply::items(&items)
}

/// Looks at all rules; for each whether its alert holds.
pub(super) fn look(api: &Api, figures: &Reading) -> Vec<bool> {
    let mut firing = api.observed.firing.lock();
    firing.resize_with(RULES.len(), Firing::default);
    let holds = |(Rule { check, lasts, window, .. }, firing): (&Rule, &mut Firing)| {
        firing.look(Instant::now(), check(figures), (*window, *lasts))
    };
    RULES.iter().zip(&mut *firing).map(holds).collect()
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

/// The judgement of a rule by the figures of one server: whether its condition holds, and a number that only rises. The
/// alert holds while the condition does, and for a while after the number has risen.
type Check = fn(&Reading) -> (bool, u64);

fn when(holds: bool) -> (bool, u64) {
    (holds, 0)
}

fn risen(count: f64) -> (bool, u64) {
    (false, count as u64)
}

/// A rule of docs/alerts.yaml with its check.
struct Rule {
    alert: Alert,
    check: Check,
    /// How long the condition must hold before the alert does.
    lasts: Duration,
    /// How long the condition holds after the number has risen: the window of the rule.
    window: Duration,
}

impl Rule {
    fn read(&(name, check): &(&'static str, Check)) -> Option<Self> {
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

/// The seconds since a time, which is in seconds since 1970.
fn age(time: f64) -> f64 {
    now() as f64 / 1000.0 - time
}

/// The rules that one server can judge.
static CHECKS: &[(&str, Check)] = &[
    ("TidelineDiskFull", |of| {
        let is_full = of.sum("tideline_storage_writes_refused") + of.sum("tideline_storage_writes_stopped") > 0.0;
        // A stopped engine has an alert of its own.
        let holds = is_full && of.sum("tideline_storage_needs_restart") == 0.0;
        (holds, of.sum("tideline_storage_background_errors_total") as u64)
    }),
    ("TidelineDiskFills", |of| {
        when(of.sum("tideline_storage_device_bytes") > 0.9 * of.sum("tideline_storage_device_limit_bytes"))
    }),
    ("TidelineStorageStopped", |of| when(of.sum("tideline_storage_needs_restart") > 0.0)),
    ("TidelineDiskHangs", |of| when(of.sum("tideline_storage_sample_age_seconds") > 60.0)),
    ("TidelineMemory", |of| when(of.sum("process_resident_memory_bytes") > of.sum("tideline_memory_planned_bytes"))),
    ("TidelineLogUnreachable", |of| when(of.sum("tideline_cluster_reachable") == 0.0)),
    ("TidelineOverloaded", |of| risen(of.sum_of("tideline_http_problems_total", "code=\"overloaded\""))),
    ("TidelineJobsPileUp", |of| when(of.sum("tideline_job_places") > 0.5 * of.sum("tideline_job_places_limit"))),
    ("TidelineJobsFail", |of| (of.sum("tideline_parked_jobs") > 0.0, of.sum("tideline_job_failures_total") as u64)),
    // The oldest job tells it also while no fan-out ends.
    ("TidelineLateDelivery", |of| when(of.sum("tideline_job_oldest_age_seconds") > 60.0)),
    ("TidelineDamagedInboxes", |of| risen(of.sum("tideline_damaged_inboxes_total"))),
    ("TidelineSlowDisk", |of| risen(of.sum("tideline_storage_stops_total"))),
    ("TidelineBackupOld", |of| when(age(of.sum("tideline_backup_newest_verified_timestamp_seconds")) > OLD_BACKUP)),
    ("TidelineBackupNotCopied", |of| when(age(of.sum("tideline_backup_newest_copied_timestamp_seconds")) > OLD_BACKUP)),
    ("TidelineBackupFailed", |of| {
        risen(of.sum("tideline_backup_failures_total") + of.sum("tideline_backup_copy_failures_total"))
    }),
    ("TidelineReloadFailed", |of| when(of.sum("tideline_reload_failed") > 0.0)),
    ("TidelineCertificateEnds", |of| {
        when(-age(of.sum("tideline_certificate_ends_timestamp_seconds")) < CERTIFICATE_ENDS)
    }),
    ("TidelineWebhookLate", |of| when(of.most("tideline_webhook_lag_seconds") > 600.0)),
    ("TidelineWebhookGap", |of| risen(of.sum("tideline_webhook_gaps_total"))),
    ("TidelineStandbyBehind", |of| when(of.most("tideline_standby_behind_seconds") > 60.0)),
    ("TidelineNodeNotReady", |of| when(of.sum("tideline_cluster_caught_up") == 0.0)),
    ("TidelineNodeSlow", |of| when(of.sum("tideline_cluster_oldest_wait_seconds") > 1.0)),
    ("TidelineNodeLags", |of| when(of.sum("tideline_cluster_lag") > 1000.0)),
    ("TidelineLogBusy", |of| when(of.sum("tideline_cluster_waiting") > 8000.0)),
    ("TidelineNodesDiffer", |of| when(of.sum("tideline_cluster_differing_nodes") > 0.0)),
    ("TidelineClockWrong", |of| when(of.sum("tideline_cluster_log_clock_ahead_seconds").abs() > 60.0)),
];

/// The rules of the checks.
static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| CHECKS.iter().filter_map(Rule::read).collect());

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::tests::api_with;
    use config::Config;

    /// A name that no page has would never fire.
    #[actix_web::test]
    async fn each_check_reads_figures_that_there_are() {
        let page = metrics::figures_of(&api_with(Config::default())).await.0;
        // Figures that only some servers have.
        let of_some =
            [include_str!("metrics.rs"), include_str!("metrics/cluster.rs"), include_str!("../figures/reloads.rs")];
        let is_declared = |name: &str| of_some.iter().any(|source| source.contains(&format!("{name} = ")));
        let alerts = include_str!("alerts.rs").split("mod tests").next().expect("the checks");
        for source in [alerts, include_str!("../figures/history.rs")] {
            for name in source.split('"').filter(|text| text.starts_with("tideline_") || text.starts_with("process_")) {
                assert!(page.contains(&format!("# HELP {name} ")) || is_declared(name), "{name}");
            }
        }
    }

    #[test]
    fn each_check_has_its_rule() {
        assert!(CHECKS.len() > 20);
        let names: Vec<_> = CHECKS.iter().map(|(name, _)| *name).collect();
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
