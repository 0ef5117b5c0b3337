//! The lines of files, as an import reads and an export writes them: each is the body of a call of the API, with the ids
//! that the call has in its path, and with times that only an import can give.

use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::refusal::{INVALID_FIELD, INVALID_TIME, MISSING_FIELD, Refusal};
use super::rows::object;
use crate::cli::data::tables::Table;
use feed::{
    ChangeMembers, Command, DeleteItem, GiveNumbers, ImportFollows, ImportItems, ImportLine, MoveMarker,
    MoveNoticeMarker, NumberReactions, PutList, PutProfiles, PutSettings, React, SetBarrier, SetSuspension, Visibility,
    Wish,
};
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
    fn change(self) -> Result<Command, Refusal> {
        let refused = |why: String| Refusal::of_line(INVALID_FIELD, why);
        match (self.id, self.reaction) {
            (Some(id), None) => Ok(GiveNumbers { ids: vec![id] }.into()),
            (None, Some(kind)) => match ReactionKinds::new(vec![kind.clone()]) {
                Ok(_) => Ok(NumberReactions { kinds: vec![kind] }.into()),
                Err(why) => Err(refused(format!("reaction: {why}"))),
            },
            (None, None) => Err(Refusal::of_line(MISSING_FIELD, "missing field `id`")),
            _ => Err(refused("expected id or reaction, not both".to_owned())),
        }
    }
}

impl Settings {
    fn change(self) -> Command {
        let settings = UserSettings {
            approve_followers: self.approve_followers.unwrap_or_default(),
            default_audience: self.default_audience.unwrap_or_default(),
        };
        line(PutSettings { user: self.user_id, settings }, None)
    }
}

impl Pair {
    fn change(self, barrier: Barrier) -> Command {
        line(SetBarrier { user: self.user_id, target: self.target_id, barrier, raised: true }, self.since)
    }
}

impl Following {
    fn change(self, awaited: bool) -> Result<Command, Refusal> {
        let rule = rule(self.only, self.except)?;
        let follow = ImportFollows::one(self.user_id, self.target_id, at(self.since), rule);
        Ok(ImportFollows { awaited, ..follow }.into())
    }
}

impl List {
    fn change(self) -> Result<Command, Refusal> {
        let settings = ListSettings::checked(self.title, self.exclusive.unwrap_or_default());
        let settings = settings.map_err(|reason| Refusal::of_line(INVALID_FIELD, reason))?;
        Ok(line(PutList { user: self.user_id, list: list_name(self.list)?, settings }, None))
    }
}

impl Member {
    fn change(self) -> Result<Command, Refusal> {
        let rule = Some(rule(self.only, self.except)?).filter(|rule| *rule != RuleDraft::All);
        let (list, add) = (list_name(self.list)?, vec![self.source_id]);
        Ok(line(ChangeMembers { user: self.user_id, list, add, remove: Vec::new(), rule }, self.since))
    }
}

impl Item {
    fn change(self) -> Result<Command, Refusal> {
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
        Ok(ImportItems::one(draft, at(self.edited_at)).into())
    }
}

impl Reaction {
    fn change(self) -> Command {
        let (user, kind, since) = (self.user_id, self.kind, at(self.since));
        let wish = Wish { user, kind, active: true, since, sight: Visibility::Application };
        React { item: self.content_id, wishes: vec![wish], imported: true }.into()
    }
}

impl Deletion {
    fn change(self) -> Result<Command, Refusal> {
        if self.deleted_at == Some(Time(0)) {
            let detail = "deleted_at: 0 is not the time of a deletion. Leave items out that are not deleted";
            return Err(Refusal::of_line(INVALID_TIME, detail));
        }
        Ok(line(DeleteItem { item: self.content_id, purge: self.purged.unwrap_or_default() }, self.deleted_at))
    }
}

