//! Digests: the rows that the store on disk has, made of the facts.

use std::collections::{BTreeMap, BTreeSet};

use bincode::{Encode, config};
use model::error::{Error, Result};
use model::store::{Digester, Digests, TableDigest, Watch, is_deleted_before};
use model::{
    Audience, BUILT_IN_KINDS, COMMENT, Changed, Content, ContentId, Entry, EventKind, ItemCounts, Logged, Millis, Rule,
    UserId,
};

use super::{Double, State};

/// Events that count.
const NEWEST: u64 = 500_000;

/// A row: key and value.
pub(super) type Row = (Vec<u8>, Vec<u8>);

impl Digests for Double {
    fn has_data(&self) -> Result<bool> {
        let rows = self.state().rows(Millis::MIN)?;
        Ok(rows.iter().any(|(table, rows)| *table != "events" && !rows.is_empty()))
    }

    fn digest(&self, final_before: Millis, taken: &mut dyn FnMut(), watch: &mut dyn Watch) -> Result<Vec<TableDigest>> {
        let rows: BTreeMap<_, _> = self.state().rows(final_before)?.into_iter().collect();
        taken();
        let mut digests = Vec::new();
        for (table, rows) in tables().filter_map(|table| Some((table, rows.get(table)?))) {
            let mut digester = Digester::new(table);
            rows.iter().for_each(|(key, value)| digester.add(key, value));
            watch.looked_at(table, rows.len() as u64)?;
            digests.push(digester.finish());
        }
        Ok(digests)
    }
}

/// All tables, in the order of the page.
pub(super) fn tables() -> impl Iterator<Item = &'static str> {
    let (_, page) = include_str!("../../docs/schema.md").split_once("## Tables\n").unwrap_or_default();
    let lines = page.split("\n## ").next().into_iter().flat_map(str::lines);
    // The first row of some tables has a line of its own.
    lines.filter_map(|line| line.strip_prefix("| `")?.split_once("` |").map(|(table, _)| table))
}

/// Big-endian numbers.
pub(super) fn key(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
}

/// A row of a time-ordered table.
pub(super) fn place(partition: impl Into<u64>, at: Millis, id: impl Into<u64>) -> Vec<u8> {
    key(&[partition.into(), !at, !id.into()])
}

/// A version byte, then bincode.
pub(super) fn record(fields: impl Encode) -> Result<Vec<u8>> {
    let bytes = bincode::encode_to_vec(fields, config::standard());
    bytes.map(|bytes| [vec![1], bytes].concat()).map_err(|e| Error::Corrupt(e.to_string()))
}

/// A rule at the end of a value.
pub(super) fn rule(rule: Option<&Rule>) -> Vec<u8> {
    let begin = rule.map(|rule| u8::from(rule.is_only()));
    begin.into_iter().chain(rule.into_iter().flat_map(|rule| rule.kinds()).map(|kind| kind.0)).collect()
}

fn flags(audience: Audience) -> u8 {
    u8::from(audience == Audience::Followers)
}

/// The value of an entry in a list of its source.
fn entry(entry: &Entry) -> Vec<u8> {
    let details = if entry.is_plain() { vec![] } else { vec![entry.kind.0, flags(entry.audience)] };
    let author = if entry.author == entry.source { vec![] } else { key(&[entry.author.get()]) };
    [details, author].concat()
}

/// The value of an item in a list of items of any authors.
fn listed(item: &Content) -> Vec<u8> {
    [key(&[item.author.get()]), entry(&item.entry())].concat()
}

