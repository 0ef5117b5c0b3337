//! Items of new items.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::hash::Hash;

use crate::core::Core;
use crate::streaming::ChangeTime;
use crate::{users, visibility, writer};
use kv::Tier;
use model::error::{Code, Error, Result};
use model::{Content, ContentId, NewContent, Publish};

/// The items of new items; `ids` has the ids of each in the order of [`NewContent::ids`].
pub(crate) fn completed(feed: &Core, new_items: Vec<NewContent>, ids: &[ContentId]) -> Result<Vec<Publish>> {
    let mut ids = ids.iter().copied();
    let complete = |new_item: NewContent| {
        let audience = new_item.audience;
        let too_few = || Error::Corrupt("the store returned too few numbers of names".to_owned());
        let mut item = new_item.publish(|| ids.next()).ok_or_else(too_few)?;
        item.content.audience = match audience {
            Some(audience) => audience,
            None => users::tables::settings(&feed.store, item.content.author, Tier::Disk)?.default_audience,
        };
        Ok(item)
    };
    new_items.into_iter().map(complete).collect()
}

/// `invalid_body` if an id occurs twice.
pub(crate) fn each_once<T: Hash + Eq + Display>(ids: impl IntoIterator<Item = T>, what: &str) -> Result<()> {
    let mut seen = HashSet::new();
    match ids.into_iter().find_map(|id| seen.replace(id)) {
        Some(twice) => Err(Error::refused(Code::InvalidBody, format_args!("{what} {twice} occurs twice in the batch"))),
        None => Ok(()),
    }
}

/// How many paths items have, all together.
pub(crate) fn paths(items: &[Publish]) -> usize {
    items.iter().map(|item| item.content.paths().count()).sum()
}

/// Items with acceptable times; for each other item its index and its result.
type Sifted = (Vec<Publish>, Vec<(usize, Result<Content>)>);

/// Takes out the items with a time too far ahead. The result of such an item is the stored content if it repeats an
/// earlier publish, else `time_ahead`. `name` names the time of the item at an index.
pub(crate) fn sift_items(
    feed: &Core,
    items: Vec<Publish>,
    name: impl Fn(usize) -> String,
    at: ChangeTime,
) -> Result<Sifted> {
    let latest = writer::latest(feed, at);
    let may_be_ahead = |item: &Publish| item.time_given && item.content.published_at > latest;
    let suspects: Vec<_> = items.iter().filter(|item| may_be_ahead(item)).map(|item| item.content.id).collect();
    if suspects.is_empty() {
        return Ok((items, Vec::new()));
    }
    let there: HashMap<_, _> =
        visibility::live_contents(feed.read(), &suspects)?.into_iter().map(|content| (content.id, content)).collect();
    let (mut fine, mut ahead) = (Vec::with_capacity(items.len()), Vec::new());
    for (place, item) in items.into_iter().enumerate() {
        let time = item.content.published_at;
        let checked = if may_be_ahead(&item) { writer::not_ahead(feed, name(place), time, at) } else { Ok(()) };
        match (checked, there.get(&item.content.id)) {
            (Ok(()), _) => fine.push(item),
            (Err(_), Some(there)) if item.repeats(there) => ahead.push((place, Ok(Content::clone(there)))),
            (Err(refused), _) => ahead.push((place, Err(refused))),
        }
    }
    Ok((fine, ahead))
}
