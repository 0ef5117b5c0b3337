//! Notices, derived from follows, requests and reactions; those of items are made when these are published.

use std::collections::{BTreeMap, BTreeSet};

use model::error::Result;
use model::store::{Notices, Tier};
use model::{
    Audience, COMMENT, Content, ContentId, Effect, EffectKind, Millis, Notice, NoticeCursor, NoticeId, NoticeKind,
    REPOST, ReactionKind, Scan, UserId,
};

use super::digests::{Row, key};
use super::{Double, Fault, State, walk};

#[derive(Debug, Default)]
pub(super) struct Tables {
    /// Those of published items.
    of_items: BTreeMap<(UserId, NoticeCursor), Notice>,
    /// User and followee of follows that began with an approval.
    pub(super) approved: BTreeSet<(UserId, UserId)>,
    markers: BTreeMap<UserId, NoticeCursor>,
    since: Millis,
    fault: Option<Fault>,
}

impl Tables {
    pub(super) fn with(fault: Fault) -> Self {
        Self { fault: Some(fault), ..Self::default() }
    }

    /// The users whose markers are at a notice of an actor.
    pub(super) fn marked_at(&self, actor: UserId) -> impl Iterator<Item = UserId> {
        self.markers.iter().filter(move |(_, place)| place.actor() == Some(actor)).map(|(user, _)| *user)
    }

    /// The actors of the places of markers.
    pub(super) fn marked(&self) -> impl Iterator<Item = UserId> {
        self.markers.values().filter_map(|place| place.actor())
    }

    /// The marker of a user names an actor no more; false if it did not.
    pub(super) fn unmark(&mut self, user: UserId, actor: UserId) -> bool {
        let place = self.markers.get_mut(&user).filter(|place| place.actor() == Some(actor));
        place.map(|place| *place = place.without_actor()).is_some()
    }

    /// Removes all of a user.
    pub(super) fn forget(&mut self, user: UserId) {
        self.markers.remove(&user);
        self.of_items.retain(|(owner, _), _| *owner != user);
    }

    /// An item mentions a user no more.
    pub(super) fn end_mention(&mut self, user: UserId, item: ContentId) {
        let ends = |owner: &UserId, notice: &Notice| {
            *owner == user && notice.place.id.kind == NoticeKind::Mention && notice.published() == Some(item)
        };
        self.of_items.retain(|(owner, _), notice| !ends(owner, notice));
    }

    /// A follow ends.
    pub(super) fn end_approval(&mut self, user: UserId, target: UserId) {
        if self.fault != Some(Fault::ApprovalOutlasts) {
            self.approved.remove(&(user, target));
        }
    }
}

impl Notices for Double {
    fn keep_notices(&self, since: Millis) {
        let mut state = self.state();
        state.notices.since = state.notices.since.max(since);
    }

    fn notices(&self, user: UserId, scan: Scan<NoticeId>, _: Tier) -> Result<Vec<Notice>> {
        let state = self.state();
        let mine = state.all_notices().into_iter().filter(|(owner, _)| *owner == user).map(|(_, notice)| notice);
        Ok(walk(mine, |notice| notice.place, scan))
    }

    fn reaction_byte(&self, kind: ReactionKind) -> Option<u8> {
        let state = self.state();
        state.used_kinds.iter().position(|used| used == state.kinds.name(kind)).map(|byte| byte as u8)
    }

    fn notice_marker(&self, user: UserId, _: Tier) -> Result<Option<NoticeCursor>> {
        Ok(self.state().notices.markers.get(&user).copied())
    }

    fn move_notice_marker(&self, user: UserId, place: NoticeCursor) -> Result<NoticeCursor> {
        let mut state = self.state();
        let present = state.notices.markers.get(&user).copied();
        if let Some(present) = present.filter(|present| *present >= place) {
            return Ok(present);
        }
        state.notices.markers.insert(user, place);
        state.put_effects([Effect::on(EffectKind::NoticeMarkerMoved, user)]);
        Ok(place)
    }
}

