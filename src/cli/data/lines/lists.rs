//! Lists of users, and their members.

use serde::{Deserialize, Serialize};

use super::Scope;
use super::line_forms::{Kinds, alone, kinds, lines, list_name, rule};
use crate::cli::data::export::output::Output;
use crate::cli::data::import::refusal::{INVALID_FIELD, Refusal};
use feed::reader::{self, Ruled};
use feed::{ChangeMembers, Command, PutList};
use model::error::Result;
use model::{ExternalId, ListSettings, NamedRule, Time};

lines! {
    /// A list of a user.
    List { user_id: ExternalId, list: String; title: String, exclusive: bool }
    /// A member of a list.
    Member { user_id: ExternalId, list: String, source_id: ExternalId; since: Time; only: Kinds, except: Kinds }
}

pub(super) fn list(line: List) -> Result<Command, Refusal> {
    let settings = ListSettings::checked(line.title, line.exclusive.unwrap_or_default());
    let settings = settings.map_err(|reason| Refusal::of_line(INVALID_FIELD, reason))?;
    Ok(alone(PutList { user: line.user_id, list: list_name(line.list)?, settings }, None))
}

pub(super) fn member(line: Member) -> Result<Command, Refusal> {
    let rule = Some(rule(line.only, line.except)?).filter(|rule| *rule != NamedRule::All);
    let (list, add) = (list_name(line.list)?, vec![line.source_id]);
    Ok(alone(ChangeMembers { user: line.user_id, list, add, remove: Vec::new(), rule }, line.since))
}

pub(super) fn write_lists(scope: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    reader::each_list(scope.reader, &mut |(user, list)| {
        let (title, exclusive) = (list.settings.title, Some(list.settings.exclusive));
        out.line(None, &List { user_id: scope.reader.host(user)?, list: list.name, title, exclusive })
    })
}

pub(super) fn write_members(scope: &Scope<'_>, out: &mut Output<'_>) -> Result<()> {
    let reader = scope.reader;
    reader::each_member(reader, &mut |list, Ruled { user, target, since, rule }| {
        let (user_id, source_id, (only, except)) = (reader.host(user)?, reader.host(target)?, kinds(rule));
        let (list, since) = (list.to_owned(), Some(since));
        out.line(since, &Member { user_id, list, source_id, since: since.map(Time), only, except })
    })
}
