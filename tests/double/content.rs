//! Content and lists of content, each derived from the live content.

use std::collections::BTreeSet;

use model::error::{Code, Error, Result};
use model::store::{Batch, Contents, FINAL, Kept, Lists, Published, Push, Restored, Tier, Topics, is_deleted_before};
use model::{
    BUILT_IN_KINDS, COMMENT, Content, ContentId, Cursor, Edit, Effect, EffectKind, Entry, Event, ItemCounts, Job,
    KindId, MOST_KINDS, Millis, Moment, Publish, Reach, Scan, Span, TopicId, UserId, Work,
};

use super::{Double, Fault, State, walk};

impl Contents for Double {
    fn publish(&self, items: &[Publish], batch: Batch, push: Push) -> Result<Vec<Published>> {
        let _changing = self.changing();
        let mut state = self.state();
        let known: Vec<_> = items.iter().map(|item| state.published_before(item)).collect();
        if batch == Batch::AllOrNone && known.contains(&Some(Published::Taken)) {
            return Ok(known.into_iter().map(|known| known.unwrap_or(Published::New(Vec::new()))).collect());
        }
        let new = items.iter().zip(&known).filter(|(_, known)| known.is_none());
        state.name_topics(new.map(|(item, _)| &item.content));
        let mut effects = Vec::new();
        let publish = |(item, known): (&Publish, Option<Published>)| {
            known.unwrap_or_else(|| {
                effects.extend(item.effect());
                state.put_event(item.event.clone(), &item.content);
                state.publish(&item.content, push)
            })
        };
        let mut published: Vec<_> = items.iter().zip(known).map(publish).collect();
        state.put_effects(effects);
        drop(state);
        for result in &mut published {
            if let Published::New(jobs) = result {
                jobs.iter_mut().for_each(|job| self.tell(job));
            }
        }
        Ok(published)
    }

    fn give_kinds(&self, kinds: &[&str]) -> Result<Vec<KindId>> {
        let state = &mut *self.state();
        let mut names = state.kind_names();
        let mut ids = Vec::new();
        for kind in kinds {
            let place = names.iter().position(|name| name == kind).unwrap_or_else(|| {
                names.push((*kind).to_owned());
                names.len() - 1
            });
            if place >= MOST_KINDS {
                return Err(Error::refused(Code::TooManyKinds, kind));
            }
            ids.push(KindId(place as u8));
        }
        state.content_kinds = names.split_off(BUILT_IN_KINDS.len());
        Ok(ids)
    }

    fn known_kinds(&self, kinds: &[&str]) -> Result<Vec<Option<KindId>>> {
        let names = self.state().kind_names();
        let of = |kind: &&str| names.iter().position(|name| name == kind).map(|place| KindId(place as u8));
        Ok(kinds.iter().map(of).collect())
    }

    fn kind_names(&self) -> Result<Vec<String>> {
        Ok(self.state().kind_names())
    }

    fn edit(&self, id: ContentId, edit: &Edit, moment: Moment) -> Result<Option<Content>> {
        let _changing = self.changing();
        let mut state = self.state();
        if state.deleted.contains_key(&id) {
            return Ok(None);
        }
        let Some(content) = state.content.get_mut(&id) else { return Ok(None) };
        if let Some(text) = &edit.text {
            content.text.clone_from(text);
        }
        if let Some(media) = &edit.media {
            content.media.clone_from(media);
        }
        if let Some(extra) = &edit.extra {
            content.extra.clone_from(extra);
        }
        content.edited_at = Some(moment.at);
        let content = content.clone();
        state.put_event(moment.event, &content);
        Ok(Some(content))
    }

    fn delete(&self, id: ContentId, moment: Moment) -> Result<bool> {
        let _changing = self.changing();
        Ok(self.state().delete(id, moment))
    }

    fn delete_for_good(&self, id: ContentId, deleted_since: Millis, event: Option<Event>) -> Result<bool> {
        let _changing = self.changing();
        let mut state = self.state();
        let Some(content) = state.content.get(&id).cloned() else { return Ok(false) };
        if state.deleted_before(id, deleted_since) {
            return Ok(false);
        }
        if !state.delete(id, Moment { at: FINAL, event }) {
            state.deleted.insert(id, FINAL);
        }
        let effect = Effect::on(EffectKind::Purged, content.author).item(id).named(content.kind.as_str());
        state.content.insert(id, content.blank());
        state.put_effects([effect]);
        Ok(true)
    }

