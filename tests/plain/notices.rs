//! The notices of a user by their definition, and the pages of them.

use feed::notices::{NoticeGroup, NoticePage};
use model::{
    Audience, COMMENT, Millis, Notice, NoticeCursor, NoticeId, NoticeKind, Order, Page, PageRequest, REPOST,
    ReactionKind, UserId,
};

use super::{AHEAD, Item, Model};

/// Most actors that a group shows.
const MOST_ACTORS: usize = 8;

impl Model {
    /// What the user sees of the notices, newest first: those from a time on. `byte` returns what stands for a kind of
    /// reaction in places.
    pub(crate) fn notices(&self, user: UserId, since: Millis, byte: &dyn Fn(ReactionKind) -> u8) -> Vec<Notice> {
        let mut all = self.notices_of_people(user);
        all.extend(self.notices_of_reactions(user, byte));
        all.extend(self.notices_of_items(user));
        all.retain(|notice| {
            let actor = notice.place.id.actor;
            let is_open = actor != user && !self.suspended.contains_key(&actor) && !self.silences(user, actor);
            is_open && notice.place.at >= since && self.is_about_seen_items(user, notice)
        });
        all.sort_by_key(|notice| std::cmp::Reverse(notice.place));
        all
    }

    fn notices_of_people(&self, user: UserId) -> Vec<Notice> {
        let notice = |kind, actor: &UserId, at: &Millis| {
            Notice::plain(NoticeCursor { at: *at, id: NoticeId::new(kind, *actor, None) })
        };
        let mut all = Vec::new();
        for ((follower, target), at) in &self.follows {
            if *target == user {
                all.push(notice(NoticeKind::Follow, follower, at));
            }
            if *follower == user && self.approved.contains(&(user, *target)) {
                all.push(notice(NoticeKind::RequestApproved, target, at));
            }
        }
        for ((from, _), at) in self.requests.iter().filter(|((_, target), _)| *target == user) {
            all.push(notice(NoticeKind::FollowRequest, from, at));
        }
        all
    }

    fn notices_of_reactions(&self, user: UserId, byte: &dyn Fn(ReactionKind) -> u8) -> Vec<Notice> {
        let of_own = |item: &Item| item.body.author == user;
        let reactions = self.reactions.iter().filter(|((id, ..), _)| self.item(*id).is_some_and(of_own));
        let notice = |((id, kind, actor), at): (&(_, ReactionKind, _), &Millis)| {
            let id = NoticeId { kind: NoticeKind::Reaction, reaction: byte(*kind), actor: *actor, item: Some(*id) };
            Notice { reaction: Some(*kind), ..Notice::plain(NoticeCursor { at: *at, id }) }
        };
        reactions.map(notice).collect()
    }

    fn notices_of_items(&self, user: UserId) -> Vec<Notice> {
        let mut all = Vec::new();
        for (number, Item { id, at, body, audience, .. }) in self.items.iter().enumerate() {
            let kind = match body.kind {
                COMMENT => Some(NoticeKind::Comment),
                REPOST => Some(NoticeKind::Repost),
                _ => None,
            };
            // One that was published before.
            let subject = body.ref_id.and_then(|subject| self.items[..number].iter().find(|item| item.id == subject));
            let pointing = kind.zip(subject.filter(|subject| subject.body.author == user));
            let (kind, on) = match pointing {
                _ if body.mentions.contains(&user) => (NoticeKind::Mention, None),
                Some((kind, subject)) => (kind, Some(subject.id)),
                None => continue,
            };
            let place = NoticeCursor { at: *at, id: NoticeId::new(kind, body.author, Some(*id)) };
            all.push(Notice { on, audience: *audience, ..Notice::plain(place) });
        }
        all
    }

    fn is_about_seen_items(&self, user: UserId, notice: &Notice) -> bool {
        let live = |id: &_| self.item(*id).is_some_and(|item| !item.deleted);
        let is_for = notice.audience == Audience::Public
            || notice.published().and_then(|id| self.item(id)).is_some_and(|item| self.is_for(user, item));
        is_for && notice.place.id.item.iter().chain(&notice.on).all(live)
    }
}

