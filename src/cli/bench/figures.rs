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
