//! The operations, by what they are about. What holds for all of them is said in [`super`].

mod barriers;
mod comments;
mod content;
mod events;
mod graph;
mod inbox;
mod markers;
mod profiles;
mod reactions;
mod topics;
mod upkeep;
mod users;
