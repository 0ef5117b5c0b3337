//! Items of drafts.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Display;
use std::hash::Hash;

use crate::core::Core;
use crate::streaming::ChangeTime;
use crate::{sight, users, writer};
use kv::Tier;
use model::error::{Code, Error, Result};
use model::{Audience, Content, ContentId, Draft, JsonObject, KindId, MediaList, Publish, UserId, canonical};

/// The items of drafts; `ids` has the ids of each in the order of [`Draft::ids`].
pub(crate) fn completed(feed: &Core, drafts: Vec<Draft>, ids: &[ContentId]) -> Result<Vec<Publish>> {
    let mut ids = ids.iter().copied();
    let complete = |draft: Draft| {
        let audience = draft.audience;
        let too_few = || Error::Corrupt("the store returned too few numbers of names".to_owned());
        let mut item = complete(draft, || ids.next()).ok_or_else(too_few)?;
        item.content.audience = match audience {
            Some(audience) => audience,
            None => users::tables::settings(&feed.store, item.content.author, Tier::Disk)?.default_audience,
        };
        Ok(item)
    };
    drafts.into_iter().map(complete).collect()
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

/// The item of a draft, with defaults for omitted fields but for its audience. A missing time or id is set when the order is
/// decided.
fn complete(draft: Draft, mut next: impl FnMut() -> Option<ContentId>) -> Option<Publish> {
    let id_made = draft.content_id.is_none();
    let id = if id_made { ContentId::MIN } else { next()? };
    let author = UserId::new(next()?.get()).ok()?;
    let ref_id = if draft.ref_id.is_some() { Some(next()?) } else { None };
    let source = |next: ContentId| UserId::new(next.get()).ok();
    let to = (0..draft.to.len()).map(|_| source(next()?)).collect::<Option<_>>()?;
    let mentions = (0..draft.mentions.len()).map(|_| source(next()?)).collect::<Option<_>>()?;
    let mut content = Content {
        id,
        author,
        published_at: draft.published_at.map_or(0, |time| time.0),
        edited_at: None,
        kind: draft.kind.into_string(),
        kind_id: KindId::POST,
        text: draft.text,
        media: draft.media.map_or_else(|| "[]".to_owned(), MediaList::into_string),
        topics: draft.topics.into_vec(),
        ref_id,
        extra: draft.extra.map(JsonObject::into_string),
        broadcast: draft.broadcast,
        to,
        audience: Audience::Public,
        mentions,
        fingerprint: 0,
    };
    content.fingerprint = fingerprint(&content);
    let (time_given, audience_given) = (draft.published_at.is_some(), draft.audience.is_some());
    Some(Publish { content, time_given, audience_given, id_made, event: None })
}

/// A hash of the body without id, time and audience. Spaces and the order of keys in JSON do not change it, nor does the order
/// of what is a set, and an empty `extra` is none.
fn fingerprint(content: &Content) -> u64 {
    let ids = |users: &[UserId]| {
        let set: BTreeSet<_> = users.iter().map(|user| user.get()).collect();
        set.iter().map(u64::to_string).collect::<Vec<_>>()
    };
    let body = (
        content.author.get().to_string(),
        &content.kind,
        &content.text,
        canonical(&content.media),
        content.topics.iter().collect::<BTreeSet<_>>(),
        content.ref_id.map(|id| id.get().to_string()),
        content.extra.as_deref().map(canonical).filter(|extra| extra != "{}"),
        content.broadcast,
        ids(&content.to),
    );
    let mentions = ids(&content.mentions);
    // As before there were mentions, for an item without any.
    let text = if mentions.is_empty() { serde_json::to_vec(&body) } else { serde_json::to_vec(&(body, mentions)) };
    // Strings, numbers and lists of them always make JSON.
    xxhash_rust::xxh3::xxh3_64(&text.unwrap_or_default())
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
        sight::live_contents(feed.read(), &suspects)?.into_iter().map(|content| (content.id, content)).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(extra: &str) -> u64 {
        fingerprint(&content(extra))
    }

    fn content(extra: &str) -> Content {
        Content {
            id: ContentId::MIN,
            author: UserId::MIN,
            published_at: 1,
            edited_at: None,
            kind: "post".to_owned(),
            kind_id: KindId::POST,
            text: Some("hi".to_owned()),
            media: "[]".to_owned(),
            topics: vec![],
            ref_id: None,
            extra: Some(extra.to_owned()),
            broadcast: true,
            to: vec![],
            audience: Audience::Public,
            mentions: vec![],
            fingerprint: 0,
        }
    }

    #[test]
    fn a_fingerprint_is_of_the_meaning_and_stays_the_same_for_ever() {
        let first = hash(r#"{"a":1,"b":[2]}"#);
        assert_eq!(first, hash(r#"{ "b": [2], "a": 1 }"#));
        assert_ne!(first, hash(r#"{"a":1,"b":[3]}"#));
        for (one, other) in [
            (r#"{"a":12345678901234567890123}"#, r#"{"a":12345678901234567890124}"#),
            (r#"{"a":0.1}"#, r#"{"a":0.10000000000000001}"#),
            (r#"{"$serde_json::private::RawValue":"{\"a\":1,\"b\":[2]}"}"#, r#"{"a":1,"b":[2]}"#),
        ] {
            assert_ne!(hash(one), hash(other), "{one} {other}");
        }
        let mut followers_only = content(r#"{"a":1,"b":[2]}"#);
        followers_only.audience = Audience::Followers;
        assert_eq!(first, fingerprint(&followers_only), "the audience is compared apart");
        let mut mentioning = content(r#"{"a":1,"b":[2]}"#);
        mentioning.mentions = vec![UserId::MIN];
        assert_ne!(first, fingerprint(&mentioning));
        let with_sets = |order: [usize; 2]| {
            let users = order.map(|place| UserId::new(2 + place as u64).expect("in range")).to_vec();
            let topics = order.map(|place| ["sea", "tide"][place].to_owned()).to_vec();
            fingerprint(&Content { topics, to: users.clone(), mentions: users, ..content("{ }") })
        };
        assert_eq!(with_sets([0, 1]), with_sets([1, 0]));
        assert_eq!(hash("{ }"), fingerprint(&Content { extra: None, ..content("") }));
        assert_eq!(first, GOLDEN, "stored fingerprints would no longer match");
    }

    const GOLDEN: u64 = 12_464_058_704_366_906_195;
}
