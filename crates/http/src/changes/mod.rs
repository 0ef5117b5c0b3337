//! `/v1/changes`: what each change did, in one order, as pages, as a stream and as webhooks.

mod change;
mod list;
mod stream;
pub(crate) mod webhooks;

use crate::endpoint::Endpoint;

/// The endpoints of all files.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    [list::endpoints(), webhooks::endpoints()].into_iter().flatten().collect()
}
