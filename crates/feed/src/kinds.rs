//! Numbers for kinds of content: a change gives them, and they are written with it. A refused change leaves none.

use crate::core::Core;
use crate::items;
use crate::read::{Read, Visibility};
use model::error::{Code, Error, Result};
use model::{KindId, MOST_KINDS, NamedRule, Publish, Rule};

/// Sets the numbers of the kinds of items for their change; `too_many_kinds` if the server knows too many.
pub(crate) fn number(feed: &Core, items: &mut [Publish]) -> Result<()> {
    let kinds: Vec<_> = items.iter().map(|item| item.content.kind.as_str()).collect();
    let ids = items::tables::give_kinds(&feed.store, &kinds)?;
    items.iter_mut().zip(ids).for_each(|(item, id)| item.content.kind_id = id);
    Ok(())
}

/// A rule with the numbers of its kinds for a change; no rule if it shows all kinds.
/// `too_many_kinds` if the server knows too many.
pub(crate) fn numbered(feed: &Core, rule: &NamedRule) -> Result<Option<Rule>> {
    let (is_only, names) = rule.names();
    let kinds = items::tables::give_kinds(&feed.store, &names)?;
    Ok(if names.is_empty() { None } else { Rule::new(is_only, &kinds) })
}

/// `too_many_kinds` for a rule in a call of a user that would give numbers to kinds, once the server knows half as many
/// as it can: users must not take all of them.
pub fn may_name(feed: &Core, rule: &NamedRule, visibility: Visibility) -> Result<()> {
    let (_, names) = rule.names();
    if visibility == Visibility::Application
        || items::tables::known_kinds(&feed.store, &names)?.iter().all(Option::is_some)
    {
        return Ok(());
    }
    match items::tables::kind_names(&feed.store)?.len() < MOST_KINDS / 2 {
        true => Ok(()),
        false => Err(Error::refused(
            Code::TooManyKinds,
            "the server knows many kinds already, and a user token cannot add one. Use only kinds that items have",
        )),
    }
}

/// The names of the kinds of a rule.
pub fn rule_names(read: Read<'_>, rule: Option<Rule>) -> Result<NamedRule> {
    let Some(rule) = rule else { return Ok(NamedRule::All) };
    let names = items::tables::kind_names(&read.feed.store)?;
    let name = |kind: &KindId| names.get(usize::from(kind.0)).cloned();
    let names = rule.kinds().iter().map(name).collect::<Option<Vec<_>>>();
    let unknown = || Error::Corrupt("a rule of a kind without a name".to_owned());
    NamedRule::named(rule.is_only(), names.ok_or_else(unknown)?).map_err(Error::Corrupt)
}
