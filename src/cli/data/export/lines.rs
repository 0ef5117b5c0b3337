//! The lines of each table.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

use super::output::Output;
use crate::cli::data::import::lines::{
    Deletion, Following, Kinds, List, Marker, Member, Name, Pair, Reaction, Settings, Suspension, UserProfile,
};
use crate::cli::data::tables::Table;
use feed::reader::{self, Reader, Ruled};
use model::error::{Error, Result};
use model::{Content, HostId, ItemLine, Profile, ReactionKinds, Restriction, RuleDraft, Time, UserId};

/// The rows that an export has.
#[derive(Debug)]
pub(super) struct Scope<'a> {
    /// The kinds of reactions.
    pub(super) kinds: &'a ReactionKinds,
    /// Whether it has deleted items and the reactions to them. An import without their deletions would make them live.
    pub(super) deleted: bool,
}

/// Writes all lines of a table.
pub(super) fn write(table: Table, reader: &Reader, scope: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    match table {
        Table::Names => {
            let kind = |kind| out.line(None, &Name { id: None, reaction: Some(kind) });
            reader.kinds_of_reactions().into_iter().try_for_each(kind)?;
            reader::each_name(reader, &mut |id| out.line(None, &Name { id: Some(id), reaction: None }))
        }
        Table::Settings => reader::each_settings(reader, &mut |(user, settings)| {
            let (approve_followers, default_audience) =
                (Some(settings.approve_followers), Some(settings.default_audience));
            out.line(None, &Settings { user_id: reader.host(user)?, approve_followers, default_audience })
        }),
        Table::Blocks => restrictions(reader, Restriction::Block, out),
        Table::Follows => reader::each_follow(reader, &mut |follow| following(reader, follow, out)),
        Table::Requests => reader::each_request(reader, &mut |request| following(reader, request, out)),
        Table::Mutes => restrictions(reader, Restriction::Mute, out),
        Table::Hides => restrictions(reader, Restriction::Hide, out),
        Table::Lists => reader::each_list(reader, &mut |(user, list)| {
            let (title, exclusive) = (list.settings.title, Some(list.settings.exclusive));
            out.line(None, &List { user_id: reader.host(user)?, list: list.name, title, exclusive })
        }),
        Table::ListMembers => reader::each_member(reader, &mut |list, Ruled { user, target, since, rule }| {
            let (user_id, source_id, (only, except)) = (reader.host(user)?, reader.host(target)?, kinds(rule));
            let (list, since) = (list.to_owned(), Some(since));
            out.line(since, &Member { user_id, list, source_id, since: since.map(Time), only, except })
        }),
        Table::Content => content(reader, scope, out),
        Table::Reactions => reactions(reader, scope, out),
        Table::Deletions => reader::each_deletion(reader, &mut |(item, at)| {
            let (deleted_at, purged) = (at.map(Time), at.is_none().then_some(true));
            out.line(at, &Deletion { content_id: reader.host(item)?, deleted_at, purged })
        }),
        Table::Profiles => reader::each_profile(reader, &mut |(user, Profile { nickname, avatar, extra })| {
            let extra = extra.as_deref().map(json).transpose()?;
            out.line(None, &UserProfile { user_id: reader.host(user)?, nickname, avatar, extra })
        }),
        Table::Markers => {
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
        Table::Suspensions => reader::each_suspension(reader, &mut |(user, since)| {
            out.line(Some(since), &Suspension { user_id: reader.host(user)?, since: Some(Time(since)) })
        }),
    }
}

fn restrictions(reader: &Reader, restriction: Restriction, out: &mut Output<'_>) -> Result<()> {
    reader::each_restriction(reader, restriction, &mut |(user, target, since)| {
        let (user_id, target_id) = (reader.host(user)?, reader.host(target)?);
        out.line(Some(since), &Pair { user_id, target_id, since: Some(Time(since)) })
    })
}

fn following(reader: &Reader, Ruled { user, target, since, rule }: Ruled, out: &mut Output<'_>) -> Result<()> {
    let (user_id, target_id, (only, except)) = (reader.host(user)?, reader.host(target)?, kinds(rule));
    out.line(Some(since), &Following { user_id, target_id, since: Some(Time(since)), only, except })
}

/// The fields `only` and `except` of a rule.
fn kinds(rule: RuleDraft) -> (Option<Kinds>, Option<Kinds>) {
    let (only, except) = rule.fields();
    let given = |names: Option<_>| names.map(|names| Kinds(Some(names)));
    (given(only), given(except))
}

fn content(reader: &Reader, scope: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    let (mut left_out, mut turn, mut last) = (0, 0, 0);
    let mut take = |(item, is_deleted): (Content, bool), turn, last: &mut usize, out: &mut Output<'_>| {
        let its = reader::turn(reader, &item)?;
        *last = its.max(*last);
        if its != turn {
            return Ok(());
        }
        if is_deleted && !scope.deleted {
            left_out += 1;
            return Ok(());
        }
        let time = item.edited_at.max(Some(item.published_at));
        out.line(time, &line_of(reader, item)?)
    };
    while turn <= last {
        reader::each_item(reader, &mut |item| take(item, turn, &mut last, out))?;
        turn += 1;
    }
    if left_out > 0 {
        out.leaves_out(left_out, "deleted items are left out; with --deletions they are exported, too");
    }
    Ok(())
}

/// The line of an item. It always has the audience: left out, it would be the default of the author.
fn line_of(reader: &Reader, item: Content) -> Result<ItemLine> {
    let hosts = |users: &[UserId]| users.iter().map(|user| reader.host(*user)).collect::<Result<Vec<HostId>>>();
    Ok(ItemLine {
        author_id: reader.host(item.author)?,
        content_id: Some(reader.host(item.id)?),
        published_at: Some(Time(item.published_at)),
        edited_at: item.edited_at.map(Time),
        kind: checked(item.kind)?,
        text: item.text,
        media: (item.media != "[]").then(|| json(&item.media)).transpose()?,
        topics: checked(item.topics)?,
        ref_id: item.ref_id.map_or(Ok(None), |id| reader.found(id.get()))?,
        extra: item.extra.as_deref().map(json).transpose()?,
        broadcast: item.broadcast,
        to: checked(hosts(&item.to)?)?,
        audience: Some(item.audience),
        mentions: checked(hosts(&item.mentions)?)?,
    })
}

/// A field that is stored, as that of a line.
fn checked<F, T: TryFrom<F, Error = String>>(stored: F) -> Result<T> {
    T::try_from(stored).map_err(Error::Corrupt)
}

/// JSON of the host for a line, so without line ends: where they are allowed, a space means the same.
fn json<T: DeserializeOwned>(json: &str) -> Result<T> {
    let is_end = |c: char| matches!(c, '\n' | '\r');
    let json = if json.contains(is_end) { Cow::Owned(json.replace(is_end, " ")) } else { Cow::Borrowed(json) };
    serde_json::from_str(&json).map_err(|e| Error::Corrupt(format!("media or extra: {e}")))
}

fn reactions(reader: &Reader, scope: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    let left_out = reader::each_reaction(reader, scope.kinds, scope.deleted, &mut |item, user, kind, since| {
        let (content_id, user_id, kind) = (reader.host(item)?, reader.host(user)?, kind.to_owned());
        out.line(Some(since), &Reaction { content_id, user_id, kind, since: Some(Time(since)) })
    })?;
    for (kind, count) in left_out {
        out.leaves_out(
            count,
            format_args!("reactions of the kind {kind:?} are left out: reactions.kinds does not name it"),
        );
    }
    Ok(())
}
