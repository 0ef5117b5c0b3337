//! Figures in the text format of Prometheus. Each is declared once, beside the thing that it counts.

use std::fmt::Display;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Count, Fill, Histogram};

/// Writes figures to a page. Each has a comment, which is its help text and ends in a full stop, a name and a value.
#[macro_export]
macro_rules! figures {
    ($page:expr => $($(#[doc = $help:literal])+ $name:ident = $value:expr;)+) => {
        $($page.write(stringify!($name), concat!($($help),+).trim_start(), $value);)+
    };
}

/// Figures as text.
#[derive(Debug)]
pub struct Page(pub String);

impl Default for Page {
    /// A page with the version of the server.
    fn default() -> Self {
        let mut page = Self(String::with_capacity(512 << 10));
        figures! { page =>
            /// The version of the server.
            tideline_build_info = by("version", [(env!("CARGO_PKG_VERSION"), 1)]);
        }
        page
    }
}

impl Page {
    /// Writes a figure. The name of a counter ends in `_total`. Without a value the page has no name either.
    pub fn write<F: Figure>(&mut self, name: &str, help: &str, figure: F) {
        figure.add(name, help, self);
    }

    fn add<F: Figure>(&mut self, name: &str, help: &str, figure: F) {
        let kind = match name.ends_with("_total") {
            _ if F::IS_DISTRIBUTION => "histogram",
            true => "counter",
            false => "gauge",
        };
        let before = self.0.len();
        self.0.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
        let head = self.0.len();
        figure.write(name, "", &mut self.0);
        if self.0.len() == head {
            self.0.truncate(before);
        }
    }
}

/// The value of a figure.
pub trait Figure: Sized {
    /// Whether it is a distribution of values.
    const IS_DISTRIBUTION: bool = false;

    /// Adds it to a page, with its name and its help text.
    fn add(self, name: &str, help: &str, page: &mut Page) {
        page.add(name, help, self);
    }

    /// Adds its lines, with this name and these labels, to a page.
    fn write(self, name: &str, labels: &str, page: &mut String);
}

fn line(page: &mut String, name: &str, labels: &str, value: impl Display) {
    let [open, close] = if labels.is_empty() { ["", ""] } else { ["{", "}"] };
    page.push_str(&format!("{name}{open}{labels}{close} {value}\n"));
}

/// A number with a point, however whole it is.
fn decimal(number: f64) -> String {
    match number {
        f64::INFINITY => "+Inf".to_owned(),
        whole if whole.fract() == 0.0 => format!("{whole:.1}"),
        number => number.to_string(),
    }
}

impl Figure for u64 {
    fn write(self, name: &str, labels: &str, page: &mut String) {
        line(page, name, labels, self);
    }
}

impl Figure for f64 {
    fn write(self, name: &str, labels: &str, page: &mut String) {
        line(page, name, labels, decimal(self));
    }
}

impl Figure for &Count {
    fn write(self, name: &str, labels: &str, page: &mut String) {
        self.get().write(name, labels, page);
    }
}

impl Figure for &AtomicU64 {
    fn write(self, name: &str, labels: &str, page: &mut String) {
        self.load(Ordering::Relaxed).write(name, labels, page);
    }
}

/// Two figures: the amount, and its limit, whose name has `_limit` at its end or before `_bytes`.
impl Figure for Fill {
    fn add(self, name: &str, help: &str, page: &mut Page) {
        page.add(name, help, self.used);
        let limit = name.strip_suffix("_bytes").map_or(format!("{name}_limit"), |name| format!("{name}_limit_bytes"));
        page.add(&limit, &format!("Limit of {name}."), self.limit);
    }

    fn write(self, name: &str, labels: &str, page: &mut String) {
        self.used.write(name, labels, page);
    }
}

/// 1 for true.
impl Figure for bool {
    fn write(self, name: &str, labels: &str, page: &mut String) {
        u64::from(self).write(name, labels, page);
    }
}

impl Figure for &Histogram {
    const IS_DISTRIBUTION: bool = true;

    fn write(self, name: &str, labels: &str, page: &mut String) {
        let read = self.read();
        line(page, &format!("{name}_sum"), labels, decimal(read.sum));
        line(page, &format!("{name}_count"), labels, read.count());
        let (name, comma, mut so_far) = (format!("{name}_bucket"), if labels.is_empty() { "" } else { "," }, 0);
        for (bound, count) in read.buckets {
            so_far += count;
            line(page, &name, &format!("le=\"{}\"{comma}{labels}", decimal(bound)), so_far);
        }
    }
}

impl<F: Figure> Figure for Option<F> {
    fn write(self, name: &str, labels: &str, page: &mut String) {
        if let Some(figure) = self {
            figure.write(name, labels, page);
        }
    }
}

/// A family: labels with their values, and a figure for each.
pub struct Family<I>(pub I);

impl<'v, const N: usize, F: Figure, I: Iterator<Item = ([(&'static str, &'v str); N], F)>> Figure for Family<I> {
    const IS_DISTRIBUTION: bool = F::IS_DISTRIBUTION;

    fn write(self, name: &str, _: &str, page: &mut String) {
        let escaped = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        for (labels, figure) in self.0 {
            let labels = labels.map(|(label, value)| format!("{label}=\"{}\"", escaped(value)));
            figure.write(name, &labels.join(","), page);
        }
    }
}

/// A family with one label, by the values of that.
pub fn by<'v>(label: &'static str, figures: impl IntoIterator<Item = (&'v str, u64)>) -> impl Figure {
    Family(figures.into_iter().map(move |(value, figure)| ([(label, value)], figure)))
}
