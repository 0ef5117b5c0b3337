//! The lines of each table, with the fields that an import reads.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

use super::output::Output;
use model::error::{Error, Result};
use model::{Audience, Barrier, Content, HostId, KindNames, Millis, Profile, ReactionKinds, UserId};
use store::{Marker, Reader, Ruled};

/// The rows that an export has.
#[derive(Debug)]
pub(super) struct Scope<'a> {
    /// The kinds of reactions.
    pub(super) kinds: &'a ReactionKinds,
    /// Whether it has deleted items and the reactions to them. An import without their deletions would make them live.
    pub(super) deleted: bool,
}

/// Writes all lines of a table.
pub(super) type Take = fn(&Reader, &Scope<'_>, &mut Output<'_>) -> Result<()>;

pub(super) fn names(reader: &Reader, _: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    #[derive(Serialize)]
    #[serde(rename_all = "snake_case")]
    enum Line<'a> {
        Id(HostId),
        Reaction(&'a str),
    }

    reader.kinds_of_reactions().try_for_each(|kind| out.line(None, &Line::Reaction(kind)))?;
    reader.each_name(&mut |id| out.line(None, &Line::Id(id)))
}

pub(super) fn settings(reader: &Reader, _: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    #[derive(Serialize)]
    struct Line {
        user_id: HostId,
        approve_followers: bool,
        default_audience: Audience,
    }

    reader.each_settings(&mut |(user, settings)| {
        let (approve_followers, default_audience) = (settings.approve_followers, settings.default_audience);
        out.line(None, &Line { user_id: reader.host(user)?, approve_followers, default_audience })
    })
}

/// A pair of users, with the rule of a follow or a request.
#[derive(Serialize)]
struct Pair {
    user_id: HostId,
    target_id: HostId,
    since: Millis,
    #[serde(skip_serializing_if = "Option::is_none")]
    only: Option<KindNames>,
    #[serde(skip_serializing_if = "Option::is_none")]
    except: Option<KindNames>,
}

pub(super) fn blocks(reader: &Reader, _: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    barriers(reader, Barrier::Block, out)
}

pub(super) fn mutes(reader: &Reader, _: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    barriers(reader, Barrier::Mute, out)
}

pub(super) fn hides(reader: &Reader, _: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    barriers(reader, Barrier::Hide, out)
}

fn barriers(reader: &Reader, barrier: Barrier, out: &mut Output<'_>) -> Result<()> {
    reader.each_barrier(barrier, &mut |(user, target, since)| {
        let (user_id, target_id) = (reader.host(user)?, reader.host(target)?);
        out.line(Some(since), &Pair { user_id, target_id, since, only: None, except: None })
    })
}

pub(super) fn follows(reader: &Reader, _: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    reader.each_follow(&mut |follow| pair(reader, follow, out))
}

pub(super) fn requests(reader: &Reader, _: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    reader.each_request(&mut |request| pair(reader, request, out))
}

fn pair(reader: &Reader, Ruled { user, target, since, rule }: Ruled, out: &mut Output<'_>) -> Result<()> {
    let (only, except) = rule.fields();
    let (user_id, target_id) = (reader.host(user)?, reader.host(target)?);
    out.line(Some(since), &Pair { user_id, target_id, since, only, except })
}

pub(super) fn lists(reader: &Reader, _: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        user_id: HostId,
        list: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
        exclusive: bool,
    }

    reader.each_list(&mut |(user, list)| {
        let (user_id, title, exclusive) = (reader.host(user)?, list.settings.title.as_deref(), list.settings.exclusive);
        out.line(None, &Line { user_id, list: &list.name, title, exclusive })
    })
}

pub(super) fn members(reader: &Reader, _: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        user_id: HostId,
        list: &'a str,
        source_id: HostId,
        since: Millis,
        #[serde(skip_serializing_if = "Option::is_none")]
        only: Option<KindNames>,
        #[serde(skip_serializing_if = "Option::is_none")]
        except: Option<KindNames>,
    }

    reader.each_member(&mut |list, Ruled { user, target, since, rule }| {
        let (only, except) = rule.fields();
        let (user_id, source_id) = (reader.host(user)?, reader.host(target)?);
        out.line(Some(since), &Line { user_id, list, source_id, since, only, except })
    })
}

