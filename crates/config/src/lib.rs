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

pub use address::address;
pub use auth::{Key, KeyHash, PublicKey, Secret, base64url};
pub use choices::{AcceptedIds, Act, Consistency, Durability, KeyRole, LogFormat, Sasl, UsersRead};
pub use cluster::{MAX_MEMBERS, Member, NodeName, Password, Refusal};
pub use credentials::Credentials;
pub use derived::cores;
pub use duration::Duration;
pub use key_files::small_file;
pub use network::Network;
pub use settings::{
    Agreed, Auth, Backup, Cluster, Config, Content, Fanout, Graph, Ids, Log, Notices, Presence, RateLimits, Reactions,
    Server, Storage, Timeline, Topics,
};
pub use web::{Authority, AvatarOrigin, Host, HostName, Origin, PageOrigin};
pub use webhooks::{ChangeType, Webhook, WebhookSecret, WebhookUrl, is_public};

/// The error of a wrong configuration.
fn wrong(what: impl std::fmt::Display) -> model::error::Error {
    model::error::Error::Setup(format!("configuration: {what}"))
}
