//! `/v1/changes`: what each change did, in one order, as pages, as a stream and as webhooks.

mod change;
mod list;
mod stream;
pub(crate) mod webhooks;

crate::endpoint::endpoints_of! { list webhooks }
