//! Load on a timeline service as data: a follow graph, and a sequence of operations on it, each with its due time.
//!
//! `tideline bench` sends it to a server, and the community of `tideline demo` has such a graph. Benches can send the
//! same operations to other systems: the same graph, posts, mix, rate and seed give the same steps on every machine.
//!
//! Users are numbered from 0. Ids, texts and requests are the caller's.
//!
//! ```
//! use std::time::Duration;
//! use std::sync::Arc;
//! use tideline::trace::{Graph, Load, Mix, Operation};
//!
//! let load = Arc::new(Load::new(Graph::made_up(1000, 20, false, 7), Vec::new(), 7));
//! // First the graph and some posts before the measurement …
//! for (user, followee) in load.graph().follows() {
//!     assert_ne!(user, followee);
//! }
//! let posts_before: Vec<_> = load.history(500).collect();
//! assert_eq!(posts_before.len(), 500);
//! // … then 200 operations a second, for two seconds.
//! for step in load.trace(Mix::Pequod, 200.0, 500).take_while(|step| step.due < Duration::from_secs(2)) {
//!     match step.operation {
//!         Operation::Publish(post) | Operation::PublishBig(post) => assert!(post.author < 1000),
//!         Operation::Read(user) | Operation::LogIn(user) | Operation::LogOut(user) => assert!(user < 1000),
//!         Operation::Follow(user, target) => assert_ne!(user, target),
//!     }
//! }
//! ```

mod arrivals;
mod graph;
mod load;
mod mix;
mod sequence;

pub use graph::Graph;
pub use load::{Load, Post};
pub use mix::{Kind, Mix};
pub use sequence::{Operation, Step, Trace};
