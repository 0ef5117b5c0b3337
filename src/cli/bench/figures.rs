//! Figures of a server, from its page of metrics.

use std::collections::BTreeMap;

/// Entries written into inboxes by fan-outs.
const DELIVERIES: &str = "tideline_deliveries_total";
/// Items published.
const PUBLISHED: &str = "tideline_published_items_total";
/// Jobs running or waiting, by kind.
const JOBS: &str = "tideline_jobs{";
/// The histogram of the time from a publish until the item is in all inboxes that get it.
const LAG: &str = "tideline_delivery_lag_seconds_bucket{";
/// Requests, by route, method and status.
const REQUESTS: &str = "tideline_http_requests_total{";

/// The counters of a page, by their names with labels.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Figures(BTreeMap<String, u64>);

impl Figures {
    /// Reads a page of metrics. `None` if it is not one of this program.
    pub(super) fn read(page: &str) -> Option<Self> {
        let figure = |line: &str| {
            let (name, value) = line.rsplit_once(' ')?;
            Some((name.to_owned(), value.parse::<f64>().ok()? as u64))
        };
        let figures: BTreeMap<_, _> = page.lines().filter(|line| !line.starts_with('#')).filter_map(figure).collect();
        figures.contains_key(DELIVERIES).then_some(Self(figures))
    }

    /// The difference to an earlier reading.
    pub(super) fn since(&self, before: &Self) -> Self {
        let earlier = |name: &str| before.0.get(name).copied().unwrap_or(0);
        Self(self.0.iter().map(|(name, count)| (name.clone(), count.saturating_sub(earlier(name)))).collect())
    }

    fn named(&self, begin: &str) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().filter(move |(name, _)| name.starts_with(begin)).map(|(name, count)| (name.as_str(), *count))
    }

    /// Entries written into inboxes by fan-outs.
    pub(super) fn deliveries(&self) -> u64 {
        self.0.get(DELIVERIES).copied().unwrap_or(0)
    }

    /// Items published.
    pub(super) fn published(&self) -> u64 {
        self.0.get(PUBLISHED).copied().unwrap_or(0)
    }

    /// Jobs running or waiting.
    pub(super) fn jobs(&self) -> u64 {
        self.named(JOBS).map(|(_, count)| count).sum()
    }

    /// Requests answered 2xx, by method and route.
    pub(super) fn answered(&self) -> BTreeMap<String, u64> {
        let good = self.named(REQUESTS).filter(|(name, count)| *count > 0 && label(name, "status") == Some("2xx"));
        good.filter_map(|(name, count)| Some((format!("{} {}", label(name, "method")?, label(name, "route")?), count)))
            .collect()
    }

    /// A bound in seconds that this percentile of the fan-outs kept; infinite if the last bound did not suffice; `None`
    /// without fan-outs.
    pub(super) fn lag(&self, percentile: f64) -> Option<f64> {
        // "+Inf" is a number, too.
        let bound = |(name, count)| Some((label(name, "le")?.parse::<f64>().ok()?, count));
        let mut lags: Vec<_> = self.named(LAG).filter_map(bound).collect();
        lags.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let all = lags.last().map(|(_, count)| *count).filter(|count| *count > 0)?;
        let wanted = (all as f64 * percentile / 100.0).ceil() as u64;
        lags.iter().find(|(_, count)| *count >= wanted).map(|(bound, _)| *bound)
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
        assert_eq!((figures.deliveries(), figures.published(), figures.jobs()), (12, 7, 3));
        assert_eq!([33.0, 66.0, 100.0].map(|p| figures.lag(p)), [0.001, 0.01, f64::INFINITY].map(Some));
        assert_eq!(figures.answered(), BTreeMap::from([("POST /v1/content".to_owned(), 5)]));
        assert_eq!(Figures::read("up 1\n"), None);
    }

    #[test]
    fn differences_and_percentiles_of_lags() {
        let read = |deliveries, lags| Figures::read(&page(deliveries, lags)).expect("ours");
        let (before, after) = (read(10, [50, 50, 50]), read(25, [140, 149, 150]));
        let since = after.since(&before);
        assert_eq!((since.deliveries(), since.published()), (15, 0));
        assert!(since.answered().is_empty());
        assert_eq!([50.0, 90.0, 99.0, 99.9].map(|p| since.lag(p)), [0.001, 0.001, 0.01, f64::INFINITY].map(Some));
        assert_eq!(after.since(&after).lag(50.0), None);
    }
}
