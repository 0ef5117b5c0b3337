//! Notices: each has its cause. A cause may lack its notice, because notices end with their time.

use super::follows::key;
use super::names::pair;
use super::{Audit, Row, Wanted, Way};
use crate::rows::keys;
use crate::rows::tables::{DELETED, FOLLOWING, NOTICE_MARKERS, NOTICE_MARKERS_AT, NOTICES, REACTIONS, REQUESTS};
use crate::rows::values;
use crate::subjects::notices::read_notice;
use model::error::Result;
use model::store::Tier;
use model::{Content, Notice, NoticeCursor, NoticeKind, UserId};

impl Audit<'_> {
    pub(super) fn notices(&mut self) -> Result<()> {
        self.mirror(NOTICES, Way::Back, |row| {
            let (owner, _) = keys::split_notice(&row.key)?;
            let notice = read_notice(&row.key, &row.value).ok()?;
            let (at, id) = (notice.place.at, notice.place.id);
            let (user, actor) = (owner.get(), id.actor.get());
            if owner == id.actor || id.kind.has_item() != id.item.is_some() {
                return None;
            }
            Some(match id.kind {
                NoticeKind::Follow => vec![Wanted::since(FOLLOWING, key(actor, user), at)],
                NoticeKind::FollowRequest => vec![Wanted::since(REQUESTS, key(actor, user), at)],
                NoticeKind::RequestApproved => vec![Wanted::since(FOLLOWING, key(user, actor), at)],
                NoticeKind::Reaction => {
                    let reaction = keys::reaction(id.item?, id.reaction, id.actor);
                    vec![Wanted::new(REACTIONS, reaction, values::millis(at))]
                }
                NoticeKind::Comment | NoticeKind::Repost | NoticeKind::Mention => Vec::new(),
            })
        })?;
        self.notices_of_items()?;
        self.actors_of_markers()
    }

    /// The actors of the places of markers are found by their rows.
    fn actors_of_markers(&mut self) -> Result<()> {
        self.mirror(NOTICE_MARKERS, Way::Out, |row| {
            // Reported with the records if it cannot be read.
            let actor = values::read_notice_marker(&row.value).ok().and_then(NoticeCursor::actor);
            let wanted = |(actor, user): (UserId, u64)| Wanted::any(NOTICE_MARKERS_AT, key(actor.get(), user));
            Some(actor.zip(keys::number(&row.key)).map(wanted).into_iter().collect())
        })?;
        self.each_batch(NOTICE_MARKERS_AT, |audit, rows| {
            let user = |row: &Row| keys::id(pair(&row.key).map_or(0, |(_, user)| user));
            let markers = audit.store.get_many(NOTICE_MARKERS, rows.iter().map(user), Tier::Disk)?;
            for (row, marker) in rows.iter().zip(markers) {
                let actor = marker.and_then(|row| values::read_notice_marker(&row).ok()).and_then(NoticeCursor::actor);
                if actor.map(UserId::get) != pair(&row.key).map(|(actor, _)| actor) {
                    audit.has(NOTICE_MARKERS_AT, &row.key, ", which does not agree with notice_markers");
                }
            }
            Ok(())
        })
    }

    /// Those of publishes agree with their items, unless these are purged.
    fn notices_of_items(&mut self) -> Result<()> {
        self.each_batch(NOTICES, |audit, rows| {
            let read = |row: &Row| {
                let (owner, _) = keys::split_notice(&row.key)?;
                Some((owner, read_notice(&row.key, &row.value).ok()?))
            };
            let published = |row| read(row).and_then(|(_, notice)| notice.published());
            let items = audit.contents(rows.iter().map(published))?;
            let mut gone = Vec::new();
            for (row, item) in rows.iter().zip(items) {
                let Some((owner, notice)) = read(row) else { continue };
                match (notice.published(), item) {
                    (None, _) => {}
                    (Some(id), None) => gone.push((row, id)),
                    (Some(_), Some(stored)) if is_of(&notice, owner, &stored.content) => {}
                    (Some(_), Some(_)) => audit.has(NOTICES, &row.key, ", which does not agree with content"),
                }
            }
            let deleted = audit.store.get_many(DELETED, gone.iter().map(|(_, id)| keys::id(id.get())), Tier::Disk)?;
            for ((row, _), deleted) in gone.iter().zip(deleted) {
                if deleted.is_none() {
                    audit.has(NOTICES, &row.key, ", but the item does not exist");
                }
            }
            Ok(())
        })
    }
}

/// Whether an item is the cause of a notice of a user.
fn is_of(notice: &Notice, owner: UserId, content: &Content) -> bool {
    let is_same = (content.author, content.published_at) == (notice.place.id.actor, notice.place.at);
    let has_cause = match notice.place.id.kind {
        NoticeKind::Mention => content.mentions.contains(&owner),
        kind => NoticeKind::of_item(content) == notice.on.map(|on| (kind, on)),
    };
    is_same && has_cause && content.audience == notice.audience
}
