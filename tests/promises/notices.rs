//! Notices: pages, unread counts and markers, each compared with the model.

use feed::{MoveNoticeMarker, Visibility, notices};
use model::{
    ExternalNoticeId, Millis, Notice, NoticeCursor, NoticeId, NoticeKind, PageRequest, Position, Span, Unread, UserId,
};

use super::case::Case;
use super::change::{clock, expect_code};
use super::hosts::New;
use super::names::{USERS, id};
use super::ops::{Ask, Place, WHOLE};
use super::read::read_any;
use crate::plain::notices::{notice_page, notice_page_to_a_stop};

impl Case {
    /// What a user sees now.
    fn notices(&self, user: UserId) -> Vec<Notice> {
        // Only the store knows what stands for a kind.
        let byte = |kind| feed::notices::tables::reaction_byte(self.system.store(), kind).unwrap_or(u8::MAX);
        self.model.notices(user, self.notices_since(), &byte)
    }

    /// No notice is between this time and that at which the server ends them: times are of now, of long ago or of never.
    fn notices_since(&self) -> Millis {
        match self.system.config.notices.keep.as_millis() {
            0 => Millis::MAX,
            keep => clock().saturating_sub(keep),
        }
    }

    /// A place among the notices of a user, as the host names it.
    fn notice_place(&self, whole: &[Notice], wanted: Place) -> Position<ExternalNoticeId> {
        match wanted {
            Place::Of(index) if !whole.is_empty() => {
                let NoticeCursor { at, id } = whole[index % whole.len()].place;
                let NoticeId { kind, reaction, actor, item } = id;
                let item = item.map(|item| self.hosts.back(item));
                Position { at, id: NoticeId { kind, reaction, actor: self.hosts.back(actor), item } }
            }
            Place::Of(_) => self.notice_place(whole, Place::At(3, 1)),
            Place::At(at, number) => {
                let kind = NoticeKind::ALL[number as usize % NoticeKind::ALL.len()];
                let actor = self.hosts.host(USERS[number as usize % USERS.len()]);
                let item = (number % 3 > 0).then(|| self.hosts.host(id(number)));
                Position { at, id: NoticeId { kind, reaction: (number % 2) as u8, actor, item } }
            }
        }
    }

    /// The place in the store; `None` if a name in it is unknown.
    fn known_notice(
        &self,
        place: &Position<ExternalNoticeId>,
        of_unknown: fn(NoticeCursor) -> NoticeCursor,
    ) -> Option<NoticeCursor> {
        let NoticeId { kind, reaction, actor, item } = &place.id;
        let actor = self.hosts.place(&Position { at: 0, id: actor.clone() }).map(|place| place.id);
        let item = match item {
            Some(item) => Some(self.hosts.place(&Position { at: 0, id: item.clone() })?.id),
            None => None,
        };
        let end = NoticeCursor { at: place.at, id: NoticeId::LAST };
        let of = |actor| Position { at: place.at, id: NoticeId { kind: *kind, reaction: *reaction, actor, item } };
        Some(actor.map_or_else(|| of_unknown(end), of))
    }

    /// A page of the notices of a user, and the count of unread ones.
    pub(crate) fn read_notices(&self, raw: u64, ask: &Ask, grouped: bool) -> Result<(), String> {
        let (feed, host, user) = (&self.system.feed, self.hosts.host(raw), self.hosts.user(raw));
        let whole = self.notices(user);
        let bound = |place: Option<Place>| place.map(|place| self.notice_place(&whole, place));
        let span = Span { before: bound(ask.before), after: bound(ask.after) };
        let answer = read_any(ask.inline, |tier| {
            let read = feed.read().within(tier);
            let request = PageRequest { span: span.clone(), limit: ask.limit };
            let page = notices::page(
                read,
                read.find(&host)?,
                &notices::find_span(read, &request, Visibility::Application)?,
                grouped,
            )?;
            let places: Vec<_> = [page.next, page.prev].into_iter().flatten().collect();
            let mentioned = (page.items.iter().map(|group| group.newest).collect::<Vec<_>>(), places);
            let ids = read.host_ids(&mentioned)?;
            Ok((page, mentioned, ids))
        });
        let begin = |end: NoticeCursor| NoticeCursor::begin_of(end.at).below();
        let before = span.before.as_ref().map(|place| self.known_notice(place, |end| end));
        let after = span.after.as_ref().map(|place| self.known_notice(place, begin));
        if [before, after].contains(&Some(None)) {
            return expect_code(&answer.err().ok_or("a page at an unknown cursor")?, "unknown_cursor");
        }
        let (is, mentioned, ids) = answer.map_err(|e| format!("a read fails: {e}"))?;
        self.hosts.shows(&mentioned, &ids)?;
        let request = PageRequest { span: Span { before: before.flatten(), after: after.flatten() }, limit: ask.limit };
        let should_be = match self.may_stop() {
            true => notice_page_to_a_stop(&whole, &request, grouped, &is),
            false => notice_page(&whole, &request, grouped, is.prev),
        };
        ensure_eq!(is, should_be, "notices of {user}, {request:?}");
        self.read_unread_notices(raw, &whole)
    }

