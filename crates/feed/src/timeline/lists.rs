//! Lists of content and of users, other than the home timeline.

use super::read::Read;
use super::segment::{LAST_MORE, fill, leads_on};
use model::error::{Code, Result};
use model::{
    ContentId, ContentPage, Entry, ListId, Millis, Order, PageRequest, ReactionKind, Relation, Rule, Scan, Scanned,
    Side, Span, UserCursor, UserId, UserList, UserPage,
};

/// Entries of lists of users that are less than this ahead of the clock count as come, milliseconds: where many entries come
/// to one list within a millisecond, their times run ahead of the clock.
pub(crate) const NEAR: Millis = 5_000;

/// A list of users, ordered by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum EntryList {
    /// One side of the graph around a user.
    Of(UserId, Side),
    /// The members of a list that a user keeps.
    Members(ListId),
    /// The users with a reaction to an item.
    Reactors(ContentId, ReactionKind),
}

impl Read<'_> {
    /// A page of a user's own content.
    pub fn outbox(&self, author: UserId, request: &PageRequest<ContentId>) -> Result<ContentPage> {
        self.list_of(author, request, |scan| self.feed.store.outboxes(&[author], scan, self.tier))
    }

    /// A page of a topic's content: the newest `topics.limit` items that name it. Empty if none does.
    pub fn topic(&self, name: &str, request: &PageRequest<ContentId>) -> Result<ContentPage> {
        let (store, depth) = (&self.feed.store, self.feed.config.topics.limit);
        let topic = store.topic(name, self.tier)?;
        self.list(request, |scan| match topic {
            Some(topic) => store.topic_content(topic, scan, depth, self.tier),
            None => Ok(Vec::new()),
        })
    }

    /// A page of the comments on an item, which is that of [`Read::find_live`].
    pub fn comments(&self, subject: ContentId, request: &PageRequest<ContentId>) -> Result<ContentPage> {
        self.list(request, |scan| self.feed.store.comments(subject, scan, self.tier))
    }

    /// A page of the comments that a user made.
    pub fn user_comments(&self, author: UserId, request: &PageRequest<ContentId>) -> Result<ContentPage> {
        self.list_of(author, request, |scan| self.feed.store.user_comments(author, scan, self.tier))
    }

    /// A page of the own page of a source, or of the comments of an author; empty if the viewer sees nothing of the user.
    fn list_of(
        &self,
        user: UserId,
        request: &PageRequest<ContentId>,
        scan: impl Fn(Scan<ContentId>) -> Result<Vec<Entry>>,
    ) -> Result<ContentPage> {
        let is_seen = self.sees_user(user)?;
        self.list(request, |part| if is_seen { scan(part) } else { Ok(Vec::new()) })
    }

    /// A page of the live content that a user reacted to and the viewer sees, newest content first. Empty if another viewer
    /// sees nothing of the user.
    pub fn reacted_by(
        &self,
        user: UserId,
        kind: ReactionKind,
        request: &PageRequest<ContentId>,
    ) -> Result<ContentPage> {
        let is_seen = self.viewer == Some(user) || self.sees_user(user)?;
        let all = |scan| match is_seen {
            true => self.feed.store.reacted_by(user, kind, scan, self.tier),
            false => Ok(Vec::new()),
        };
        let seen = |scan| fill(scan, self.feed.config.timeline.look_at, &|part| self.seen_segment(part, &all));
        let page = ContentPage::read(request, |entry| entry.cursor, seen);
        page.map(|mut page| {
            page.items.iter_mut().for_each(|entry| *entry = Entry::plain(entry.cursor, entry.author));
            page
        })
    }

    /// A page of the users who reacted to an item, which is that of [`Read::find_live`], without those of whom the viewer sees
    /// nothing.
    pub fn reactors(&self, id: ContentId, kind: ReactionKind, request: &PageRequest<UserId>) -> Result<UserPage> {
        let all = |scan| self.feed.store.reactors(id, kind, scan, self.tier);
        self.user_page(request, |scan| self.seen_users(scan, all, |users| self.unseen_users(users)))
    }

    /// A page of a list of users. Entries whose time has not come are on no page upwards, and `prev` lies below them: others
    /// with the server's time may still come there.
    fn user_page(
        &self,
        request: &PageRequest<UserId>,
        scan: impl Fn(Scan<UserId>) -> Result<Scanned<UserCursor, UserId>>,
    ) -> Result<UserPage> {
        let open = UserCursor { at: self.time_that_has_come() + NEAR, id: UserId::MIN };
        let come = |part: Scan<UserId>| match part.order {
            Order::OldestFirst => Scan { span: part.span.older_than(open), ..part },
            Order::NewestFirst => part,
        };
        let mut page = UserPage::read(request, |place| *place, |part| scan(come(part)))?;
        if request.order() == Order::NewestFirst && page.prev.is_some_and(|prev| prev >= open) {
            let newest = scan(Span::ALL.older_than(open).newest(1))?;
            page.prev = newest.stopped.or(newest.found.first().copied()).or(Some(UserCursor::OLDEST));
        }
        Ok(page)
    }

    /// The users of a scan over a list of whom the viewer sees something. `all` returns those of the whole list, as many as
    /// asked for, or all. Stops behind many unseen ones, as lists of content do.
    fn seen_users(
        &self,
        scan: Scan<UserId>,
        all: impl Fn(Scan<UserId>) -> Result<Vec<UserCursor>>,
        unseen_among: impl Fn(std::vec::IntoIter<UserId>) -> Result<Vec<UserId>>,
    ) -> Result<Scanned<UserCursor, UserId>> {
        let (mut found, mut rest, mut more, mut looked_at): (Vec<UserCursor>, _, _, _) =
            (Vec::new(), scan, scan.limit, 0);
        loop {
            let mut part = all(rest)?;
            let end = part.last().copied().filter(|_| part.len() >= rest.limit);
            looked_at += part.len();
            let unseen = unseen_among(part.iter().map(|place| place.id).collect::<Vec<_>>().into_iter())?;
            part.retain(|place| !unseen.contains(&place.id));
            found.extend(part);
            found.truncate(scan.limit);
            let Some(end) = end.filter(|_| found.len() < scan.limit) else { return Ok(found.into()) };
            let stopped = leads_on(end, found.last().copied(), scan.order);
            if looked_at >= self.feed.config.timeline.look_at && scan.span.contains(stopped) {
                return Ok(Scanned { found, stopped: Some(stopped) });
            }
            // Behind many unseen ones: more at a time, on a thread that may block.
            self.needs_disk()?;
            more = (2 * more).min(LAST_MORE);
            rest = scan.beyond(end, more);
        }
    }

    /// A page of one side of the graph around a user; empty for a viewer who may not see it. A viewer who is another user sees
    /// only those there of whom it sees something.
    pub fn members(&self, user: UserId, side: Side, request: &PageRequest<UserId>) -> Result<UserPage> {
        let (is_seen, is_of_another) = (self.sees_members(user)?, self.viewer.is_some_and(|viewer| viewer != user));
        let all = |scan| self.feed.store.members(user, side, scan, self.tier);
        let scan = |scan| match is_seen {
            true if is_of_another => self.seen_users(scan, all, |users| self.unseen_users(users)),
            true => self.left_users(scan, all),
            false => Ok(Vec::new().into()),
        };
        self.user_page(request, scan)
    }

    /// The users of a scan over a list, but for those who are being erased.
    fn left_users(
        &self,
        scan: Scan<UserId>,
        all: impl Fn(Scan<UserId>) -> Result<Vec<UserCursor>>,
    ) -> Result<Scanned<UserCursor, UserId>> {
        let store = &self.feed.store;
        if !store.has_erasures() {
            return all(scan).map(Scanned::from);
        }
        self.seen_users(scan, all, |users| Ok(users.filter(|user| store.is_erasing(*user)).collect()))
    }

    /// A list of a user by its name; `list_not_found`.
    pub fn list_named(&self, user: UserId, name: &str) -> Result<UserList> {
        self.feed.store.list(user, name, self.tier)?.ok_or_else(|| Code::ListNotFound.into())
    }

    /// All lists of a user, by their names.
    pub fn lists_of_user(&self, user: UserId) -> Result<Vec<UserList>> {
        self.feed.store.lists(user, self.tier)
    }

    /// A page of the members of a list.
    pub fn list_members(&self, list: ListId, request: &PageRequest<UserId>) -> Result<UserPage> {
        let all = |scan| self.feed.store.list_members(list, scan, self.tier);
        self.user_page(request, |scan| self.left_users(scan, all))
    }

    /// The rules of members of a list, in their order; `None` for one that shows all kinds.
    pub fn member_rules(&self, list: ListId, members: &[UserId]) -> Result<Vec<Option<Rule>>> {
        let memberships = self.feed.store.memberships(list, members, self.tier)?.into_iter();
        Ok(memberships.map(|membership| membership.and_then(|membership| membership.rule)).collect())
    }

    /// The relations of a user to `targets`, in their order.
    pub fn relations(&self, user: UserId, targets: &[UserId]) -> Result<Vec<Relation>> {
        self.feed.store.relations(user, targets, self.tier)
    }
}
