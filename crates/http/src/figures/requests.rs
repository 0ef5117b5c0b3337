//! Figures of requests: number, result, duration.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use actix_web::http::StatusCode;
use parking_lot::Mutex;

use model::error::Code;
use model::{Count, Histogram};

/// Bounds of the buckets of durations, nanoseconds.
static BOUNDS: LazyLock<[u64; 17]> = LazyLock::new(|| {
    let micros = [
        50, 100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
        5_000_000, 30_000_000,
    ];
    micros.map(|micros| 1000 * micros)
});

/// The classes of statuses.
pub(crate) const CLASSES: [&str; 3] = ["2xx", "4xx", "5xx"];

/// One route and method. The path is from the table of routes, never from a request, so the number of routes is
/// bounded.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) path: &'static str,
    pub(crate) method: &'static str,
    /// Answered requests by [class](CLASSES) of status.
    pub(crate) classes: [Count; CLASSES.len()],
    /// Durations.
    pub(crate) seconds: Histogram,
}

impl Route {
    /// Counts an answered request.
    pub(crate) fn count(&self, status: StatusCode, took: Duration) {
        let class = match status.as_u16() {
            500.. => 2,
            400.. => 1,
            _ => 0,
        };
        self.classes[class].add(1);
        self.seconds.observe_duration(took);
    }
}

/// All routes. Each server thread has its own table of routes; all count here.
#[derive(Debug)]
pub(crate) struct Requests {
    routes: Mutex<Vec<Arc<Route>>>,
    /// Refused and failed requests by the code of their problem, in the order of [`Code::ALL`].
    problems: Vec<Count>,
}

impl Default for Requests {
    fn default() -> Self {
        Self { routes: Mutex::default(), problems: Code::ALL.iter().map(|_| Count::default()).collect() }
    }
}

impl Requests {
    /// The figures of a route.
    pub(crate) fn route(&self, path: &'static str, method: &'static str) -> Arc<Route> {
        let mut routes = self.routes.lock();
        if let Some(known) = routes.iter().find(|route| route.path == path && route.method == method) {
            return Arc::clone(known);
        }
        let route =
            Arc::new(Route { path, method, classes: Default::default(), seconds: Histogram::of_durations(&*BOUNDS) });
        routes.push(Arc::clone(&route));
        route
    }

    /// Counts a request that was answered with a problem.
    pub(crate) fn problem(&self, code: Code) {
        if let Some(counter) = self.problems.get(code as usize) {
            counter.add(1);
        }
    }

    /// Requests answered with problems, by code.
    pub(crate) fn problems(&self) -> impl Iterator<Item = (&'static str, u64)> {
        Code::ALL.iter().zip(&self.problems).map(|(code, count)| (code.name(), count.get()))
    }

    /// Every route.
    pub(crate) fn all(&self) -> Vec<Arc<Route>> {
        self.routes.lock().clone()
    }
}