/// The page of a complete list of notices, which is newest first. A page upwards ends below those whose times have not come.
/// If another page begins with some of them, its `prev` is below these, or, without other notices, where the clock is: `prev`
/// if that is possible.
pub(crate) fn notice_page(
    list: &[Notice],
    request: &PageRequest<NoticeId>,
    grouped: bool,
    prev: Option<NoticeCursor>,
) -> NoticePage {
    let (before, after) = (request.span.before, request.span.after);
    let upwards = request.order() == Order::OldestFirst;
    let is_within = |notice: &Notice| request.span.contains(notice.place) && (!upwards || notice.place.at < AHEAD);
    let within: Vec<_> = list.iter().copied().filter(is_within).collect();
    let mut items = groups(&within, grouped);
    let all = items.len();
    if upwards {
        items.drain(..all.saturating_sub(request.limit));
    }
    items.truncate(request.limit);
    let last = items.last().map(|group| group.oldest);
    let next = match upwards {
        true => last.or(after.map(NoticeCursor::above)).filter(|end| list.iter().any(|notice| notice.place < *end)),
        false => last.filter(|_| all > request.limit),
    };
    let places = || items.iter().map(|group| group.newest.place);
    let first = places().next().or(after).or(before.map(NoticeCursor::below));
    let prev = match first.filter(|first| first.at >= AHEAD && !upwards) {
        None => first,
        Some(_) => {
            let newest = list.iter().map(|notice| notice.place.at).find(|at| *at < AHEAD);
            let lowest = newest.map(|at| NoticeCursor::begin_of(at).below());
            let now = prev.filter(|prev| prev.at < AHEAD && Some(*prev) >= lowest);
            places().find(|place| place.at < AHEAD).or(after).or(now)
        }
    };
    Page { items, next, prev }
}

/// The page of a complete list that a read may answer which stops after some rows: the page up to that place.
pub(crate) fn notice_page_to_a_stop(
    list: &[Notice],
    request: &PageRequest<NoticeId>,
    grouped: bool,
    is: &NoticePage,
) -> NoticePage {
    let whole = notice_page(list, request, grouped, is.prev);
    let upwards = request.order() == Order::OldestFirst;
    let begins = if upwards { request.span.after } else { request.span.before };
    let stop = if upwards { is.prev } else { is.next };
    // The place lies beyond where the walk began.
    let is_beyond = |stop: &NoticeCursor| begins.is_none_or(|begins| (*stop > begins) == upwards && *stop != begins);
    let Some(stop) = stop.filter(is_beyond).filter(|_| whole != *is) else { return whole };
    let is_within = |notice: &&Notice| if upwards { notice.place <= stop } else { notice.place >= stop };
    let within: Vec<_> = list.iter().filter(is_within).copied().collect();
    let all: Vec<_> = within.iter().copied().filter(|notice| request.span.contains(notice.place)).collect();
    if groups(&all, grouped).len() > request.limit {
        return whole;
    }
    let page = notice_page(&within, request, grouped, is.prev);
    match upwards {
        // The look for older ones may have stopped, too.
        true => {
            let lowest = page.items.last().map(|group| group.oldest).or(begins.map(NoticeCursor::above));
            Page { prev: Some(stop), next: page.next.or(is.next.filter(|next| Some(*next) == lowest)), ..page }
        }
        false => Page { next: Some(stop), ..page },
    }
}

/// Neighbours that belong together, or each notice alone.
fn groups(list: &[Notice], grouped: bool) -> Vec<NoticeGroup> {
    let group = |part: &[Notice]| {
        let mut actors: Vec<UserId> = Vec::new();
        for Notice { place, .. } in part {
            if !actors.contains(&place.id.actor) {
                actors.push(place.id.actor);
            }
        }
        actors.truncate(MOST_ACTORS);
        NoticeGroup { newest: part[0], oldest: part[part.len() - 1].place, count: part.len(), actors }
    };
    list.chunk_by(|one, next| grouped && one.is_like(next)).map(group).collect()
}