pub(super) fn content(reader: &Reader, scope: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    /// The fields of a publish, and the time of the last edit.
    #[derive(Serialize)]
    struct Line<'a> {
        content_id: HostId,
        author_id: HostId,
        published_at: Millis,
        #[serde(skip_serializing_if = "Option::is_none")]
        edited_at: Option<Millis>,
        #[serde(skip_serializing_if = "is_post")]
        kind: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        media: Option<Box<RawValue>>,
        #[serde(skip_serializing_if = "<[String]>::is_empty")]
        topics: &'a [String],
        #[serde(skip_serializing_if = "Option::is_none")]
        ref_id: Option<HostId>,
        #[serde(skip_serializing_if = "Option::is_none")]
        extra: Option<Box<RawValue>>,
        #[serde(skip_serializing_if = "Clone::clone")]
        broadcast: bool,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        to: Vec<HostId>,
        /// Always: left out, it would be the default of the author.
        audience: Audience,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        mentions: Vec<HostId>,
    }

    fn is_post(kind: &&str) -> bool {
        *kind == "post"
    }

    let hosts = |users: &[UserId]| users.iter().map(|user| reader.host(*user)).collect::<Result<Vec<_>>>();
    let (mut left_out, mut turn, mut last) = (0, 0, 0);
    let mut take = |(item, is_deleted): (Content, bool), turn, last: &mut usize, out: &mut Output<'_>| {
        let its = reader.turn(&item)?;
        *last = its.max(*last);
        if its != turn {
            return Ok(());
        }
        if is_deleted && !scope.deleted {
            left_out += 1;
            return Ok(());
        }
        let Content { published_at, edited_at, broadcast, audience, .. } = item;
        let line = Line {
            content_id: reader.host(item.id)?,
            author_id: reader.host(item.author)?,
            published_at,
            edited_at,
            kind: &item.kind,
            text: item.text.as_deref(),
            media: (item.media != "[]").then(|| raw(&item.media)).transpose()?,
            topics: &item.topics,
            ref_id: item.ref_id.map_or(Ok(None), |id| reader.found(id.get()))?,
            extra: item.extra.as_deref().map(raw).transpose()?,
            broadcast,
            to: hosts(&item.to)?,
            audience,
            mentions: hosts(&item.mentions)?,
        };
        out.line(edited_at.max(Some(published_at)), &line)
    };
    while turn <= last {
        reader.each_item(&mut |item| take(item, turn, &mut last, out))?;
        turn += 1;
    }
    if left_out > 0 {
        out.leaves_out(left_out, "deleted items are left out; with --deletions they are exported, too");
    }
    Ok(())
}

/// JSON of the host for a line, so without line ends: where they are allowed, a space means the same.
fn raw(json: &str) -> Result<Box<RawValue>> {
    let is_end = |c: char| matches!(c, '\n' | '\r');
    let json = if json.contains(is_end) { Cow::Owned(json.replace(is_end, " ")) } else { Cow::Borrowed(json) };
    RawValue::from_string(json.into_owned()).map_err(|e| Error::Corrupt(format!("media or extra: {e}")))
}

pub(super) fn reactions(reader: &Reader, scope: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        content_id: HostId,
        user_id: HostId,
        kind: &'a str,
        since: Millis,
    }

    let left_out = reader.each_reaction(scope.kinds, scope.deleted, &mut |item, user, kind, since| {
        let (content_id, user_id) = (reader.host(item)?, reader.host(user)?);
        out.line(Some(since), &Line { content_id, user_id, kind, since })
    })?;
    for (kind, count) in left_out {
        out.leaves_out(
            count,
            format_args!("reactions of the kind {kind:?} are left out: reactions.kinds does not name it"),
        );
    }
    Ok(())
}

pub(super) fn deletions(reader: &Reader, _: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    #[derive(Serialize)]
    struct Line {
        content_id: HostId,
        #[serde(skip_serializing_if = "Option::is_none")]
        deleted_at: Option<Millis>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        purged: bool,
    }

    reader.each_deletion(&mut |(item, deleted_at)| {
        out.line(deleted_at, &Line { content_id: reader.host(item)?, deleted_at, purged: deleted_at.is_none() })
    })
}

pub(super) fn profiles(reader: &Reader, _: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    #[derive(Serialize)]
    struct Line {
        user_id: HostId,
        #[serde(skip_serializing_if = "Option::is_none")]
        nickname: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        avatar: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        extra: Option<Box<RawValue>>,
    }

    reader.each_profile(&mut |(user, Profile { nickname, avatar, extra })| {
        let extra = extra.as_deref().map(raw).transpose()?;
        out.line(None, &Line { user_id: reader.host(user)?, nickname, avatar, extra })
    })
}

pub(super) fn markers(reader: &Reader, _: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        user_id: HostId,
        cursor: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        list: Option<&'a str>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        notices: bool,
    }

    reader.each_marker(&mut |Marker { user, list, at, item }| {
        let cursor = format!("{at}-{item}");
        out.line(Some(at), &Line { user_id: reader.host(user)?, cursor, list, notices: false })
    })?;
    reader.each_notice_marker(&mut |(user, place)| {
        let (user_id, cursor) = (reader.host(user)?, place.to_string());
        out.line(Some(place.at), &Line { user_id, cursor, list: None, notices: true })
    })
}

pub(super) fn suspensions(reader: &Reader, _: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    #[derive(Serialize)]
    struct Line {
        user_id: HostId,
        since: Millis,
    }

    reader.each_suspension(&mut |(user, since)| out.line(Some(since), &Line { user_id: reader.host(user)?, since }))
}