    fn take_off(&self, id: ContentId, source: UserId, at: Millis, event: &Event) -> Result<bool> {
        let _changing = self.changing();
        let mut state = self.state();
        let Some(content) = state.live(id).cloned() else { return Ok(false) };
        if !content.paths().any(|path| path == source) {
            return Ok(false);
        }
        state.outbox.remove(&(source, content.cursor()));
        state.content.insert(id, content.without_path(source));
        state.taken_off.insert((id, source), at);
        state.log(event.clone());
        Ok(true)
    }

    fn taken_off(
        &self,
        paths: &mut dyn Iterator<Item = (ContentId, UserId)>,
        _: Tier,
    ) -> Result<Vec<(ContentId, UserId)>> {
        let state = self.state();
        Ok(paths.filter(|path| state.taken_off.contains_key(path)).collect())
    }

    fn purge(&self, id: ContentId, deleted_before: Millis) -> Result<bool> {
        let mut state = self.state();
        if let Some((author, ..)) = state.purged.get(&id) {
            let is_erasing = state.erasures.under_way.contains_key(author);
            return Ok(is_erasing && state.purged.remove(&id).is_some());
        }
        let reacted = state.reactions.keys().any(|(item, ..)| *item == id);
        let is_over = state.deleted_before(id, deleted_before) && !reacted;
        let removed = if is_over { state.content.remove(&id) } else { None };
        let purged = removed.is_some();
        if let Some(content) = removed {
            state.notice_purge(&content);
            if !state.erasures.under_way.contains_key(&content.author) {
                let taken_off = state.taken_off.keys().filter(|(item, _)| *item == id).map(|(_, source)| *source);
                let mut sources: BTreeSet<_> = content.to.iter().copied().chain(taken_off).collect();
                sources.remove(&content.author);
                state.purged.insert(id, (content.author, content.cursor(), sources));
            }
            state.taken_off.retain(|(item, _), _| *item != id);
        }
        Ok(purged)
    }

    fn take_id(&self, id: ContentId) -> Result<Option<bool>> {
        let _changing = self.changing();
        let mut state = self.state();
        if state.content.contains_key(&id) {
            return Ok((state.deleted.get(&id) == Some(&FINAL)).then_some(false));
        }
        if state.deleted.contains_key(&id) {
            return Ok(Some(false));
        }
        state.deleted.insert(id, FINAL);
        Ok(Some(true))
    }

    fn restore(&self, id: ContentId, deleted_since: Millis, event: Option<Event>, push: Push) -> Result<Restored> {
        let _changing = self.changing();
        let mut state = self.state();
        let Some(content) = state.content.get(&id).cloned() else { return Ok(Restored::Gone) };
        if state.erasures.under_way.contains_key(&content.author) {
            return Ok(Restored::Gone);
        }
        match state.deleted.get(&id) {
            None => return Ok(Restored::Live(content)),
            Some(deleted_at) if is_deleted_before(*deleted_at, deleted_since) => return Ok(Restored::Gone),
            Some(_) => state.deleted.remove(&id),
        };
        let under_way = &state.erasures.under_way;
        let erasing: Vec<_> = content.to.iter().filter(|source| under_way.contains_key(source)).copied().collect();
        let content = erasing.into_iter().fold(content, Content::without_path);
        state.content.insert(id, content.clone());
        state.put_event(event, &content);
        let mut jobs = state.make_live(&content, push);
        drop(state);
        jobs.iter_mut().for_each(|job| self.tell(job));
        Ok(Restored::Now(content, jobs))
    }

    fn contents(&self, ids: &[ContentId], _: Tier) -> Result<Vec<Option<Content>>> {
        let state = self.state();
        Ok(ids.iter().map(|id| state.live(*id).cloned()).collect())
    }

    fn kept(&self, ids: &[ContentId]) -> Result<Vec<Option<Kept>>> {
        let state = self.state();
        let kept = |id: &ContentId| Some((state.content.get(id)?.clone(), state.deleted.get(id).copied()));
        Ok(ids.iter().map(kept).collect())
    }

