//! The lines of files, as an import reads and an export writes them: each is the body of a call of the API, with the ids
//! that the call has in its path, and with times that only an import can give.

use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::refusal::{INVALID_FIELD, INVALID_TIME, MISSING_FIELD, Refusal};
use feed::{Follow, ImportedItem, ImportedName, Line, Reacting};
use model::{
    Audience, Barrier, Draft, HostId, JsonObject, Kind, KindNames, ListSettings, MediaList, Mentioned, Millis, Profile,
    ReactionKinds, RuleDraft, Sources, Time, Topics, UserSettings, is_topic, kinds_of_rule,
};

/// Declares lines. The fields behind the semicolon may be left out, or `null`.
macro_rules! lines {
    ($($(#[doc = $doc:literal])+ $line:ident {
        $($needed:ident: $type:ty),*; $($optional:ident: $of:ty),* $(,)?
    })+) => {$(
        $(#[doc = $doc])+
        #[derive(Debug, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(in crate::cli) struct $line {
            $(pub(in crate::cli) $needed: $type,)*
            $(
                #[serde(skip_serializing_if = "Option::is_none")]
                pub(in crate::cli) $optional: Option<$of>,
            )*
        }
    )+};
}

lines! {
    /// The id of a user or an item, or a kind of reactions, in the order in which the server is to see them first.
    Name {; id: HostId, reaction: String }
    /// All settings of a user.
    Settings { user_id: HostId; approve_followers: bool, default_audience: Audience }
    /// A block, a mute or a hide.
    Pair { user_id: HostId, target_id: HostId; since: Time }
    /// A follow, or a request to follow.
    Following { user_id: HostId, target_id: HostId; since: Time, only: Kinds, except: Kinds }
    /// A list of a user.
    List { user_id: HostId, list: String; title: String, exclusive: bool }
    /// A member of a list.
    Member { user_id: HostId, list: String, source_id: HostId; since: Time, only: Kinds, except: Kinds }
    /// A publish, and the time of the last edit. The refusal of one without an id says why an import needs it.
    Item {
        content_id: Option<HostId>, author_id: HostId; published_at: Time, edited_at: Time, kind: Kind, text: String,
        media: MediaList, topics: Topics, ref_id: HostId, extra: JsonObject, broadcast: bool, to: Sources,
        audience: Audience, mentions: Mentioned,
    }
    /// A reaction of a user to an item.
    Reaction { content_id: HostId, user_id: HostId, kind: String; since: Time }
    /// A deleted item, or the id of a purged one.
    Deletion { content_id: HostId; deleted_at: Time, purged: bool }
    /// The profile of a user.
    UserProfile { user_id: HostId; nickname: String, avatar: String, extra: JsonObject }
    /// The marker of the home timeline of a user, of a list, or of the notices.
    Marker { user_id: HostId, cursor: String; list: String, notices: bool }
    /// A suspended user.
    Suspension { user_id: HostId; since: Time }
}

/// The kinds of a rule. None are no rule.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::cli) struct Kinds(#[serde(deserialize_with = "kinds_of_rule")] pub(in crate::cli) Option<KindNames>);

impl Name {
    pub(super) fn row(self) -> Result<ImportedName, Refusal> {
        let refused = |why: String| Refusal::of_line(INVALID_FIELD, why);
        match (self.id, self.reaction) {
            (Some(id), None) => Ok(ImportedName::Id(id)),
            (None, Some(kind)) => match ReactionKinds::new(vec![kind.clone()]) {
                Ok(_) => Ok(ImportedName::Reaction(kind)),
                Err(why) => Err(refused(format!("reaction: {why}"))),
            },
            (None, None) => Err(Refusal::of_line(MISSING_FIELD, "missing field `id`")),
            _ => Err(refused("expected id or reaction, not both".to_owned())),
        }
    }
}

impl Settings {
    pub(super) fn row(self) -> Result<Line, Refusal> {
        let Self { user_id: user, approve_followers, default_audience } = self;
        let settings = UserSettings {
            approve_followers: approve_followers.unwrap_or_default(),
            default_audience: default_audience.unwrap_or_default(),
        };
        Ok(Line::Settings { user, settings })
    }
}

impl Pair {
    pub(super) fn row(self, barrier: Barrier) -> Result<Line, Refusal> {
        let Self { user_id: user, target_id: target, since } = self;
        Ok(Line::Barrier { user, target, barrier, since: at(since) })
    }
}

impl Following {
    pub(in crate::cli) fn row(self) -> Result<Follow, Refusal> {
        let Self { user_id: user, target_id: target, since, only, except } = self;
        Ok(Follow { user, target, since: at(since), rule: rule(only, except)? })
    }

