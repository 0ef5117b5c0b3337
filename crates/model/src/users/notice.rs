//! Notices: events that concern a user, in a list of the user.

use std::fmt;
use std::str::FromStr;

use crate::ids::id::parse_digits;
use crate::words::words;
use crate::{
    Audience, COMMENT, Content, ContentId, ExternalId, Id, InvalidId, MAX_MILLIS, Placed, Position, REPOST,
    ReactionKind, UserId,
};

words! {
    /// What happened to a user.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum NoticeKind {
        /// The actor follows the user.
        Follow = 1 => "follow",
        /// The actor has asked to follow the user.
        FollowRequest = 2 => "follow_request",
        /// The actor has approved the request of the user, who follows the actor since then.
        RequestApproved = 3 => "request_approved",
        /// The actor has reacted to an item of the user.
        Reaction = 4 => "reaction",
        /// The actor has published a comment on an item of the user.
        Comment = 5 => "comment",
        /// The actor has published a repost of an item of the user.
        Repost = 6 => "repost",
        /// The actor has published an item that mentions the user.
        Mention = 7 => "mention",
    }
}

impl NoticeKind {
    /// The kind with a code.
    pub fn of(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == code)
    }

    /// What a new item is for the author of the item that it refers to; `None` for other items than comments and reposts.
    pub fn of_item(content: &Content) -> Option<(Self, ContentId)> {
        let kind = match content.kind.as_str() {
            COMMENT => Self::Comment,
            REPOST => Self::Repost,
            _ => return None,
        };
        Some((kind, content.ref_id?))
    }

    /// Whether its item is one that the actor has published.
    pub fn is_published(self) -> bool {
        matches!(self, Self::Comment | Self::Repost | Self::Mention)
    }

    /// Whether its notices have an item.
    pub fn has_item(self) -> bool {
        self.is_published() || self == Self::Reaction
    }
}

/// Which notice it is among those of one user and one time; greater is newer. Any combination is valid in a place, whether
/// or not a notice stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NoticeId<U = UserId, C = ContentId> {
    /// What happened.
    pub kind: NoticeKind,
    /// The byte that stands for the kind of the reaction in rows; 0 for other notices.
    pub reaction: u8,
    /// Who did it.
    pub actor: U,
    /// The item of the actor, or for a reaction that of the user.
    pub item: Option<C>,
}

/// The id of a notice, as the application gets and gives it.
pub type ExternalNoticeId = NoticeId<ExternalId, ExternalId>;

/// A place in a list of notices: `"<at>-<kind>-<reaction>-<bytes of the actor>-<actor>-<item>"`.
pub type NoticeCursor = Position<NoticeId>;

impl NoticeId {
    /// The lowest id of all.
    pub const MIN: Self = Self { kind: NoticeKind::Follow, reaction: 0, actor: UserId::MIN, item: None };
    /// The highest id of all.
    pub const MAX: Self =
        Self { kind: NoticeKind::Mention, reaction: u8::MAX, actor: UserId::MAX, item: Some(ContentId::MAX) };
    /// The highest id of all that an application can name. No notice has it: that of a mention has no reaction.
    pub const LAST: Self = Self {
        kind: NoticeKind::Mention,
        reaction: u8::MAX,
        actor: UserId::LAST_NUMBER,
        item: Some(ContentId::LAST_NUMBER),
    };

    /// The id of a notice without a reaction.
    pub fn new(kind: NoticeKind, actor: UserId, item: Option<ContentId>) -> Self {
        Self { kind, reaction: 0, actor, item }
    }

    /// The next higher id; `None` above all items.
    pub fn next(self) -> Option<Self> {
        let item = self.item.map_or(Some(ContentId::MIN), ContentId::next_greater)?;
        Some(Self { item: Some(item), ..self })
    }

    /// Whether it names a user or an item by a name.
    pub fn has_name(self) -> bool {
        self.actor.is_name() || self.item.is_some_and(ContentId::is_name)
    }
}

impl NoticeCursor {
    /// A place at or below every notice of this time and later ones.
    pub fn begin_of(at: u64) -> Self {
        Self { at, id: NoticeId::MIN }
    }

    /// A place above this one, at or below every notice of later times.
    #[must_use]
    pub fn above(self) -> Self {
        if self.at < MAX_MILLIS { Self::begin_of(self.at + 1) } else { self }
    }

    /// Whom it names; `None` for a place that only marks a time.
    pub fn actor(self) -> Option<UserId> {
        (self.id != NoticeId::LAST).then_some(self.id.actor)
    }

    /// The place of a marker here whose actor is erased: all of the same time counts as read.
    #[must_use]
    pub fn without_actor(self) -> Self {
        Self { at: self.at, id: NoticeId::LAST }
    }

