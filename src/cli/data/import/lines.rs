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
    MoveNoticeMarker, NumberReactions, PutList, PutProfiles, PutSettings, React, ReactionRequest, SetRestriction,
    SetSuspension, Visibility,
};
use model::{
    Audience, HostId, ItemLine, JsonObject, KindNames, ListSettings, Millis, Profile, ReactionKinds, Restriction,
    RuleDraft, Time, UserSettings, is_topic, kinds_of_rule,
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

fn name(line: Name) -> Result<Command, Refusal> {
    let refused = |why: String| Refusal::of_line(INVALID_FIELD, why);
    match (line.id, line.reaction) {
        (Some(id), None) => Ok(GiveNumbers { ids: vec![id] }.into()),
        (None, Some(kind)) => match ReactionKinds::new(vec![kind.clone()]) {
            Ok(_) => Ok(NumberReactions { kinds: vec![kind] }.into()),
            Err(why) => Err(refused(format!("reaction: {why}"))),
        },
        (None, None) => Err(Refusal::of_line(MISSING_FIELD, "missing field `id`")),
        _ => Err(refused("expected id or reaction, not both".to_owned())),
    }
}

fn settings(line: Settings) -> Command {
    let settings = UserSettings {
        approve_followers: line.approve_followers.unwrap_or_default(),
        default_audience: line.default_audience.unwrap_or_default(),
    };
    alone(PutSettings { user: line.user_id, settings }, None)
}

fn restriction(line: Pair, restriction: Restriction) -> Command {
    alone(SetRestriction { user: line.user_id, target: line.target_id, restriction, raised: true }, line.since)
}

fn follow(line: Following, awaited: bool) -> Result<Command, Refusal> {
    let rule = rule(line.only, line.except)?;
    let follow = ImportFollows::one(line.user_id, line.target_id, at(line.since), rule);
    Ok(ImportFollows { awaited, ..follow }.into())
}

fn list(line: List) -> Result<Command, Refusal> {
    let settings = ListSettings::checked(line.title, line.exclusive.unwrap_or_default());
    let settings = settings.map_err(|reason| Refusal::of_line(INVALID_FIELD, reason))?;
    Ok(alone(PutList { user: line.user_id, list: list_name(line.list)?, settings }, None))
}

fn member(line: Member) -> Result<Command, Refusal> {
    let rule = Some(rule(line.only, line.except)?).filter(|rule| *rule != RuleDraft::All);
    let (list, add) = (list_name(line.list)?, vec![line.source_id]);
    Ok(alone(ChangeMembers { user: line.user_id, list, add, remove: Vec::new(), rule }, line.since))
}

fn item(line: ItemLine) -> Result<Command, Refusal> {
    if line.content_id.is_none() {
        let detail = "content_id is missing; an import needs it so that it can be run again";
        return Err(Refusal::of_line(MISSING_FIELD, detail));
    }
    let (draft, edited_at) = line.publish();
    Ok(ImportItems::one(draft, at(edited_at)).into())
}

fn reaction(line: Reaction) -> Command {
    let (user, kind, since) = (line.user_id, line.kind, at(line.since));
    let request = ReactionRequest { user, kind, active: true, since, visibility: Visibility::Application };
    React { item: line.content_id, requests: vec![request], imported: true }.into()
}

fn deletion(line: Deletion) -> Result<Command, Refusal> {
    if line.deleted_at == Some(Time(0)) {
        let detail = "deleted_at: 0 is not the time of a deletion. Leave items out that are not deleted";
        return Err(Refusal::of_line(INVALID_TIME, detail));
    }
    Ok(alone(DeleteItem { item: line.content_id, purge: line.purged.unwrap_or_default() }, line.deleted_at))
}

fn profile(line: UserProfile) -> Result<Command, Refusal> {
    let profile = Profile::checked(line.nickname, line.avatar, line.extra);
    let profile = profile.map_err(|reason| Refusal::of_line(INVALID_FIELD, reason))?;
    Ok(PutProfiles { profiles: vec![(line.user_id, profile)] }.into())
}

fn marker(line: Marker) -> Result<Command, Refusal> {
    let Marker { user_id: user, cursor, list, notices } = line;
    let (list, visibility) = (list.map(list_name).transpose()?, Visibility::Application);
    match (notices.unwrap_or_default(), list) {
        (true, Some(_)) => Err(Refusal::of_line(INVALID_FIELD, "list and notices: give one of them, or none")),
        (true, None) => Ok(alone(MoveNoticeMarker { user, place: place(&cursor)?, visibility }, None)),
        (false, list) => Ok(alone(MoveMarker { user, place: place(&cursor)?, visibility, list }, None)),
    }
}

fn suspension(line: Suspension) -> Command {
    alone(SetSuspension { user: line.user_id, suspended: true }, line.since)
}

impl Table {
    /// The change that a line of NDJSON is.
    pub(super) fn change(self, text: &str) -> Result<Command, Refusal> {
        match self {
            Self::Names => object(text).and_then(name),
            Self::Settings => object(text).map(settings),
            Self::Blocks => object(text).map(|pair| restriction(pair, Restriction::Block)),
            Self::Follows => object(text).and_then(|line| follow(line, false)),
            Self::Requests => object(text).and_then(|line| follow(line, true)),
            Self::Mutes => object(text).map(|pair| restriction(pair, Restriction::Mute)),
            Self::Hides => object(text).map(|pair| restriction(pair, Restriction::Hide)),
            Self::Lists => object(text).and_then(list),
            Self::ListMembers => object(text).and_then(member),
            Self::Content => object(text).and_then(item),
            Self::Reactions => object(text).map(reaction),
            Self::Deletions => object(text).and_then(deletion),
            Self::Profiles => object(text).and_then(profile),
            Self::Markers => object(text).and_then(marker),
            Self::Suspensions => object(text).map(suspension),
        }
    }
}

/// The time that a line gives.
pub(super) fn time(line: &Command) -> Option<Millis> {
    match line {
        Command::ImportFollows(line) => line.follows.first()?.1,
        Command::ImportItems(line) => at(line.drafts.first()?.published_at),
        Command::React(line) => line.requests.first()?.since,
        Command::ImportLine(line) => line.since,
        _ => None,
    }
}

/// A change that has a time only in an import.
fn alone(change: impl Into<Command>, since: Option<Time>) -> Command {
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
