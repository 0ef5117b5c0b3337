//! The items that a user may see, also outside of the own timeline.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::Feed;
use crate::timeline::segment::{Segment, fill_page};
use model::error::{Error, Result};
use model::store::Tier;
use model::{ContentId, Entry, HostId, Order, Span, UserId};

/// Most entries of a segment that are compared with the authors who hide, in a read from memory.
const MOST_AT_ONCE: usize = 128;

/// The items that exist for the caller who reacts, or reads the reactions of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Visibility {
    /// All live items: the application calls, which shows its users more than timelines.
    #[serde(rename = "all")]
    Application,
    /// The items that the user may see: the user calls.
    #[serde(rename = "own")]
    User,
}

impl Feed {
    /// The ids in the store of an item to which a user reacts, and of the user. With [`Visibility::User`],
    /// `content_not_found` for every item but the user's own live ones, and live broadcast items of authors who do not
    /// hide from the user. With [`Visibility::Application`] only for a name that no change has mentioned; `invalid_id` as in
    /// [`Feed::find`].
    pub fn find_item(
        &self,
        item: &HostId,
        user: &HostId,
        sight: Visibility,
        tier: Tier,
    ) -> Result<(ContentId, UserId)> {
        if sight == Visibility::Application {
            return Ok((self.find_content(item, tier)?, self.find(user, tier)?));
        }
        // No refusal of a name comes before: it would tell which names the server knows.
        let (item, user) = (self.known(item, tier)?, self.known(user, tier)?);
        if self.may_see(user, item, tier)? { Ok((item, user)) } else { Err(Error::content_not_found()) }
    }

    /// `invalid_id` for the name of another user in a call of a user, while the server accepts only numbers. Names that
    /// the server knows are refused like others: otherwise the answer would tell which it knows.
    pub fn may_name<'i>(
        &self,
        user: &HostId,
        others: impl IntoIterator<Item = &'i HostId>,
        sight: Visibility,
    ) -> Result<()> {
        let mut names = others.into_iter().filter(|other| sight == Visibility::User && other.name().is_some());
        names.find(|name| *name != user).map_or(Ok(()), |name| self.accepts(name))
    }

    /// Whether an item exists for a user who calls.
    pub(crate) fn may_see(&self, user: UserId, item: ContentId, tier: Tier) -> Result<bool> {
        let Some(content) = self.contents(&[item], tier)?.pop() else { return Ok(false) };
        let is_open = || Ok(content.broadcast && self.store.hiders_among(user, &[content.author], tier)?.is_empty());
        if content.author == user { Ok(true) } else { is_open() }
    }

    /// The first `limit` entries of a list within `span` whose authors do not hide from a user. `first` returns as many
    /// as asked for, or all.
    pub(crate) fn unhidden(
        &self,
        user: UserId,
        span: Span<ContentId>,
        order: Order,
        limit: usize,
        tier: Tier,
        first: impl Fn(Span<ContentId>, Order, usize) -> Result<Vec<Entry>>,
    ) -> Result<Vec<Entry>> {
        let segment = |span, order, n| Ok(Segment::of(first(span, order, n)?, n));
        fill_page(span, order, limit, &segment, |entries| {
            // Behind many hidden items: on a thread that may block.
            if tier == Tier::Memory && entries.len() >= MOST_AT_ONCE {
                return Err(Error::NotCached);
            }
            let authors: HashSet<_> = entries.iter().map(|entry| entry.author).collect();
            let authors: Vec<_> = authors.into_iter().collect();
            let hiders: HashSet<_> = self.store.hiders_among(user, &authors, tier)?.into_iter().collect();
            Ok(entries.iter().map(|entry| hiders.contains(&entry.author)).collect())
        })
    }
}