impl State {
    /// The rows of the tables that are equal on all nodes.
    pub(super) fn rows(&self, final_before: Millis) -> Result<Vec<(&'static str, Vec<Row>)>> {
        let is_final = |id: &ContentId| self.deleted.get(id).is_some_and(|at| is_deleted_before(*at, final_before));
        let mut content = Vec::new();
        for item in self.content.values().filter(|item| !is_final(&item.id)) {
            let mentions: Vec<_> = item.mentions.iter().map(|user| user.get()).collect();
            let value = match mentions.is_empty() {
                true => record(self.fields(item))?,
                false => [vec![2], record((self.fields(item), mentions))?.split_off(1)].concat(),
            };
            content.push((key(&[item.id.get()]), value));
        }
        let deleted = self.deleted.iter().map(|(id, at)| {
            let value = if is_final(id) { Vec::new() } else { key(&[*at]) };
            (key(&[id.get()]), value)
        });
        let outbox = self.outbox.iter().map(|((source, at), item)| (place(*source, at.at, at.id), entry(item)));
        let mut tables = vec![("content", content), ("deleted", deleted.collect()), ("outbox", outbox.collect())];
        let taken_off = self.taken_off.iter().filter(|((id, _), _)| !is_final(id));
        let taken_off = taken_off.map(|((id, source), at)| (key(&[id.get(), source.get()]), key(&[*at])));
        tables.push(("taken_off", taken_off.collect()));
        tables.extend(self.comment_rows(&is_final));
        let unlisted = self.unlisted().filter(|(_, item)| !is_final(&item.id));
        let unlisted = unlisted.map(|(source, item)| (place(source, item.published_at, item.id), Vec::new()));
        let purged = self.purged_rows().filter(|(_, place)| !is_final(&place.id));
        let purged = purged.map(|(source, at)| (place(source, at.at, at.id), Vec::new()));
        tables.push(("unlisted", unlisted.chain(purged).collect()));
        let mentioned =
            self.content.values().filter(|item| !is_final(&item.id)).flat_map(|item| {
                item.mentions.iter().map(|user| (place(*user, item.published_at, item.id), Vec::new()))
            });
        tables.push(("mentioned_in", mentioned.collect()));
        tables.extend(self.graph.rows());
        tables.push(("counts", self.count_rows()));
        tables.push(("item_counts", self.item_count_rows(&is_final)));
        tables.extend(self.reaction_rows(&is_final)?);
        tables.extend(self.records.rows()?);
        tables.extend(self.erasures.rows());
        tables.extend(self.lists.rows()?);
        tables.extend(self.notice_rows(&is_final));
        tables.extend(self.topic_rows_of());
        let names = self.names.iter().map(|(name, number)| (name.clone().into_bytes(), key(&[*number])));
        let nameless = self.erased_names.iter().map(|number| (key(&[*number]), Vec::new()));
        let of_content = (BUILT_IN_KINDS.len() as u8..).zip(&self.content_kinds);
        let of_content = of_content.map(|(number, kind)| (vec![0, number], kind.clone().into_bytes()));
        let of_reactions = (0..).zip(&self.used_kinds).map(|(byte, name)| (vec![1, byte], name.clone().into_bytes()));
        tables.push(("kinds", of_content.chain(of_reactions).collect()));
        tables.push(("names", names.clone().collect()));
        tables.push(("names_by_number", names.map(|(name, number)| (number, name)).chain(nameless).collect()));
        tables.push(("events", self.event_rows()));
        Ok(tables)
    }

    fn fields(&self, item: &Content) -> impl Encode {
        let item = item.clone();
        (
            item.author.get(),
            item.published_at,
            item.edited_at,
            self.deleted.get(&item.id).copied(),
            item.kind,
            item.text,
            item.media,
            item.topics,
            item.ref_id.map(ContentId::get),
            item.extra,
            item.broadcast,
            item.fingerprint,
            (item.kind_id.0, item.to.iter().map(|source| source.get()).collect::<Vec<_>>(), flags(item.audience)),
        )
    }

    fn live_items(&self) -> impl Iterator<Item = &Content> {
        self.content.values().filter(|item| !self.deleted.contains_key(&item.id))
    }

