//! Figures as a reader of `/metrics` gets them. The history and the alerts read them so, by the names of that page.

use std::collections::HashMap;

use model::Distribution;

/// The values of a page by their names, each with its labels as text.
#[derive(Debug, Default)]
pub struct Reading(HashMap<String, Vec<(String, f64)>>);

impl Reading {
    /// Those of a text.
    pub fn of(page: &str) -> Self {
        let mut values = HashMap::<String, Vec<_>>::new();
        for line in page.lines().filter(|line| !line.starts_with('#')) {
            let Some((series, value)) = line.rsplit_once(' ') else { continue };
            let (name, labels) = series.split_once('{').unwrap_or((series, ""));
            if let Ok(value) = value.parse() {
                values.entry(name.to_owned()).or_default().push((labels.to_owned(), value));
            }
        }
        Self(values)
    }

    /// The values of a name, each with its labels as text.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &(String, f64)> {
        self.0.get(name).into_iter().flatten()
    }

    /// The sum of the values of a name whose labels have this text. Without one it is not a number, and each comparison with it
    /// fails.
    pub fn sum_of(&self, name: &str, label: &str) -> f64 {
        let values = self.all(name).filter(|(labels, _)| labels.contains(label)).map(|(_, value)| *value);
        values.reduce(|sum, value| sum + value).unwrap_or(f64::NAN)
    }

    /// The sum of all values of a name, as [`Reading::sum_of`].
    pub fn sum(&self, name: &str) -> f64 {
        self.sum_of(name, "")
    }

    /// The largest value of a name; not a number without one.
    pub(crate) fn most(&self, name: &str) -> f64 {
        self.all(name).map(|(_, value)| *value).fold(f64::NAN, f64::max)
    }

    /// The values of a name by those of its first label.
    pub(crate) fn by_label(&self, name: &str) -> impl Iterator<Item = (&str, f64)> {
        self.all(name).filter_map(|(labels, value)| Some((labels.split('"').nth(1)?, *value)))
    }

    /// The distribution of all values of a name.
    pub fn spread(&self, name: &str) -> Distribution {
        let (mut buckets, mut below) = (Vec::<(f64, u64)>::new(), 0);
        for (bound, so_far) in self.by_label(&format!("{name}_bucket")) {
            let (bound, so_far) = (bound.parse().unwrap_or(f64::INFINITY), so_far as u64);
            let count = so_far.saturating_sub(below);
            below = if bound.is_finite() { so_far } else { 0 };
            match buckets.iter_mut().find(|(known, _)| *known == bound) {
                Some((_, sum)) => *sum += count,
                None => buckets.push((bound, count)),
            }
        }
        Distribution { buckets, sum: self.sum(&format!("{name}_sum")).max(0.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_by_names_and_labels() {
        let reading = Reading::of(
            "# HELP a_total Two.\n# TYPE a_total counter\na_total{kind=\"x y\"} 2\na_total{kind=\"z\"} 3\nb 0.5\n\
             c_sum{route=\"/\"} 4.5\nc_count{route=\"/\"} 3\nc_bucket{le=\"1.0\",route=\"/\"} 1\n\
             c_bucket{le=\"+Inf\",route=\"/\"} 3\nc_sum{route=\"/a\"} 0.5\nc_bucket{le=\"1.0\",route=\"/a\"} 1\n\
             c_bucket{le=\"+Inf\",route=\"/a\"} 1\n",
        );
        assert_eq!(
            (reading.sum("a_total"), reading.sum_of("a_total", "\"z\""), reading.most("a_total")),
            (5.0, 3.0, 3.0)
        );
        assert_eq!(reading.by_label("a_total").collect::<Vec<_>>(), [("x y", 2.0), ("z", 3.0)]);
        assert!(reading.sum("b") == 0.5 && reading.sum("d").is_nan() && reading.most("d").is_nan());
        let Distribution { buckets, sum } = reading.spread("c");
        assert_eq!((buckets, sum), (vec![(1.0, 2), (f64::INFINITY, 2)], 5.0));
    }
}
