//! Names, settings, profiles, markers and suspensions.

use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Scope;
use super::line_forms::{alone, lines, list_name};
use crate::cli::data::export::output::Output;
use crate::cli::data::import::refusal::{INVALID_FIELD, MISSING_FIELD, Refusal};
use feed::reader;
use feed::{
    Command, GiveNumbers, MoveMarker, MoveNoticeMarker, NumberReactions, PutProfiles, PutSettings, SetSuspension,
    Visibility,
};
use model::error::{Error, Result};
use model::{Audience, ExternalId, JsonObject, Profile, ReactionKinds, Time, UserSettings};

/// The id of a user or an item, or a kind of reactions, in the order in which the server is to see them first.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Name {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<ExternalId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reaction: Option<String>,
}

lines! {
    /// All settings of a user.
    Settings { user_id: ExternalId; approve_followers: bool, default_audience: Audience }
    /// The profile of a user.
    UserProfile { user_id: ExternalId; nickname: String, avatar: String, extra: JsonObject }
    /// The marker of the home timeline of a user, of a list, or of the notices.
    Marker { user_id: ExternalId, cursor: String; list: String, notices: bool }
    /// A suspended user.
    Suspension { user_id: ExternalId; since: Time }
}

pub(super) fn name(line: Name) -> Result<Command, Refusal> {
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

pub(super) fn settings(line: Settings) -> Result<Command, Refusal> {
    let settings = UserSettings {
        approve_followers: line.approve_followers.unwrap_or_default(),
        default_audience: line.default_audience.unwrap_or_default(),
    };
    Ok(alone(PutSettings { user: line.user_id, settings }, None))
}

pub(super) fn profile(line: UserProfile) -> Result<Command, Refusal> {
    let profile = Profile::checked(line.nickname, line.avatar, line.extra);
    let profile = profile.map_err(|reason| Refusal::of_line(INVALID_FIELD, reason))?;
    Ok(PutProfiles { profiles: vec![(line.user_id, profile)] }.into())
}

pub(super) fn marker(line: Marker) -> Result<Command, Refusal> {
    let Marker { user_id: user, cursor, list, notices } = line;
    let (list, visibility) = (list.map(list_name).transpose()?, Visibility::Application);
    match (notices.unwrap_or_default(), list) {
        (true, Some(_)) => Err(Refusal::of_line(INVALID_FIELD, "list and notices: give one of them, or none")),
        (true, None) => Ok(alone(MoveNoticeMarker { user, place: place(&cursor)?, visibility }, None)),
        (false, list) => Ok(alone(MoveMarker { user, place: place(&cursor)?, visibility, list }, None)),
    }
}

fn place<T: FromStr<Err: Display>>(cursor: &str) -> Result<T, Refusal> {
    cursor.parse().map_err(|reason| Refusal::of_field(INVALID_FIELD, "cursor", reason, cursor))
}

pub(super) fn suspension(line: Suspension) -> Result<Command, Refusal> {
    Ok(alone(SetSuspension { user: line.user_id, suspended: true }, line.since))
}

pub(super) fn write_names(scope: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    let kind = |kind| out.line(None, &Name { id: None, reaction: Some(kind) });
    scope.reader.kinds_of_reactions().into_iter().try_for_each(kind)?;
    reader::each_name(scope.reader, &mut |id| out.line(None, &Name { id: Some(id), reaction: None }))
}

pub(super) fn write_settings(scope: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    reader::each_settings(scope.reader, &mut |(user, settings)| {
        let (approve_followers, default_audience) = (Some(settings.approve_followers), Some(settings.default_audience));
        out.line(None, &Settings { user_id: scope.reader.host(user)?, approve_followers, default_audience })
    })
}

pub(super) fn write_profiles(scope: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    reader::each_profile(scope.reader, &mut |(user, Profile { nickname, avatar, extra })| {
        let extra = extra.as_deref().map(JsonObject::on_a_line).transpose().map_err(Error::Corrupt)?;
        out.line(None, &UserProfile { user_id: scope.reader.host(user)?, nickname, avatar, extra })
    })
}

pub(super) fn write_markers(scope: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    let reader = scope.reader;
    reader::each_marker(reader, &mut |marker| {
        let (cursor, list) = (format!("{}-{}", marker.at, marker.item), marker.list.map(str::to_owned));
        let user_id = reader.host(marker.user)?;
        out.line(Some(marker.at), &Marker { user_id, cursor, list, notices: None })
    })?;
    reader::each_notice_marker(reader, &mut |(user, place)| {
        let (user_id, cursor) = (reader.host(user)?, place.to_string());
        out.line(Some(place.at), &Marker { user_id, cursor, list: None, notices: Some(true) })
    })
}

pub(super) fn write_suspensions(scope: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    reader::each_suspension(scope.reader, &mut |(user, since)| {
        out.line(Some(since), &Suspension { user_id: scope.reader.host(user)?, since: Some(Time(since)) })
    })
}