    fn deleted(&self, ids: &[ContentId], _: Tier) -> Result<Vec<bool>> {
        let state = self.state();
        Ok(ids.iter().map(|id| state.deleted.contains_key(id)).collect())
    }

    fn item_counts(&self, ids: &[ContentId], _: Tier) -> Result<Vec<ItemCounts>> {
        let state = self.state();
        Ok(ids.iter().map(|id| state.counts_of(*id)).collect())
    }
}

impl Lists for Double {
    fn outboxes(&self, sources: &[UserId], scan: Scan<ContentId>, _: Tier) -> Result<Vec<Entry>> {
        let state = self.state();
        let mut rows: Vec<_> = sources.iter().flat_map(|source| state.outbox_of(*source)).collect();
        // Those of one item by their sources.
        rows.sort_unstable();
        match self.fault {
            Some(Fault::PathsOnce) => rows.dedup_by_key(|entry| entry.cursor),
            Some(Fault::PulledWithoutKind) => rows.iter_mut().for_each(|entry| entry.kind = KindId::POST),
            _ => {}
        }
        Ok(walk(rows.into_iter(), |entry| entry.cursor, scan))
    }

    // There is no archive here.
    fn archive_outbox(&self, _: UserId, _: Cursor, _: usize) -> Result<usize> {
        Ok(0)
    }

    fn comments(&self, subject: ContentId, scan: Scan<ContentId>, _: Tier) -> Result<Vec<Entry>> {
        if self.state().is_purged(subject) {
            return Ok(Vec::new());
        }
        Ok(self.live_comments(|comment| comment.ref_id == Some(subject), scan))
    }

    fn user_comments(&self, author: UserId, scan: Scan<ContentId>, _: Tier) -> Result<Vec<Entry>> {
        Ok(self.live_comments(|comment| comment.author == author, scan))
    }

    fn unlisted(&self, author: UserId, scan: Scan<ContentId>, _: Tier) -> Result<Vec<Cursor>> {
        let state = self.state();
        let unlisted = state.unlisted().map(|(source, item)| (source, item.cursor()));
        let unlisted = unlisted.chain(state.purged_rows());
        let unlisted = unlisted.filter(|(source, _)| *source == author).map(|(_, place)| place);
        Ok(walk(unlisted, |cursor| *cursor, scan))
    }
}

impl Topics for Double {
    fn topic(&self, name: &str, _: Tier) -> Result<Option<TopicId>> {
        Ok(self.state().topics.get(name).copied())
    }

    fn topic_content(&self, topic: TopicId, scan: Scan<ContentId>, depth: usize, _: Tier) -> Result<Vec<Entry>> {
        let state = self.state();
        let newest = walk(state.items_of(topic), |entry| entry.cursor, Span::ALL.newest(depth));
        Ok(walk(newest.into_iter(), |entry| entry.cursor, scan))
    }

    // There is no archive here.
    fn archive_topic(&self, _: TopicId, _: Cursor, _: usize) -> Result<usize> {
        Ok(0)
    }
}

impl Double {
    /// What the caller is told of a new job.
    fn tell(&self, job: &mut Job) {
        if let (Some(Fault::PendingWithoutKind), Work::FanOut { entry }) = (self.fault, &mut job.work) {
            entry.kind = KindId::POST;
        }
    }

    fn live_comments(&self, wanted: impl Fn(&Content) -> bool, scan: Scan<ContentId>) -> Vec<Entry> {
        let state = self.state();
        let live = state.content.values().filter(|content| !state.deleted.contains_key(&content.id));
        let comments = live.filter(|content| content.kind == COMMENT && wanted(content)).map(Content::entry);
        walk(comments, |entry| entry.cursor, scan)
    }
}

impl State {
    /// The items that no list of their author has, and deleted ones also with the sources of their other paths.
    pub(super) fn unlisted(&self) -> impl Iterator<Item = (UserId, &Content)> {
        self.content.values().flat_map(|item| {
            let (is_listed, is_deleted) = (item.broadcast || item.kind == COMMENT, self.deleted.contains_key(&item.id));
            let author = (is_deleted || !is_listed).then_some(item.author);
            let others = item.to.iter().copied().filter(move |_| is_deleted);
            author.into_iter().chain(others).map(move |source| (source, item))
        })
    }

