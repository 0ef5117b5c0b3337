//! JSON objects of the API that handlers of several files answer with. Other objects are beside their handlers.

use serde::Serializer;
use serde_json::value::RawValue;

use crate::prelude::*;
use feed::kinds;
use model::{
    Audience, AuthorSummary, Entry, ExternalIds, ItemCounts, ItemView, JsonObject, KindNames, MediaList, NamedRule,
    ReactionCounts, ReactionKind, ReactionKinds, Reactions, Relation, RelationKind, Restriction, ShownId, UserCursor,
};

answers! {
    /// An item. With `view=ids` it has only `content_id`, `author_id` and `published_at`; otherwise also `kind`, `media`,
    /// `topics`, `broadcast`, `to`, `audience`, `counts`, and every other field that has a value.
    pub(crate) struct Item<'a> as Content (shown: &'a ItemView, ids: &'a ExternalIds) -> Result {
        let content = &**shown.content;
        let raw = |text: &'a str| {
            serde_json::from_str(text).map_err(|e| Error::Corrupt(format!("content {}: {e}", content.id)))
        };
        // Only an edit changes these fields: they are written once, and kept.
        (content_id: ShownId<'a> as ExternalId) = ids.show(content.id);
        (author_id: ShownId<'a> as ExternalId) = shown.author.as_deref().map_or_else(|| ids.show(content.author), |summary| summary.user.show());
        (published_at: Millis as Time) = content.published_at;
        /// The time of the last edit.
        (edited_at?: Millis as Time) = content.edited_at;
        #[schema(required = false)]
        (kind: &'a str) = &content.kind;
        (text?: &'a str) = content.text.as_deref();
        #[schema(value_type = MediaList, required = false)]
        (media: &'a RawValue) = raw(&content.media)?;
        #[schema(required = false)]
        (topics: &'a [String]) = &content.topics;
        /// The id of another item: the original of a repost, the subject of a comment.
        (ref_id?: ShownId<'a> as ExternalId) = content.ref_id.and_then(|id| ids.show_if_named(id));
        (extra?: &'a RawValue as JsonObject) = content.extra.as_deref().map(raw).transpose()?;
        /// Whether the item goes to the author's followers and appears on the author's own page.
        #[schema(required = false)]
        (broadcast: bool) = content.broadcast;
        /// Further sources to whose followers the item goes.
        #[schema(value_type = Vec<ExternalId>, required = false)]
        (to: Vec<ShownId<'a>>) = content.to.iter().map(|source| ids.show(*source)).collect();
        /// Who may see the item: everybody, or only its author and the followers of one of its paths.
        #[schema(value_type = Audience, required = false)]
        (audience: Audience) = content.audience;
        /// Users whom the item mentions; left out if there are none.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[schema(value_type = Vec<ExternalId>, required = false)]
        (mentions: Vec<ShownId<'a>>) = content.mentions.iter().map(|user| ids.show(*user)).collect();
        // `write_item` adds these four for each reader.
        (counts?: Counts<'a>) = None;
        /// Only in lists and in streams.
        (author?: &'a AuthorSummary as AuthorSummary) = None;
        /// Only for a viewer: in the timelines and streams of a user, and where a call names the viewer or has a token.
        (viewer?: Viewer<'a>) = None;
        /// `true` if the author is suspended, otherwise missing. No list shows such an item.
        (suspended?: bool) = None;
    }

    /// The reactions of the reader to an item of the reader's timeline.
    pub(crate) struct Viewer<'a> (of: Reactions, kinds: &'a ReactionKinds) {
        /// The names of the kinds, in the order of `reactions.kinds`.
        (reactions: Vec<&'a str> as Vec<ReactionKind>) = of.iter().map(|kind| kinds.name(kind)).collect();
    }
}

/// The counts and the reactions of most items.
const NO_COUNTS: &str = r#"{"comments":0,"reposts":0,"reactions":{}}"#;
pub(crate) const NO_REACTIONS: &str = r#"{"reactions":[]}"#;

/// Adds a complete item. Its lasting part and its author are written once, and kept beside the cached values.
pub(crate) fn write_item(shown: &ItemView, ids: &ExternalIds, kinds: &ReactionKinds, text: &mut Text) -> Result<()> {
    let lasting = shown.content.json.get(|| {
        let mut json = reply::text(&Item::new(shown, ids)?)?;
        // The other fields follow.
        json.pop();
        Ok::<_, Error>(json)
    })?;
    text.push(&lasting)?;
    text.push(r#","counts":"#)?;
    match shown.counts == ItemCounts::default() {
        true => text.push(NO_COUNTS)?,
        false => text.write(&Counts::new(&shown.counts, kinds))?,
    }
    if let Some(summary) = shown.author.as_deref() {
        text.push(r#","author":"#)?;
        text.push(&summary.json.get(|| reply::text(summary))?)?;
    }
    if let Some(viewer) = shown.viewer {
        text.push(r#","viewer":"#)?;
        match viewer == Reactions::default() {
            true => text.push(NO_REACTIONS)?,
            false => text.write(&Viewer::new(viewer, kinds))?,
        }
    }
    if shown.suspended {
        text.push(r#","suspended":true"#)?;
    }
    text.push("}")
}

/// A complete item alone.
pub(crate) fn item(shown: &ItemView, ids: &ExternalIds, kinds: &ReactionKinds) -> Result<Vec<u8>> {
    let mut text = Text::new(0, None);
    write_item(shown, ids, kinds, &mut text)?;
    Ok(text.into_bytes())
}

/// Adds complete items as a list without pages.
pub(crate) fn write_items(
    items: impl IntoIterator<Item = ItemView>,
    ids: &ExternalIds,
    kinds: &ReactionKinds,
    text: &mut Text,
) -> Result<()> {
    text.push(r#"{"items":["#)?;
    text.each(items, |item, text| write_item(&item, ids, kinds, text))?;
    text.push("]}")
}

answers! {
    /// An item in the form of `view=ids`.
    pub(crate) struct ItemId<'a> as ContentRef (entry: Entry, ids: &'a ExternalIds) {
        (content_id: ShownId<'a> as ExternalId) = ids.show(entry.cursor.id);
        (author_id: ShownId<'a> as ExternalId) = ids.show(entry.author);
        (published_at: Millis as Time) = entry.cursor.at;
    }

    /// The counts of an item.
    pub(crate) struct Counts<'a> (of: &'a ItemCounts, kinds: &'a ReactionKinds) {
        (comments: u64) = of.comments;
        (reposts: u64) = of.reposts;
        /// How many users have each reaction to the item, by the name of the kind. A kind that nobody has is left out.
        (reactions: ByName<'a> as BTreeMap<String, u64>) = ByName { counts: &of.reactions, kinds };
    }
}

/// The numbers of reactions, as an object.
#[derive(Debug)]
struct ByName<'a> {
    counts: &'a ReactionCounts,
    kinds: &'a ReactionKinds,
}

impl Serialize for ByName<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.counts.iter().map(|(kind, count)| (self.kinds.name(kind), count)))
    }
}

answers! {
    /// The relation of one user to another.
    pub(crate) struct RelationItem as Relation (read: Read<'_>, user: ExternalId, target: ExternalId, of: Relation) -> Result {
        let (only, except) = kinds::rule_names(read, of.rule)?.fields();
        (user_id: ExternalId) = user;
        (target_id: ExternalId) = target;
        (relation: &'static str as RelationKind) = of.kind().name();
        (since?: Millis as Time) = of.following_since;
        /// The only kinds of items that the follow shows.
        (only?: KindNames as Vec<String>) = only;
        /// The kinds of items that the follow does not show.
        (except?: KindNames as Vec<String>) = except;
        /// The user has muted the target.
        (muted: bool) = of.restricted_since(Restriction::Mute).is_some();
        /// The user hides its content from the target.
        (hidden: bool) = of.restricted_since(Restriction::Hide).is_some();
        /// The user has blocked the target. A block of the user by the target is not told.
        (blocked: bool) = of.restricted_since(Restriction::Block).is_some();
        /// The user has asked to follow the target, who has not answered yet.
        (requested: bool) = of.requested_since.is_some();
    }

    /// A user in a list of users.
    pub(crate) struct Member (user: UserCursor, ids: &ExternalIds, asked: Option<RelationKind>, rule: NamedRule) {
        let (only, except) = rule.fields();
        (user_id: ExternalId) = ids.of(user.id);
        /// The time of the follow, the mute, the hide, the block, the request or the reaction.
        (since: Millis as Time) = user.at;
        /// The relation of `viewer` to this user.
        (relation?: &'static str as RelationKind) = asked.map(RelationKind::name);
        /// In a list: the only kinds of items that it shows of this user.
        (only?: KindNames as Vec<String>) = only;
        /// In a list: the kinds of items that it does not show of this user.
        (except?: KindNames as Vec<String>) = except;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reactions_are_written_by_name_in_the_order_of_the_setting() {
        let kinds = ReactionKinds::new(["like", "\"", "👏", "x"].map(str::to_owned).into()).expect("names");
        let mut counts = ItemCounts::default();
        let written = |counts: &ItemCounts| reply::text(&Counts::new(counts, &kinds)).expect("writes");
        let viewed = |reactions| reply::text(&Viewer::new(reactions, &kinds)).expect("writes");
        assert_eq!(written(&counts), NO_COUNTS);
        assert_eq!(viewed(Reactions::default()), NO_REACTIONS);
        let some: Vec<_> = ["👏", "\""].iter().filter_map(|name| kinds.named(name)).collect();
        some.iter().for_each(|kind| counts.reactions.set(*kind, 3));
        assert_eq!(written(&counts), r#"{"comments":0,"reposts":0,"reactions":{"\"":3,"👏":3}}"#);
        assert_eq!(viewed(some.into_iter().collect()), r#"{"reactions":["\"","👏"]}"#);
    }
}
