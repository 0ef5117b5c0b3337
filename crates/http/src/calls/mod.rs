//! The calls of applications, by resource.

mod comments;
mod content;
mod erasures;
mod export;
mod lists;
mod markers;
pub(crate) mod notices;
pub(crate) mod objects;
mod presence;
mod reactions;
mod relations;
mod requests;
mod restrictions;
mod settings;
mod suspensions;
mod timelines;
mod users;

crate::endpoint::endpoints_of! {
    content comments timelines markers notices users settings suspensions erasures export relations restrictions requests
    lists reactions presence
}