    /// The rows that purged items keep there.
    pub(super) fn purged_rows(&self) -> impl Iterator<Item = (UserId, Cursor)> {
        let rows = |(author, place, sources): &(UserId, Cursor, BTreeSet<UserId>)| {
            let place = *place;
            [*author].into_iter().chain(sources.clone()).map(move |source| (source, place))
        };
        self.purged.values().flat_map(rows)
    }

    /// The content with this id, unless it is deleted.
    pub(super) fn live(&self, id: ContentId) -> Option<&Content> {
        self.content.get(&id).filter(|_| !self.deleted.contains_key(&id))
    }

    pub(super) fn delete(&mut self, id: ContentId, moment: Moment) -> bool {
        let Some(content) = self.live(id).cloned() else { return false };
        content.paths().for_each(|source| _ = self.outbox.remove(&(source, content.cursor())));
        self.deleted.insert(id, moment.at);
        self.put_event(moment.event, &content);
        true
    }

    /// The result of a publish whose id is known; `None` if the id is free.
    fn published_before(&self, item: &Publish) -> Option<Published> {
        if item.id_made {
            return None;
        }
        if self.is_purged(item.content.id) {
            return Some(Published::Taken);
        }
        let there = self.content.get(&item.content.id)?;
        let same = !self.deleted.contains_key(&there.id) && item.repeats(there);
        Some(if same { Published::Same(there.clone()) } else { Published::Taken })
    }

    fn publish(&mut self, content: &Content, push: Push) -> Published {
        self.notice_publish(content);
        self.content.insert(content.id, content.clone());
        self.referring.extend(content.ref_id.map(|subject| (subject, content.id)));
        Published::New(self.make_live(content, push))
    }

    /// Puts an item into the outboxes of its paths, and makes the fan-out jobs unless they are left out.
    fn make_live(&mut self, content: &Content, push: Push) -> Vec<Job> {
        self.outbox.extend(content.entries().map(|entry| ((entry.source, entry.cursor), entry)));
        match push {
            Push::Queued => content.entries().map(|entry| self.add_job(Work::FanOut { entry })).collect(),
            Push::LeftOut => {
                content.entries().for_each(|entry| self.note_unpushed(entry, Reach::Nobody));
                Vec::new()
            }
        }
    }

    /// Whether an item was deleted before a time, and is not purged.
    pub(super) fn deleted_before(&self, id: ContentId, time: Millis) -> bool {
        self.content.contains_key(&id) && self.deleted.get(&id).is_some_and(|at| is_deleted_before(*at, time))
    }

    /// Whether an item is purged.
    pub(super) fn is_purged(&self, id: ContentId) -> bool {
        self.deleted.contains_key(&id) && !self.content.contains_key(&id)
    }

    /// A source's outbox, oldest first.
    pub(super) fn outbox_of(&self, source: UserId) -> impl DoubleEndedIterator<Item = Entry> {
        self.outbox.range((source, Cursor::OLDEST)..=(source, Cursor::NEWEST)).map(|(_, entry)| *entry)
    }
}

impl State {
    /// The names of all kinds of content, in the order of their numbers.
    fn kind_names(&self) -> Vec<String> {
        BUILT_IN_KINDS.map(str::to_owned).into_iter().chain(self.content_kinds.iter().cloned()).collect()
    }

    /// Numbers the topics of new items that have no number yet.
    fn name_topics<'c>(&mut self, new: impl Iterator<Item = &'c Content>) {
        let names: BTreeSet<_> = new.flat_map(|content| &content.topics).collect();
        for name in names {
            let next = TopicId::new(self.topics.len() as u64 + 1).unwrap_or(TopicId::MAX);
            self.topics.entry(name.clone()).or_insert(next);
        }
    }

    /// A topic's live items, in any order.
    fn items_of(&self, topic: TopicId) -> impl Iterator<Item = Entry> {
        let name = self.topics.iter().find(|(_, id)| **id == topic).map(|(name, _)| name);
        let names_it = move |content: &&Content| content.topics.iter().any(|other| Some(other) == name);
        let live = self.content.values().filter(|content| !self.deleted.contains_key(&content.id));
        live.filter(names_it).map(Content::entry)
    }
}
