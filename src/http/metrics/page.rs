//! The text format: one figure, or one family of them, at a time.

use std::fmt;

use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::metrics::MetricType::{self, Gauge};

use crate::model::Fill;

/// Writes families. Names are written as they are: the library knows counters only without their
/// `_total`, which the older text format wants in all lines.
pub(super) struct Page<'a>(pub(super) DescriptorEncoder<'a>);

impl Page<'_> {
    pub(super) fn one(&mut self, kind: MetricType, name: &str, help: &str, value: u64) -> fmt::Result {
        self.0.encode_descriptor(name, help, None, kind)?.encode_gauge(&value)
    }

    pub(super) fn fill(&mut self, names: [&str; 2], helps: [&str; 2], fill: Fill) -> fmt::Result {
        self.one(Gauge, names[0], helps[0], fill.used)?;
        self.one(Gauge, names[1], helps[1], fill.limit)
    }

    pub(super) fn each<'v>(
        &mut self,
        kind: MetricType,
        name: &str,
        help: &str,
        label: &str,
        values: impl IntoIterator<Item = (&'v str, u64)>,
    ) -> fmt::Result {
        let mut family = self.0.encode_descriptor(name, help, None, kind)?;
        for (name, value) in values {
            family.encode_family(&[(label, name)])?.encode_gauge(&value)?;
        }
        Ok(())
    }
}