    fn read_unread_notices(&self, raw: u64, whole: &[Notice]) -> Result<(), String> {
        let (feed, host, user) = (&self.system.feed, self.hosts.host(raw), self.hosts.user(raw));
        let read = |tier| {
            let read = feed.read().within(tier);
            let user = read.find(&host)?;
            Ok((notices::marker(read, user)?, notices::unread(read, user)?))
        };
        let (marker, unread): (_, Unread) = read_any(true, read).map_err(|e| format!("a read fails: {e}"))?;
        ensure_eq!(marker, self.model.notice_markers.get(&user).copied(), "marker of the notices of {user}");
        let count = whole.iter().filter(|notice| Some(notice.place) > marker).count();
        self.unread_is(unread, count, format_args!("notices that {user} has not read"))
    }

    /// Moves the marker of notices, or tries to move it back.
    pub(crate) fn mark_notices(&mut self, raw: u64, wanted: Place) -> Result<(), String> {
        let (host, whole) = (self.hosts.host(raw), self.notices(self.hosts.user(raw)));
        let (place, began) = (self.notice_place(&whole, wanted), self.earliest());
        let answer = self.system.feed.submit(MoveNoticeMarker {
            user: host.clone(),
            place: place.clone(),
            visibility: Visibility::Application,
        });
        self.expect_taken(&answer)?;
        let Some(place) = self.known_notice(&place, |end| end) else {
            self.learn([&host], New::None)?;
            return expect_code(&answer.err().ok_or("a marker of an unknown cursor")?, "unknown_cursor");
        };
        self.learn([&host], if answer.is_ok() { New::All } else { New::Some })?;
        let stands = whole.iter().any(|notice| notice.place == place);
        if self.is_ahead(place.at) && !stands {
            return match answer {
                Err(error) => expect_code(&error, "time_ahead"),
                Ok(there) => Err(format!("a marker of notices moves ahead, to {there:?}")),
            };
        }
        let answer = answer.map_err(|e| format!("a marker of notices fails: {e}"))?;
        let (user, ended) = (self.hosts.user(raw), self.latest());
        let present = self.model.notice_markers.get(&user).copied();
        let then = |place: NoticeCursor| present.map_or(place, |present| place.max(present));
        // One ahead of the clock is that of the present time.
        let now = then(NoticeCursor::begin_of((answer.at + 1).clamp(began, ended)).below());
        let is_cut = !stands && (place.at > ended || (place.at > began && answer == now));
        let expected = if is_cut { now } else { then(place) };
        ensure_eq!(answer, expected, "marker of the notices of {user}");
        self.model.notice_markers.insert(user, expected);
        self.shows(&answer)
    }

    /// All notices of a user, grouped and not, and by small pages.
    pub(crate) fn read_all_notices(&self, raw: u64) -> Result<(), String> {
        for grouped in [false, true] {
            self.read_notices(raw, &WHOLE, grouped)?;
            self.read_notices(raw, &Ask { limit: 2, inline: true, ..WHOLE }, grouped)?;
            self.read_notices(raw, &Ask { limit: 3, after: Some(Place::Of(usize::MAX)), ..WHOLE }, grouped)?;
        }
        Ok(())
    }
}
