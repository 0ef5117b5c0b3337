//! Items, reactions and deletions.

use serde::{Deserialize, Serialize};

use super::Scope;
use super::line_forms::{alone, at, lines};
use crate::cli::data::export::output::Output;
use crate::cli::data::import::refusal::{INVALID_TIME, MISSING_FIELD, Refusal};
use feed::reader::{self, Reader};
use feed::{Command, DeleteItem, ImportItems, React, ReactionRequest, Visibility};
use model::error::{Error, Result};
use model::{Content, ExternalId, ItemLine, Time, UserId};

lines! {
    /// A reaction of a user to an item.
    Reaction { content_id: ExternalId, user_id: ExternalId, kind: String; since: Time }
    /// A deleted item, or the id of a purged one.
    Deletion { content_id: ExternalId; deleted_at: Time, purged: bool }
}

pub(super) fn item(line: ItemLine) -> Result<Command, Refusal> {
    if line.content_id.is_none() {
        let detail = "content_id is missing; an import needs it so that it can be run again";
        return Err(Refusal::of_line(MISSING_FIELD, detail));
    }
    let (new_item, edited_at) = line.publish();
    Ok(ImportItems::one(new_item, at(edited_at)).into())
}

pub(super) fn reaction(line: Reaction) -> Result<Command, Refusal> {
    let (user, kind, since) = (line.user_id, line.kind, at(line.since));
    let request = ReactionRequest { user, kind, active: true, since, visibility: Visibility::Application };
    Ok(React { item: line.content_id, requests: vec![request], imported: true }.into())
}

pub(super) fn deletion(line: Deletion) -> Result<Command, Refusal> {
    if line.deleted_at == Some(Time(0)) {
        let detail = "deleted_at: 0 is not the time of a deletion. Leave items out that are not deleted";
        return Err(Refusal::of_line(INVALID_TIME, detail));
    }
    Ok(alone(DeleteItem { item: line.content_id, purge: line.purged.unwrap_or_default() }, line.deleted_at))
}

pub(super) fn write_items(scope: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    let reader = scope.reader;
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
    let hosts = |users: &[UserId]| users.iter().map(|user| reader.host(*user)).collect::<Result<Vec<ExternalId>>>();
    let plain = ItemLine::plain(reader.host(item.author)?, &item).map_err(Error::Corrupt)?;
    Ok(ItemLine {
        content_id: Some(reader.host(item.id)?),
        published_at: Some(Time(item.published_at)),
        edited_at: item.edited_at.map(Time),
        kind: checked(item.kind)?,
        ref_id: item.ref_id.map_or(Ok(None), |id| reader.found(id.get()))?,
        broadcast: item.broadcast,
        to: checked(hosts(&item.to)?)?,
        audience: Some(item.audience),
        mentions: checked(hosts(&item.mentions)?)?,
        ..plain
    })
}

/// A field that is stored, as that of a line.
fn checked<F, T: TryFrom<F, Error = String>>(stored: F) -> Result<T> {
    T::try_from(stored).map_err(Error::Corrupt)
}

pub(super) fn write_reactions(scope: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    let reader = scope.reader;
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

pub(super) fn write_deletions(scope: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    reader::each_deletion(scope.reader, &mut |(item, at)| {
        let (deleted_at, purged) = (at.map(Time), at.is_none().then_some(true));
        out.line(at, &Deletion { content_id: scope.reader.host(item)?, deleted_at, purged })
    })
}