impl State {
    /// The notices of a new item.
    pub(super) fn notice_publish(&mut self, content: &Content) {
        let pointing = match content.kind.as_str() {
            COMMENT => Some(NoticeKind::Comment),
            REPOST => Some(NoticeKind::Repost),
            _ => None,
        };
        let author = |on: &ContentId| match self.content.get(on) {
            Some(subject) => Some(subject.author),
            None => self.purged.get(on).map(|(author, ..)| *author),
        };
        let pointing = pointing.zip(content.ref_id);
        let pointing = pointing.and_then(|(kind, on)| Some((author(&on)?, kind, Some(on))));
        let is_twice = self.notices.fault == Some(Fault::MentionTwice);
        let pointing = pointing.filter(|(owner, ..)| is_twice || !content.mentions.contains(owner));
        let mentions = content.mentions.iter().map(|user| (*user, NoticeKind::Mention, None));
        for (owner, kind, on) in pointing.into_iter().chain(mentions) {
            let id = NoticeId::new(kind, content.author, Some(content.id));
            let place = NoticeCursor { at: content.published_at, id };
            if owner != content.author && place.at >= self.notices.since {
                let is_for_all = self.notices.fault == Some(Fault::NoticesForAll);
                let audience = if is_for_all { Audience::Public } else { content.audience };
                let notice = Notice { on, audience, ..Notice::plain(place) };
                self.notices.of_items.insert((owner, place), notice);
            }
        }
    }

    /// The purge of an item. If the author of the item that it is on was erased, that one's notices are gone.
    pub(super) fn notice_purge(&mut self, content: &Content) {
        let is_known =
            |on: &ContentId| self.content.contains_key(on) || self.purged.contains_key(on) || *on == content.id;
        let on_purged = content.ref_id.is_some_and(|on| !is_known(&on));
        let stays = |notice: &Notice| notice.published() != Some(content.id) || (notice.on.is_some() && on_purged);
        self.notices.of_items.retain(|_, notice| stays(notice));
    }

    /// All that are kept, each with its user.
    fn all_notices(&self) -> Vec<(UserId, Notice)> {
        let plain = |at: &Millis, kind, actor: &UserId| {
            Notice::plain(NoticeCursor { at: *at, id: NoticeId::new(kind, *actor, None) })
        };
        let mut all: Vec<_> = self.notices.of_items.iter().map(|((owner, _), notice)| (*owner, *notice)).collect();
        for ((user, target), at) in &self.graph.following {
            all.push((*target, plain(at, NoticeKind::Follow, user)));
            if self.notices.approved.contains(&(*user, *target)) {
                all.push((*user, plain(at, NoticeKind::RequestApproved, target)));
            }
        }
        let requests = self.graph.requests.iter();
        all.extend(requests.map(|((user, target), at)| (*target, plain(at, NoticeKind::FollowRequest, user))));
        for ((item, kind, user), at) in &self.reactions {
            let byte = self.used_kinds.iter().position(|used| used == kind);
            let Some((byte, content)) = byte.zip(self.content.get(item)) else { continue };
            let id = NoticeId { kind: NoticeKind::Reaction, reaction: byte as u8, actor: *user, item: Some(*item) };
            let notice = Notice::plain(NoticeCursor { at: *at, id });
            all.push((content.author, Notice { reaction: self.kinds.named(kind), ..notice }));
        }
        all.retain(|(owner, notice)| *owner != notice.place.id.actor && notice.place.at >= self.notices.since);
        all
    }

    /// The rows that count.
    pub(super) fn notice_rows(&self, is_final: &dyn Fn(&model::ContentId) -> bool) -> [(&'static str, Vec<Row>); 3] {
        let counts = |notice: &Notice| notice.place.id.item.iter().chain(&notice.on).all(|item| !is_final(item));
        let all = self.all_notices().into_iter().filter(|(_, notice)| counts(notice));
        let row = |(owner, notice): (UserId, Notice)| {
            let NoticeId { kind, reaction, actor, item } = notice.place.id;
            let kinds = vec![!(kind as u8), !reaction];
            let ids = key(&[!actor.get(), !item.map_or(0, |item| item.get())]);
            let on = notice.on.map(|on| key(&[on.get()])).unwrap_or_default();
            let flags = if kind.is_published() { vec![u8::from(!notice.audience.is_public())] } else { vec![] };
            ([key(&[owner.get(), !notice.place.at]), kinds, ids].concat(), [flags, on].concat())
        };
        let marker = |(user, place): (&UserId, &NoticeCursor)| {
            let NoticeId { kind, reaction, actor, item } = place.id;
            let ids = key(&[actor.get(), item.map_or(0, |item| item.get())]);
            (key(&[user.get()]), [key(&[place.at]), vec![kind as u8, reaction], ids].concat())
        };
        let markers = self.notices.markers.iter().map(marker);
        let at = self.notices.markers.iter().filter_map(|(user, place)| Some((place.actor()?, *user)));
        let at = at.map(|(actor, user)| (key(&[actor.get(), user.get()]), Vec::new()));
        [
            ("notices", all.map(row).collect()),
            ("notice_markers", markers.collect()),
            ("notice_markers_at", at.collect()),
        ]
    }
}