    /// A place below this one that an application can name, if nothing of the same time is older.
    #[must_use]
    pub fn below(self) -> Self {
        self.at.checked_sub(1).map_or(self, |at| Self { at, id: NoticeId::LAST })
    }
}

impl fmt::Display for ExternalNoticeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, reaction, actor, item } = self;
        let actor = actor.to_string();
        write!(f, "{}-{reaction}-{}-{actor}-", *kind as u8, actor.len())?;
        item.iter().try_for_each(|item| write!(f, "{item}"))
    }
}

impl Placed for ExternalNoticeId {
    const FORM: &'static str = "<milliseconds>-<kind>-<reaction>-<bytes of the actor>-<actor>-<item>";
    const EXAMPLE: &'static str = "1689089522000-4-0-3-200-32850";
}

impl FromStr for ExternalNoticeId {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let read = || {
            let mut parts = text.splitn(4, '-');
            let mut number = || parts.next().and_then(parse_digits);
            let (kind, reaction, length) = (number()?, number()?, number()?);
            let (actor, item) = parts.next()?.split_at_checked(usize::try_from(length).ok()?)?;
            Some(Self {
                kind: NoticeKind::of(u8::try_from(kind).ok()?)?,
                reaction: u8::try_from(reaction).ok()?,
                actor: actor.parse().ok()?,
                item: match item.strip_prefix('-')? {
                    "" => None,
                    item => Some(item.parse().ok()?),
                },
            })
        };
        read().ok_or(InvalidId)
    }
}

/// A notice of a user, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notice {
    /// Time, kind, actor and item.
    pub place: NoticeCursor,
    /// The kind of a reaction; `None` also for one that is neither taken nor shown any more.
    pub reaction: Option<ReactionKind>,
    /// The item of the user on which the actor has commented or which the actor has reposted.
    pub on: Option<ContentId>,
    /// Who may see the item of the actor.
    pub audience: Audience,
}

impl Notice {
    /// A notice of a user alone.
    pub fn plain(place: NoticeCursor) -> Self {
        Self { place, reaction: None, on: None, audience: Audience::Public }
    }

    /// The item that the actor has published.
    pub fn published(&self) -> Option<ContentId> {
        self.place.id.item.filter(|_| self.place.id.kind.is_published())
    }

    /// The item of the user that it is about.
    pub fn subject(&self) -> Option<ContentId> {
        if self.place.id.kind == NoticeKind::Reaction { self.place.id.item } else { self.on }
    }

    /// Whether neighbours in a list that are so belong together: they are of one kind and about one item.
    pub fn is_like(&self, other: &Self) -> bool {
        let of = |notice: &Self| {
            let NoticeId { kind, reaction, item, .. } = notice.place.id;
            (kind, reaction, notice.subject(), item.filter(|_| kind == NoticeKind::Mention))
        };
        of(self) == of(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_of_notices_round_trip_and_the_rest_is_refused() {
        for good in [
            "1689089522000-1-0-3-200-",
            "1689089522000-4-7-3-200-32850",
            "0-5-0-5-a-b-c-1-2",
            "0-7-0-2-é-0",
            "0-2-0-1---",
        ] {
            let place: Position<ExternalNoticeId> = good.parse().expect(good);
            assert_eq!(place.to_string(), good);
        }
        for bad in [
            "",
            "5-1",
            "5-0-0-1-2-",
            "5-8-0-1-2-",
            "5-1-256-1-2-",
            "5-1-0-2-2-",
            "5-1-0-1-2",
            "5-1-0-0--",
            "5-01-0-1-2-",
            "x-1-0-1-2-",
            "5-1-0-1-é-",
            "5-1-0-99999999999999999999-2-",
            "5-1-0-1-\n-",
        ] {
            assert!(bad.parse::<Position<ExternalNoticeId>>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn codes_and_places_are_in_order() {
        assert!(NoticeKind::ALL.into_iter().all(|kind| NoticeKind::of(kind as u8) == Some(kind)));
        assert_eq!((NoticeKind::of(0), NoticeKind::of(8)), (None, None));
        let place = NoticeCursor::begin_of(5);
        assert!(place.below() < place && place < place.above() && place.above() == NoticeCursor::begin_of(6));
        assert_eq!(NoticeCursor::begin_of(0).below(), NoticeCursor::begin_of(0));
        // That of a follow by the least number, too.
        assert_eq!((place.actor(), place.without_actor().actor()), (Some(UserId::MIN), None));
        assert!(place < place.without_actor() && place.without_actor() < place.above());
    }
}
