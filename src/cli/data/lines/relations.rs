//! Follows, requests to follow, and restrictions.

use serde::{Deserialize, Serialize};

use super::Scope;
use super::line_forms::{Kinds, alone, at, kinds, lines, rule};
use crate::cli::data::export::output::Output;
use crate::cli::data::import::refusal::Refusal;
use feed::reader::{self, Ruled};
use feed::{Command, ImportFollows, SetRestriction};
use model::error::Result;
use model::{ExternalId, Restriction, Time};

lines! {
    /// A block, a mute or a hide.
    Pair { user_id: ExternalId, target_id: ExternalId; since: Time }
    /// A follow, or a request to follow.
    Following { user_id: ExternalId, target_id: ExternalId; since: Time; only: Kinds, except: Kinds }
}

pub(super) fn restriction(line: Pair, restriction: Restriction) -> Result<Command, Refusal> {
    let change = SetRestriction { user: line.user_id, target: line.target_id, restriction, raised: true };
    Ok(alone(change, line.since))
}

pub(super) fn follow(line: Following, awaited: bool) -> Result<Command, Refusal> {
    let rule = rule(line.only, line.except)?;
    let follow = ImportFollows::one(line.user_id, line.target_id, at(line.since), rule);
    Ok(ImportFollows { awaited, ..follow }.into())
}

pub(super) fn write_restrictions(scope: &Scope<'_>, restriction: Restriction, out: &mut Output<'_>) -> Result<()> {
    let reader = scope.reader;
    reader::each_restriction(reader, restriction, &mut |((user, target), since)| {
        let (user_id, target_id) = (reader.host(user)?, reader.host(target)?);
        out.line(Some(since), &Pair { user_id, target_id, since: Some(Time(since)) })
    })
}

pub(super) fn write_follows(scope: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    reader::each_follow(scope.reader, &mut |follow| write_follow(scope, follow, out))
}

pub(super) fn write_requests(scope: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    reader::each_request(scope.reader, &mut |request| write_follow(scope, request, out))
}

fn write_follow(scope: &Scope<'_>, Ruled { user, target, since, rule }: Ruled, out: &mut Output<'_>) -> Result<()> {
    let (user_id, target_id) = (scope.reader.host(user)?, scope.reader.host(target)?);
    let (only, except) = kinds(rule);
    out.line(Some(since), &Following { user_id, target_id, since: Some(Time(since)), only, except })
}