    pub(super) fn request(self) -> Result<Line, Refusal> {
        let Follow { user, target, since, rule } = self.row()?;
        Ok(Line::Request { user, target, since, rule: some(rule) })
    }
}

impl List {
    pub(super) fn row(self) -> Result<Line, Refusal> {
        let Self { user_id: user, list, title, exclusive } = self;
        let settings = ListSettings::checked(title, exclusive.unwrap_or_default());
        let settings = settings.map_err(|reason| Refusal::of_line(INVALID_FIELD, reason))?;
        Ok(Line::List { user, list: list_name(list)?, settings })
    }
}

impl Member {
    pub(super) fn row(self) -> Result<Line, Refusal> {
        let Self { user_id: user, list, source_id: source, since, only, except } = self;
        let rule = some(rule(only, except)?);
        Ok(Line::Member { user, list: list_name(list)?, source, since: at(since), rule })
    }
}

impl Item {
    pub(in crate::cli) fn row(self) -> Result<ImportedItem, Refusal> {
        if self.content_id.is_none() {
            let detail = "content_id is missing; an import needs it so that it can be run again";
            return Err(Refusal::of_line(MISSING_FIELD, detail));
        }
        let draft = Draft {
            author_id: self.author_id,
            content_id: self.content_id,
            published_at: self.published_at,
            kind: self.kind.unwrap_or_default(),
            text: self.text,
            media: self.media,
            topics: self.topics.unwrap_or_default(),
            ref_id: self.ref_id,
            extra: self.extra,
            broadcast: self.broadcast.unwrap_or(true),
            to: self.to.unwrap_or_default(),
            audience: self.audience,
            mentions: self.mentions.unwrap_or_default(),
        };
        Ok(ImportedItem { draft, edited_at: at(self.edited_at) })
    }
}

impl Reaction {
    pub(super) fn row(self) -> Result<Reacting, Refusal> {
        let Self { content_id: content, user_id: user, kind, since } = self;
        Ok(Reacting { content, user, kind, since: at(since) })
    }
}

impl Deletion {
    pub(super) fn row(self) -> Result<Line, Refusal> {
        let (since, purged) = (at(self.deleted_at), self.purged.unwrap_or_default());
        if since == Some(0) {
            let detail = "deleted_at: 0 is not the time of a deletion. Leave items out that are not deleted";
            return Err(Refusal::of_line(INVALID_TIME, detail));
        }
        Ok(Line::Deletion { item: self.content_id, since, purged })
    }
}

impl UserProfile {
    pub(super) fn row(self) -> Result<(HostId, Profile), Refusal> {
        let profile = Profile::checked(self.nickname, self.avatar, self.extra);
        Ok((self.user_id, profile.map_err(|reason| Refusal::of_line(INVALID_FIELD, reason))?))
    }
}

impl Marker {
    pub(super) fn row(self) -> Result<Line, Refusal> {
        let Self { user_id: user, cursor, list, notices } = self;
        let list = list.map(list_name).transpose()?;
        match (notices.unwrap_or_default(), list) {
            (true, Some(_)) => Err(Refusal::of_line(INVALID_FIELD, "list and notices: give one of them, or none")),
            (true, None) => Ok(Line::NoticeMarker { user, place: place(&cursor)? }),
            (false, list) => Ok(Line::Marker { user, place: place(&cursor)?, list }),
        }
    }
}

impl Suspension {
    pub(super) fn row(self) -> Result<Line, Refusal> {
        Ok(Line::Suspension { user: self.user_id, since: at(self.since) })
    }
}

fn at(time: Option<Time>) -> Option<Millis> {
    time.map(|Time(at)| at)
}

fn rule(only: Option<Kinds>, except: Option<Kinds>) -> Result<RuleDraft, Refusal> {
    let names = |kinds: Option<Kinds>| kinds.and_then(|Kinds(names)| names);
    let rule = RuleDraft::of(names(only), names(except));
    rule.map_err(|reason| Refusal::of_line(INVALID_FIELD, format_args!("only and except: {reason}")))
}

/// A rule that does not show all kinds.
fn some(rule: RuleDraft) -> Option<RuleDraft> {
    Some(rule).filter(|rule| *rule != RuleDraft::All)
}

fn list_name(name: String) -> Result<String, Refusal> {
    match is_topic(&name) {
        true => Ok(name),
        false => Err(Refusal::of_field(INVALID_FIELD, "list", "expected 1 to 64 characters", &name)),
    }
}

fn place<T: FromStr<Err: Display>>(cursor: &str) -> Result<T, Refusal> {
    cursor.parse().map_err(|reason| Refusal::of_field(INVALID_FIELD, "cursor", reason, cursor))
}

#[cfg(test)]
mod tests;
