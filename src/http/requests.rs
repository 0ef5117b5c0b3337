//! Requests in figures: how many came, how they ended, how long they took.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use actix_web::http::StatusCode;
use parking_lot::Mutex;

/// Upper bounds of the buckets of times, seconds; one more bucket takes the rest.
pub(super) const BOUNDS: [f64; 15] =
    [0.000_05, 0.0001, 0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];

/// The classes of statuses that there are.
pub(super) const CLASSES: [&str; 3] = ["2xx", "4xx", "5xx"];

/// One route and method. Its path is the one of the table of routes, never the one of a request, so
/// there are as many of these as the table has.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) path: &'static str,
    pub(super) method: &'static str,
    classes: [AtomicU64; CLASSES.len()],
    buckets: [AtomicU64; BOUNDS.len() + 1],
    nanos: AtomicU64,
}

/// The figures of a route.
#[derive(Debug)]
pub(super) struct RouteUsage {
    pub(super) classes: [u64; CLASSES.len()],
    /// Bound and count of each bucket.
    pub(super) buckets: Vec<(f64, u64)>,
    pub(super) count: u64,
    pub(super) seconds: f64,
}

impl Route {
    /// Counts a request that is answered.
    pub(super) fn count(&self, status: StatusCode, took: Duration) {
        let class = match status.as_u16() {
            500.. => 2,
            400.. => 1,
            _ => 0,
        };
        self.classes[class].fetch_add(1, Ordering::Relaxed);
        let seconds = took.as_secs_f64();
        let bucket = BOUNDS.partition_point(|bound| *bound < seconds);
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        self.nanos.fetch_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(super) fn usage(&self) -> RouteUsage {
        let bounds = BOUNDS.into_iter().chain([f64::INFINITY]);
        let buckets: Vec<_> = bounds.zip(self.buckets.iter().map(|count| count.load(Ordering::Relaxed))).collect();
        RouteUsage {
            classes: self.classes.each_ref().map(|count| count.load(Ordering::Relaxed)),
            count: buckets.iter().map(|(_, count)| count).sum(),
            buckets,
            seconds: Duration::from_nanos(self.nanos.load(Ordering::Relaxed)).as_secs_f64(),
        }
    }
}

/// All routes. Each thread of the server has a table of its own; they count in one place.
#[derive(Debug, Default)]
pub(super) struct Requests(Mutex<Vec<Arc<Route>>>);

impl Requests {
    /// Where to count requests of a route.
    pub(super) fn route(&self, path: &'static str, method: &'static str) -> Arc<Route> {
        let mut routes = self.0.lock();
        if let Some(known) = routes.iter().find(|route| route.path == path && route.method == method) {
            return Arc::clone(known);
        }
        let route = Arc::new(Route {
            path,
            method,
            classes: Default::default(),
            buckets: Default::default(),
            nanos: AtomicU64::new(0),
        });
        routes.push(Arc::clone(&route));
        route
    }

    /// Every route.
    pub(super) fn all(&self) -> Vec<Arc<Route>> {
        self.0.lock().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_counted_once_in_its_class_and_its_bucket() {
        let requests = Requests::default();
        let route = requests.route("/a", "GET");
        assert!(Arc::ptr_eq(&route, &requests.route("/a", "GET")));
        assert!(!Arc::ptr_eq(&route, &requests.route("/a", "PUT")));
        assert_eq!(requests.all().len(), 2);
        route.count(StatusCode::NO_CONTENT, Duration::from_micros(50));
        route.count(StatusCode::CONFLICT, Duration::from_micros(51));
        route.count(StatusCode::SERVICE_UNAVAILABLE, Duration::from_secs(31));
        let usage = route.usage();
        assert_eq!((usage.classes, usage.count), ([1, 1, 1], 3));
        assert_eq!(usage.buckets[..2], [(0.000_05, 1), (0.0001, 1)]);
        assert_eq!(usage.buckets.last(), Some(&(f64::INFINITY, 1)));
        assert!((usage.seconds - 31.000_101).abs() < 1e-9, "{usage:?}");
    }
}
