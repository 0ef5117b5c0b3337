//! Users and what they are to each other.

pub(crate) mod barrier;
pub(crate) mod members;
pub(crate) mod profile;
pub(crate) mod relation;
pub(crate) mod user;

pub use barrier::Barrier;
pub use members::Members;
pub use profile::{MAX_AVATAR, MAX_NICKNAME, Profile, ProfileDraft};
pub use relation::{Relation, RelationKind, Side};
pub use user::{Activity, Unpushed};
