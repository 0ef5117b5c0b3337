//! Users and what they are to each other.

pub(crate) mod erasure;
pub(crate) mod list;
pub(crate) mod members;
pub mod nickname;
pub(crate) mod notice;
pub(crate) mod profile;
pub(crate) mod relation;
pub(crate) mod restriction;
pub(crate) mod rule;
pub(crate) mod settings;
pub(crate) mod side;
pub(crate) mod user;

pub use erasure::{ErasedPart, ErasedUser, Erasure, ErasurePlace};
pub use list::{ListSettings, MAX_TITLE, UserList};
pub use members::Members;
pub use notice::{ExternalNoticeId, Notice, NoticeCursor, NoticeId, NoticeKind};
pub use profile::{AVATAR, MAX_AVATAR, MAX_NICKNAME, NewProfile, Profile};
pub use relation::{Relation, RelationKind};
pub use restriction::Restriction;
pub use rule::{KindNames, MAX_RULE, Membership, NamedRule, Rule, ShownSources, kinds_of_rule};
pub use settings::UserSettings;
pub use side::Side;
pub use user::{Activity, Unpushed};
