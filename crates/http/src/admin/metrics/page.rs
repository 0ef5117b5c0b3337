//! The text format: one figure, or one family of them, at a time.

use std::fmt;

use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder};
use prometheus_client::metrics::MetricType::{self, Counter, Gauge, Histogram};

use model::Fill;

/// Writes families. Names are written unchanged: the library knows counters only without `_total`, which the older text
/// format requires in all lines.
pub(super) struct Page<'a>(pub(super) DescriptorEncoder<'a>);

/// A counter's name ends in `_total`.
fn kind(name: &str) -> MetricType {
    if name.ends_with("_total") { Counter } else { Gauge }
}

/// Writes a distribution of a family.
pub(super) fn distribution(encoder: &mut MetricEncoder<'_>, values: &model::Histogram) -> fmt::Result {
    let read = values.read();
    encoder.encode_histogram::<[(&str, &str); 0]>(read.sum, read.count(), &read.buckets, None)
}

impl Page<'_> {
    pub(super) fn one(&mut self, name: &str, help: &str, value: u64) -> fmt::Result {
        self.0.encode_descriptor(name, help, None, kind(name))?.encode_gauge(&value)
    }

    /// A figure with a fraction.
    pub(super) fn fraction(&mut self, name: &str, help: &str, value: f64) -> fmt::Result {
        self.0.encode_descriptor(name, help, None, kind(name))?.encode_gauge(&value)
    }

    /// A distribution.
    pub(super) fn histogram(&mut self, name: &str, help: &str, values: &model::Histogram) -> fmt::Result {
        distribution(&mut self.0.encode_descriptor(name, help, None, Histogram)?, values)
    }

    /// The amount used, and under a name with `limit` the limit.
    pub(super) fn fill(&mut self, name: &str, helps: [&str; 2], fill: Fill) -> fmt::Result {
        self.one(name, helps[0], fill.used)?;
        let limit = match name.strip_suffix("_bytes") {
            Some(name) => format!("{name}_limit_bytes"),
            None => format!("{name}_limit"),
        };
        self.one(&limit, helps[1], fill.limit)
    }

    pub(super) fn each<'v>(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        values: impl IntoIterator<Item = (&'v str, u64)>,
    ) -> fmt::Result {
        let mut family = self.0.encode_descriptor(name, help, None, kind(name))?;
        for (name, value) in values {
            family.encode_family(&[(label, name)])?.encode_gauge(&value)?;
        }
        Ok(())
    }
}
