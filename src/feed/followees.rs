//! Whose content a user is shown, cached: the followees, less the muted and those who hide from the user.

use std::sync::Arc;

use super::fresh::Fresh;
use crate::model::UserId;

/// Memory for cached lists, bytes.
const CAPACITY: u64 = 64 << 20;
/// About what a list costs: its ids, and what holds them.
const LIST: fn(&List) -> u64 = |list| 80 + 8 * list.len() as u64;
const USUAL_LIST: u64 = 208;

/// A list of authors, ascending, shared with whoever reads it.
pub(super) type List = Arc<[UserId]>;

/// The lists of followees that were read lately.
pub(super) type Followees = Fresh<UserId, List>;

/// An empty cache of followees.
pub(super) fn cache() -> Followees {
    Fresh::new(CAPACITY, USUAL_LIST, LIST)
}
