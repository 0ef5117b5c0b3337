//! Every setting, with its type, its default and its range.
//!
//! Sources, each overriding the one before: the defaults here, the config file, environment variables such as
//! `TIDELINE__TIMELINE__INBOX_LIMIT=300`, the command line.

mod address;
mod auth;
mod choices;
mod cluster;
mod credentials;
mod declare;
mod derived;
mod duration;
mod environment;
mod key_files;
mod load;
mod network;
mod settings;
mod text;
mod validate;
mod web;
mod webhooks;

pub use crate::{
    address::*, auth::*, choices::*, cluster::*, credentials::*, derived::*, duration::*, key_files::*, network::*,
    settings::*, web::*, webhooks::*,
};

/// The error of a wrong configuration.
fn wrong(what: impl std::fmt::Display) -> model::error::Error {
    model::error::Error::Setup(format!("configuration: {what}"))
}
