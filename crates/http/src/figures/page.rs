//! The text format of Prometheus: one figure, or one family of them, at a time.

use std::fmt;

use actix_web::HttpResponse;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, MetricEncoder, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use crate::wire::problem::Problem;
use crate::wire::reply::Answer;
use model::Histogram;

/// The text format that every version of Prometheus reads.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Writes figures to a page. Each has a comment, which is its help text and ends in a full stop, a name and a value.
macro_rules! figures {
    ($page:expr => $($(#[doc = $help:literal])+ $name:ident = $value:expr;)+) => {{
        $($page.write(stringify!($name), concat!($($help),+).trim_start(), $value)?;)+
        Ok(())
    }};
}

pub(crate) use figures;

/// Writes figures to a page.
pub(crate) trait Write: Fn(&mut Page<'_>) -> fmt::Result + Send + Sync + 'static {}

impl<F: Fn(&mut Page<'_>) -> fmt::Result + Send + Sync + 'static> Write for F {}

/// An answer with these figures.
pub(crate) fn answer(figures: impl Write) -> Answer {
    Ok(HttpResponse::Ok().content_type(TEXT).body(text(figures).map_err(Problem::internal)?))
}

/// Figures as text, with the version of the server.
pub(crate) fn text(figures: impl Write) -> Result<String, fmt::Error> {
    let (mut registry, mut page) = (Registry::default(), String::with_capacity(64 << 10));
    registry.register_collector(Box::new(Figures(figures)));
    text::encode_registry(&mut page, &registry)?;
    Ok(page)
}

struct Figures<F>(F);

impl<F> fmt::Debug for Figures<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Figures")
    }
}

impl<F: Write> Collector for Figures<F> {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let page = &mut Page(encoder);
        figures! { page =>
            /// The version of the server.
            tideline_build_info = by("version", [(env!("CARGO_PKG_VERSION"), 1)]);
        }?;
        self.0(page)
    }
}

/// Writes families. Names are written unchanged: the library knows counters only without `_total`, which the older text
/// format requires in all lines.
pub(crate) struct Page<'a>(DescriptorEncoder<'a>);

impl Page<'_> {
    /// Writes a figure. The name of a counter ends in `_total`.
    pub(crate) fn write<F: Figure>(&mut self, name: &str, help: &str, figure: F) -> fmt::Result {
        let kind = match name.ends_with("_total") {
            _ if F::IS_DISTRIBUTION => MetricType::Histogram,
            true => MetricType::Counter,
            false => MetricType::Gauge,
        };
        if figure.is_known() { figure.encode(self.0.encode_descriptor(name, help, None, kind)?) } else { Ok(()) }
    }
}

/// The value of a figure.
pub(crate) trait Figure {
    const IS_DISTRIBUTION: bool = false;

    /// Whether there is a value. The page has no name without one.
    fn is_known(&self) -> bool {
        true
    }

    fn encode(self, encoder: MetricEncoder<'_>) -> fmt::Result;
}

impl Figure for u64 {
    fn encode(self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        encoder.encode_gauge(&self)
    }
}

impl Figure for f64 {
    fn encode(self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        encoder.encode_gauge(&self)
    }
}

/// 1 for true.
impl Figure for bool {
    fn encode(self, encoder: MetricEncoder<'_>) -> fmt::Result {
        u64::from(self).encode(encoder)
    }
}

impl Figure for usize {
    fn encode(self, encoder: MetricEncoder<'_>) -> fmt::Result {
        u64::try_from(self).unwrap_or(u64::MAX).encode(encoder)
    }
}

impl Figure for &Histogram {
    const IS_DISTRIBUTION: bool = true;

    fn encode(self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        let read = self.read();
        encoder.encode_histogram::<[(&str, &str); 0]>(read.sum, read.count(), &read.buckets, None)
    }
}

impl<F: Figure> Figure for Option<F> {
    fn is_known(&self) -> bool {
        self.is_some()
    }

    fn encode(self, encoder: MetricEncoder<'_>) -> fmt::Result {
        self.map_or(Ok(()), |figure| figure.encode(encoder))
    }
}

/// A family: labels, each with a figure.
pub(crate) struct Family<I>(pub(crate) I);

impl<L: EncodeLabelSet, F: Figure, I: Iterator<Item = (L, F)>> Figure for Family<I> {
    const IS_DISTRIBUTION: bool = F::IS_DISTRIBUTION;

    fn encode(self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        for (labels, figure) in self.0 {
            figure.encode(encoder.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

/// A family with one label, by the values of that.
pub(crate) fn by<'v>(label: &'static str, figures: impl IntoIterator<Item = (&'v str, u64)>) -> impl Figure {
    Family(figures.into_iter().map(move |(value, figure)| ([(label, value)], figure)))
}