    fn comment_rows(&self, is_final: &dyn Fn(&ContentId) -> bool) -> [(&'static str, Vec<Row>); 2] {
        let comments: Vec<_> = self.live_items().filter(|item| item.kind == COMMENT).collect();
        let on_item = comments.iter().filter_map(|item| {
            let subject = item.ref_id.filter(|subject| !is_final(subject) && !self.is_purged(*subject))?;
            Some((place(subject, item.published_at, item.id), listed(item)))
        });
        let of_user =
            comments.iter().map(|item| (place(item.author, item.published_at, item.id), entry(&item.entry())));
        [("comments", on_item.collect()), ("user_comments", of_user.collect())]
    }

    fn count_rows(&self) -> Vec<Row> {
        let mut counts = BTreeMap::<(UserId, u8), i64>::new();
        let mut add = |user: UserId, what| *counts.entry((user, what)).or_default() += 1;
        self.graph.following.keys().for_each(|(user, _)| add(*user, 1));
        self.graph.followers.keys().for_each(|(user, _)| add(*user, 2));
        self.graph.friends().for_each(|((user, _), _)| add(user, 3));
        self.outbox.keys().for_each(|(source, _)| add(*source, 4));
        let row = |((user, what), count): ((UserId, u8), i64)| {
            ([key(&[user.get()]), vec![what]].concat(), count.to_le_bytes().to_vec())
        };
        counts.into_iter().map(row).collect()
    }

    fn item_count_rows(&self, is_final: &dyn Fn(&ContentId) -> bool) -> Vec<Row> {
        let subjects = self.content.values().filter_map(|item| item.ref_id);
        let items: BTreeSet<_> = subjects.chain(self.reactions.keys().map(|(id, ..)| *id)).collect();
        let row = |id: ContentId| {
            let ItemCounts { comments, reposts, .. } = self.counts_of(id);
            let mut value: Vec<u8> = [comments, reposts].into_iter().flat_map(u64::to_le_bytes).collect();
            for (byte, count) in self.reaction_counts(id) {
                value.push(byte);
                value.extend(count.to_le_bytes());
            }
            value.iter().any(|byte| *byte != 0).then(|| (key(&[id.get()]), value))
        };
        items.into_iter().filter(|id| !is_final(id)).filter_map(row).collect()
    }

    fn reaction_rows(&self, is_final: &dyn Fn(&ContentId) -> bool) -> Result<[(&'static str, Vec<Row>); 3]> {
        let [mut by_item, mut by_time, mut by_user] = [Vec::new(), Vec::new(), Vec::new()];
        for ((id, kind, user), since) in self.reactions.iter().filter(|((id, ..), _)| !is_final(id)) {
            let item = self.content.get(id).ok_or_else(|| Error::Corrupt("a reaction to no item".to_owned()))?;
            let byte = self.used_kinds.iter().position(|used| used == kind);
            let byte = byte.ok_or_else(|| Error::Corrupt("a reaction of no kind".to_owned()))? as u8;
            let of_kind = |first: u64, rest: &[u64]| [key(&[first]), vec![byte], key(rest)].concat();
            by_item.push((of_kind(id.get(), &[user.get()]), key(&[*since])));
            by_time.push((of_kind(id.get(), &[!*since, !user.get()]), Vec::new()));
            by_user.push((of_kind(user.get(), &[!item.published_at, !id.get()]), listed(item)));
        }
        Ok([("reactions", by_item), ("reactions_by_time", by_time), ("reactions_by_user", by_user)])
    }

    fn topic_rows_of(&self) -> [(&'static str, Vec<Row>); 2] {
        let highest = self.topics.values().max().map(|id| (Vec::new(), key(&[id.get()])));
        let ids = self.topics.iter().map(|(name, id)| (name.clone().into_bytes(), key(&[id.get()])));
        let mut lists = Vec::new();
        for item in self.live_items() {
            let topics: BTreeSet<_> = item.topics.iter().collect();
            let ids = topics.into_iter().filter_map(|name| self.topics.get(name));
            lists.extend(ids.map(|id| (place(*id, item.published_at, item.id), listed(item))));
        }
        [("topic_ids", ids.chain(highest).collect()), ("topic_content", lists)]
    }

    fn event_rows(&self) -> Vec<Row> {
        let highest = self.logged.keys().next_back().copied().unwrap_or_default();
        let newest = self.logged.range(highest.saturating_sub(NEWEST - 1)..);
        let row = |(number, row): (&u64, &Logged)| {
            let event = match row {
                Logged::Event(event) => event,
                Logged::Effect { changed: Changed { at, effect, .. }, top } => {
                    let flags = u8::from(effect.target.is_some()) | u8::from(effect.item.is_some()) << 1;
                    let ids = effect.target.map(UserId::get).into_iter().chain(effect.item.map(ContentId::get));
                    let fields: Vec<_> = [*at, *top, effect.user.get()].into_iter().chain(ids).collect();
                    let name = effect.name.as_deref().unwrap_or_default().as_bytes();
                    return (key(&[*number]), [&[0x80 | effect.kind as u8, flags][..], &key(&fields), name].concat());
                }
            };
            let kind = match event.kind {
                EventKind::Publish => 1,
                EventKind::Restore => 2,
                EventKind::Edit => 3,
                EventKind::Delete => 4,
                EventKind::Mark => 5,
                EventKind::Gap => 6,
                EventKind::Suspension => 7,
                EventKind::TakenOff => 8,
            };
            let flags = vec![kind, u8::from(event.broadcast) | u8::from(event.given) << 1];
            let entry = event.entry;
            let rest = key(&[entry.author.get(), entry.cursor.at, entry.cursor.id.get(), event.logged, event.top]);
            let to: Vec<_> = event.to.iter().flat_map(|to| to.iter()).map(|source| source.get()).collect();
            (key(&[*number]), [flags, rest, vec![entry.kind.0], key(&to)].concat())
        };
        newest.map(row).collect()
    }
}
