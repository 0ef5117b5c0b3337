//! Figures of a server, from its page of metrics.

use std::collections::BTreeMap;

/// Name of the histogram of the time from a publish until the item is in all inboxes that get it.
const LAG: &str = "tideline_delivery_lag_seconds";

/// The counters that a run looks at.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Figures {
    /// Entries written into inboxes by fan-outs.
    pub(super) deliveries: u64,
    /// Items published.
    pub(super) published: u64,
    /// Jobs running or waiting.
    pub(super) jobs: u64,
    /// Fan-outs by their lag: for each upper bound, in seconds, those up to it.
    pub(super) lags: Vec<(f64, u64)>,
    /// Requests answered 2xx, by route and method.
    pub(super) answered: BTreeMap<String, u64>,
}

impl Figures {
    /// Reads a page of metrics. `None` if it is not one of this program.
    pub(super) fn read(page: &str) -> Option<Self> {
        let mut figures = Self::default();
        let mut is_ours = false;
        for line in page.lines().filter(|line| !line.starts_with('#')) {
            let Some((name, value)) = line.rsplit_once(' ') else { continue };
            let Ok(value) = value.parse::<f64>() else { continue };
            let count = value as u64;
            if name == "tideline_deliveries_total" {
                figures.deliveries = count;
                is_ours = true;
            } else if name == "tideline_published_items_total" {
                figures.published = count;
            } else if name.starts_with("tideline_jobs{") {
                figures.jobs += count;
            } else if name.starts_with(LAG) {
                if let Some(bound) = label(name, "le") {
                    // "+Inf" is a number, too.
                    figures.lags.push((bound.parse().ok()?, count));
                }
            } else if name.starts_with("tideline_http_requests_total{") && label(name, "status") == Some("2xx") {
                let (route, method) = (label(name, "route")?, label(name, "method")?);
                figures.answered.insert(format!("{method} {route}"), count);
            }
        }
        is_ours.then_some(figures)
    }

    /// The difference to an earlier reading; of the jobs, those that are there now.
    pub(super) fn since(&self, before: &Self) -> Self {
        let earlier = |bound: f64| before.lags.iter().find(|(other, _)| *other == bound).map_or(0, |(_, count)| *count);
        let lags = self.lags.iter().map(|(bound, count)| (*bound, count.saturating_sub(earlier(*bound))));
        let answered = self.answered.iter().map(|(route, count)| {
            (route.clone(), count.saturating_sub(before.answered.get(route).copied().unwrap_or(0)))
        });
        Self {
            deliveries: self.deliveries.saturating_sub(before.deliveries),
            published: self.published.saturating_sub(before.published),
            jobs: self.jobs,
            lags: lags.collect(),
            answered: answered.filter(|(_, count)| *count > 0).collect(),
        }
    }

    /// A bound in seconds that this percentile of the fan-outs kept; infinite if the last bound did not suffice; `None`
    /// without fan-outs.
    pub(super) fn lag(&self, percentile: f64) -> Option<f64> {
        let all = self.lags.last().map(|(_, count)| *count).filter(|count| *count > 0)?;
        let wanted = (all as f64 * percentile / 100.0).ceil() as u64;
        self.lags.iter().find(|(_, count)| *count >= wanted).map(|(bound, _)| *bound)
    }
}

/// The value of a label, whose text has no quotes.
fn label<'a>(name: &'a str, wanted: &str) -> Option<&'a str> {
    let (_, labels) = name.split_once('{')?;
    labels.trim_end_matches('}').split(',').find_map(|pair| {
        let (label, value) = pair.split_once('=')?;
        (label == wanted).then(|| value.trim_matches('"'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(deliveries: u64, lags: [u64; 3]) -> String {
        let [first, second, all] = lags;
        format!(
            "# HELP tideline_deliveries_total Entries.\n\
             tideline_deliveries_total {deliveries}\ntideline_published_items_total 7\n\
             tideline_jobs{{kind=\"fan_out\"}} 2\ntideline_jobs{{kind=\"settle\"}} 1\n\
             tideline_delivery_lag_seconds_bucket{{le=\"0.001\"}} {first}\n\
             tideline_delivery_lag_seconds_bucket{{le=\"0.01\"}} {second}\n\
             tideline_delivery_lag_seconds_bucket{{le=\"+Inf\"}} {all}\n\
             tideline_delivery_lag_seconds_sum 1.5\ntideline_delivery_lag_seconds_count {all}\n\
             tideline_http_requests_total{{route=\"/v1/content\",method=\"POST\",status=\"2xx\"}} 5\n\
             tideline_http_requests_total{{route=\"/v1/content\",method=\"POST\",status=\"4xx\"}} 9\n"
        )
    }

    #[test]
    fn figures_are_read_by_name() {
        let figures = Figures::read(&page(12, [1, 2, 3])).expect("ours");
        assert_eq!((figures.deliveries, figures.published, figures.jobs), (12, 7, 3));
        assert_eq!(figures.lags, [(0.001, 1), (0.01, 2), (f64::INFINITY, 3)]);
        assert_eq!(figures.answered, BTreeMap::from([("POST /v1/content".to_owned(), 5)]));
        assert_eq!(Figures::read("up 1\n"), None);
    }

    #[test]
    fn differences_and_percentiles_of_lags() {
        let read = |deliveries, lags| Figures::read(&page(deliveries, lags)).expect("ours");
        let (before, after) = (read(10, [50, 50, 50]), read(25, [140, 149, 150]));
        let since = after.since(&before);
        assert_eq!((since.deliveries, since.published), (15, 0));
        assert_eq!(since.lags, [(0.001, 90), (0.01, 99), (f64::INFINITY, 100)]);
        assert!(since.answered.is_empty());
        assert_eq!([50.0, 90.0, 99.0, 99.9].map(|p| since.lag(p)), [0.001, 0.001, 0.01, f64::INFINITY].map(Some));
        assert_eq!(after.since(&after).lag(50.0), None);
    }
}
