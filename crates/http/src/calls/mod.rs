//! The calls of applications, by resource.

mod comments;
mod content;
mod erasures;
mod export;
mod lists;
mod markers;
pub(crate) mod notices;
mod presence;
mod reactions;
mod relations;
mod requests;
mod restrictions;
mod settings;
pub(crate) mod show;
mod suspensions;
mod timelines;
mod users;

use crate::endpoint::Endpoint;

/// The endpoints of all files.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    [
        timelines::endpoints(),
        content::endpoints(),
        reactions::endpoints(),
        users::endpoints(),
        comments::endpoints(),
        markers::endpoints(),
        notices::endpoints(),
        relations::endpoints(),
        restrictions::endpoints(),
        requests::endpoints(),
        settings::endpoints(),
        presence::endpoints(),
        suspensions::endpoints(),
        lists::endpoints(),
        erasures::endpoints(),
        export::endpoints(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