impl UserProfile {
    fn change(self) -> Result<Command, Refusal> {
        let profile = Profile::checked(self.nickname, self.avatar, self.extra);
        let profile = profile.map_err(|reason| Refusal::of_line(INVALID_FIELD, reason))?;
        Ok(PutProfiles { profiles: vec![(self.user_id, profile)] }.into())
    }
}

impl Marker {
    fn change(self) -> Result<Command, Refusal> {
        let Self { user_id: user, cursor, list, notices } = self;
        let (list, sight) = (list.map(list_name).transpose()?, Visibility::Application);
        match (notices.unwrap_or_default(), list) {
            (true, Some(_)) => Err(Refusal::of_line(INVALID_FIELD, "list and notices: give one of them, or none")),
            (true, None) => Ok(line(MoveNoticeMarker { user, place: place(&cursor)?, sight }, None)),
            (false, list) => Ok(line(MoveMarker { user, place: place(&cursor)?, sight, list }, None)),
        }
    }
}

impl Suspension {
    fn change(self) -> Command {
        line(SetSuspension { user: self.user_id, suspended: true }, self.since)
    }
}

impl Table {
    /// The change that a line of NDJSON is.
    pub(super) fn change(self, text: &str) -> Result<Command, Refusal> {
        match self {
            Self::Names => object(text).and_then(Name::change),
            Self::Settings => object(text).map(Settings::change),
            Self::Blocks => object(text).map(|pair: Pair| pair.change(Barrier::Block)),
            Self::Follows => object(text).and_then(|follow: Following| follow.change(false)),
            Self::Requests => object(text).and_then(|request: Following| request.change(true)),
            Self::Mutes => object(text).map(|pair: Pair| pair.change(Barrier::Mute)),
            Self::Hides => object(text).map(|pair: Pair| pair.change(Barrier::Hide)),
            Self::Lists => object(text).and_then(List::change),
            Self::ListMembers => object(text).and_then(Member::change),
            Self::Content => object(text).and_then(Item::change),
            Self::Reactions => object(text).map(Reaction::change),
            Self::Deletions => object(text).and_then(Deletion::change),
            Self::Profiles => object(text).and_then(UserProfile::change),
            Self::Markers => object(text).and_then(Marker::change),
            Self::Suspensions => object(text).map(Suspension::change),
        }
    }
}

/// The time that a line gives.
pub(super) fn time(line: &Command) -> Option<Millis> {
    match line {
        Command::ImportFollows(line) => line.follows.first()?.1,
        Command::ImportItems(line) => at(line.drafts.first()?.published_at),
        Command::React(line) => line.wishes.first()?.since,
        Command::ImportLine(line) => line.since,
        _ => None,
    }
}

/// The ids in a line.
pub(super) fn ids(line: &Command) -> Vec<&HostId> {
    match line {
        Command::ImportItems(line) => line.drafts.iter().flat_map(Draft::ids).collect(),
        Command::React(line) => [&line.item].into_iter().chain(line.wishes.iter().map(|wish| &wish.user)).collect(),
        Command::ImportLine(line) => ids(&line.change),
        Command::DeleteItem(line) => vec![&line.item],
        Command::MoveMarker(line) => vec![&line.user, &line.place.id],
        line => line.users(),
    }
}

/// A change that has a time only in an import.
fn line(change: impl Into<Command>, since: Option<Time>) -> Command {
    ImportLine { change: Box::new(change.into()), since: at(since) }.into()
}

fn at(time: Option<Time>) -> Option<Millis> {
    time.map(|Time(at)| at)
}

fn rule(only: Option<Kinds>, except: Option<Kinds>) -> Result<RuleDraft, Refusal> {
    let names = |kinds: Option<Kinds>| kinds.and_then(|Kinds(names)| names);
    let rule = RuleDraft::of(names(only), names(except));
    rule.map_err(|reason| Refusal::of_line(INVALID_FIELD, format_args!("only and except: {reason}")))
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
