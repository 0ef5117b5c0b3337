//! The export of a user: all that the user has, part by part.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::Serialize;

use crate::items::tables::FINAL;
use crate::read::Read;
use crate::{erasure, follows, items, kinds, lists, notices, reactions, users, visibility};
use model::error::{Code, Error, Result};
use model::{
    Audience, COMMENT, Content, ContentId, Cursor, Entry, ExternalId, ExternalNoticeId, ItemView, JsonObject, KindId,
    KindNames, Millis, Notice, NoticeCursor, Order, PageRequest, Position, ReactionKind, Restriction, Rule, Scan, Side,
    Span, UserCursor, UserId, UserList,
};

/// Rows of a list that are read at once.
const ROWS: usize = 256;
/// Items that are read at once: each may be as large as the body of a change.
const ITEMS: usize = 16;

/// A part of an export.
#[derive(Debug)]
pub enum ExportPart {
    /// Things that are no items.
    Lines(Vec<ExportLine>),
    /// Items with their counts, and for each the time of its deletion if it is deleted and not purged.
    Items(Vec<ItemView>, Vec<Option<Millis>>),
}

/// A thing of a user, as it is written.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[allow(missing_docs, reason = "docs/use/api.md has the lines and their fields")]
pub enum ExportLine {
    Profile {
        user_id: ExternalId,
        nickname: Option<String>,
        avatar: Option<String>,
        extra: Option<JsonObject>,
    },
    Settings {
        approve_followers: bool,
        default_audience: Audience,
    },
    Suspension {
        since: Millis,
    },
    Marker {
        cursor: Position<ExternalId>,
    },
    Reaction {
        kind: String,
        content_id: ExternalId,
        author_id: ExternalId,
    },
    Following(ExportedUser),
    Follower(ExportedUser),
    Mute(ExportedUser),
    HiddenFrom(ExportedUser),
    Block(ExportedUser),
    FollowRequest(ExportedUser),
    SentRequest(ExportedUser),
    List {
        list: String,
        title: Option<String>,
        exclusive: bool,
    },
    ListMember {
        list: String,
        #[serde(flatten)]
        member: ExportedUser,
    },
    ListMarker {
        list: String,
        cursor: Position<ExternalId>,
    },
    NoticeMarker {
        cursor: Position<ExternalNoticeId>,
    },
    Notice {
        kind: &'static str,
        at: Millis,
        user_id: ExternalId,
        #[serde(skip_serializing_if = "Option::is_none")]
        reaction: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        content_id: Option<ExternalId>,
        #[serde(skip_serializing_if = "Option::is_none")]
        on: Option<ExternalId>,
    },
    End {},
}

/// Another user, with the rule for it.
#[derive(Debug, Serialize)]
#[allow(missing_docs, reason = "docs/use/api.md has the fields")]
pub struct ExportedUser {
    pub user_id: ExternalId,
    pub since: Millis,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<KindNames>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub except: Option<KindNames>,
}

/// The lists that have the items of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Outbox,
    Comments,
    Unlisted,
}

/// One read of an export: all of one thing, or the next rows of a list, below the last row that was read.
#[derive(Debug)]
enum Step {
    Records,
    Items(Source, Option<Cursor>),
    Reactions(ReactionKind, Option<Cursor>),
    Users(Side, Option<UserCursor>),
    Lists,
    Members(Arc<UserList>, Option<UserCursor>),
    Notices(Option<NoticeCursor>),
    End,
}

/// An export under way. It is not of one instant: what changes meanwhile may be in it or not.
#[derive(Debug)]
pub struct Export {
    host: ExternalId,
    user: UserId,
    steps: VecDeque<Step>,
}

impl Export {
    /// The export of a user, whose id the application writes as `host`.
    pub fn new(host: ExternalId, user: UserId) -> Self {
        Self { host, user, steps: [Step::Records].into() }
    }

    /// The next part, which may be empty; `None` at the end. Takes bounded memory: at most 16 items, or 256 rows. If the
    /// read has a viewer, leaves out reactions to items that the viewer does not see. Fails with `erasing` if the user is
    /// being erased.
    pub fn read_on(&mut self, read: Read<'_>) -> Result<Option<ExportPart>> {
        let Some(step) = self.steps.pop_front() else { return Ok(None) };
        let part = self.take(step, read)?;
        if erasure::tables::is_erasing(&read.feed.store, self.user) {
            return Err(Code::Erasing.into());
        }
        Ok(Some(part))
    }

    fn take(&mut self, step: Step, read: Read<'_>) -> Result<ExportPart> {
        let (user, store) = (self.user, &read.feed.store);
        Ok(ExportPart::Lines(match step {
            Step::Records => {
                let items =
                    [Source::Outbox, Source::Comments, Source::Unlisted].map(|source| Step::Items(source, None));
                let kinds = read.reaction_kinds().iter().map(|(kind, _)| Step::Reactions(kind, None));
                // Friends follow and are followed.
                let sides = Side::all().filter(|side| *side != Side::Friends).map(|side| Step::Users(side, None));
                let rest = [Step::Lists, Step::Notices(None), Step::End];
                self.steps.extend(items.into_iter().chain(kinds).chain(sides).chain(rest));
                self.records(read)?
            }
            Step::Items(source, before) => {
                let places = self.places(read, source, older(before, ITEMS))?;
                self.go_on(&places, ITEMS, |(last, _)| Step::Items(source, Some(*last)));
                let own: Vec<_> = places.iter().filter(|(_, is_own)| *is_own).map(|(place, _)| place.id).collect();
                return self.items(read, &own);
            }
            Step::Reactions(kind, before) => {
                let mut entries = reactions::tables::reacted_by(store, user, kind, older(before, ROWS), read.tier)?;
                self.go_on(&entries, ROWS, |last| Step::Reactions(kind, Some(last.cursor)));
                if let Some(viewer) = read.viewer {
                    let suspended = read.suspended_among(entries.iter().map(|entry| entry.author))?;
                    entries.retain(|entry| !suspended.contains(&entry.author));
                    let mut kept = visibility::kept_from(read, viewer, &entries)?.into_iter();
                    entries.retain(|_| kept.next().flatten().is_none());
                }
                entries.retain(|entry| !erasure::tables::is_erasing(store, entry.author));
                let (entries, ids) = read.named(entries)?;
                let line = |entry: Entry| ExportLine::Reaction {
                    kind: read.reaction_kinds().name(kind).to_owned(),
                    content_id: ids.of(entry.cursor.id),
                    author_id: ids.of(entry.author),
                };
                entries.into_iter().map(line).collect()
            }
            Step::Users(side, before) => {
                let found = follows::tables::members(store, user, side, older(before, ROWS), read.tier)?;
                self.go_on(&found, ROWS, |last| Step::Users(side, Some(*last)));
                let rules = match side {
                    Side::Following | Side::SentRequests => {
                        let users: Vec<_> = found.iter().map(|member| member.id).collect();
                        follows::relations(read, user, &users)?.into_iter().map(|relation| relation.rule).collect()
                    }
                    _ => vec![None; found.len()],
                };
                let line = match side {
                    Side::Following => ExportLine::Following,
                    Side::Followers | Side::Friends => ExportLine::Follower,
                    Side::Restricted(Restriction::Mute) => ExportLine::Mute,
                    Side::Restricted(Restriction::Hide) => ExportLine::HiddenFrom,
                    Side::Restricted(Restriction::Block) => ExportLine::Block,
                    Side::FollowRequests => ExportLine::FollowRequest,
                    Side::SentRequests => ExportLine::SentRequest,
                };
                users(read, found, rules)?.into_iter().map(line).collect()
            }
            Step::Lists => {
                let lists = lists::tables::lists(store, user, read.tier)?.into_iter().rev();
                lists.for_each(|list| self.steps.push_front(Step::Members(Arc::new(list), None)));
                Vec::new()
            }
            Step::Members(list, before) => {
                let found = lists::tables::list_members(store, list.id, older(before, ROWS), read.tier)?;
                self.go_on(&found, ROWS, |last| Step::Members(Arc::clone(&list), Some(*last)));
                let ids: Vec<_> = found.iter().map(|member| member.id).collect();
                let rules = lists::member_rules(read, list.id, &ids)?;
                let mut lines = if before.is_none() { self::list(read, &list)? } else { Vec::new() };
                let line = |member| ExportLine::ListMember { list: list.name.clone(), member };
                lines.extend(users(read, found, rules)?.into_iter().map(line));
                lines
            }
            Step::Notices(before) => {
                let request = PageRequest { span: Span { before, after: None }, limit: ROWS };
                let page = notices::page(read, user, &request, false)?;
                page.next.into_iter().for_each(|next| self.steps.push_front(Step::Notices(Some(next))));
                notices(read, page.items.into_iter().map(|group| group.newest).collect())?
            }
            Step::End => vec![ExportLine::End {}],
        }))
    }

    /// Reads on below the last of these rows, if there may be more.
    fn go_on<T>(&mut self, rows: &[T], most: usize, below: impl FnOnce(&T) -> Step) {
        if let Some(last) = rows.last().filter(|_| rows.len() == most) {
            self.steps.push_front(below(last));
        }
    }

    /// The records of the user.
    fn records(&self, read: Read<'_>) -> Result<Vec<ExportLine>> {
        let (user, settings) = (self.user, users::settings(read, self.user)?);
        let profile = users::user(read, user)?.0;
        let extra = profile.extra.as_deref().map(serde_json::from_str).transpose();
        let mut lines = vec![
            ExportLine::Profile {
                user_id: self.host.clone(),
                nickname: profile.nickname,
                avatar: profile.avatar,
                extra: extra.map_err(|e| Error::Corrupt(format!("profile {}: {e}", self.host)))?,
            },
            ExportLine::Settings {
                approve_followers: settings.approve_followers,
                default_audience: settings.default_audience,
            },
        ];
        lines.extend(users::suspended_since(read, user)?.map(|since| ExportLine::Suspension { since }));
        let (place, ids) = read.named(users::tables::marker(&read.feed.store, user, read.tier)?)?;
        lines.extend(place.map(|place| ExportLine::Marker { cursor: ids.place(place) }));
        let (place, ids) = read.named(notices::marker(read, user)?)?;
        lines.extend(place.map(|place| ExportLine::NoticeMarker { cursor: ids.notice(place) }));
        Ok(lines)
    }

    /// Places in one of the lists, each with whether the item is taken from this list: each own item comes from one list
    /// only.
    fn places(&self, read: Read<'_>, source: Source, scan: Scan<ContentId>) -> Result<Vec<(Cursor, bool)>> {
        let store = &read.feed.store;
        Ok(match source {
            Source::Outbox => {
                let entries = items::tables::outboxes(store, &[self.user], scan, read.tier)?.into_iter();
                let is_own = |entry: &Entry| entry.author == self.user && Some(entry.kind) != KindId::built_in(COMMENT);
                entries.map(|entry| (entry.cursor, is_own(&entry))).collect()
            }
            Source::Comments => {
                let entries = items::tables::user_comments(store, self.user, scan, read.tier)?;
                entries.into_iter().map(|entry| (entry.cursor, true)).collect()
            }
            Source::Unlisted => items::tables::unlisted(store, self.user, scan, read.tier)?
                .into_iter()
                .map(|place| (place, true))
                .collect(),
        })
    }

    /// The items of the user among these, except those that were deleted for good.
    fn items(&self, read: Read<'_>, ids: &[ContentId]) -> Result<ExportPart> {
        let is_kept = |(item, deleted_at): &(Content, _)| item.author == self.user && *deleted_at != Some(FINAL);
        let kept = items::tables::kept(&read.feed.store, ids)?.into_iter().flatten().filter(is_kept);
        let (contents, deleted): (Vec<Content>, Vec<_>) = kept.unzip();
        let shown =
            visibility::with_counts(read, contents.into_iter().map(|content| Arc::new(content.into())).collect())?;
        Ok(ExportPart::Items(shown, deleted))
    }
}

/// The newest rows older than a place.
fn older<I: Copy + Ord>(before: Option<Position<I>>, limit: usize) -> Scan<I> {
    Span { before, after: None }.scan(Order::NewestFirst, limit)
}

/// Users with the rules for them, but for those who are being erased.
fn users(read: Read<'_>, found: Vec<UserCursor>, rules: Vec<Option<Rule>>) -> Result<Vec<ExportedUser>> {
    let (found, ids) = read.named(found)?;
    let users =
        found.into_iter().zip(rules).filter(|(user, _)| !erasure::tables::is_erasing(&read.feed.store, user.id));
    let shown = |(user, rule): (UserCursor, _)| {
        let (only, except) = kinds::rule_names(read, rule)?.fields();
        Ok(ExportedUser { user_id: ids.of(user.id), since: user.at, only, except })
    };
    users.map(shown).collect()
}

/// A list, and its marker.
fn list(read: Read<'_>, list: &UserList) -> Result<Vec<ExportLine>> {
    let (name, settings) = (list.name.clone(), &list.settings);
    let line = ExportLine::List { list: name.clone(), title: settings.title.clone(), exclusive: settings.exclusive };
    let (place, ids) = read.named(lists::tables::list_marker(&read.feed.store, list.id, read.tier)?)?;
    let marker = place.map(|place| ExportLine::ListMarker { list: name, cursor: ids.place(place) });
    Ok([line].into_iter().chain(marker).collect())
}

fn notices(read: Read<'_>, mut notices: Vec<Notice>) -> Result<Vec<ExportLine>> {
    notices.retain(|notice| !erasure::tables::is_erasing(&read.feed.store, notice.place.id.actor));
    let (notices, ids) = read.named(notices)?;
    let line = |notice: Notice| ExportLine::Notice {
        kind: notice.place.id.kind.name(),
        at: notice.place.at,
        user_id: ids.of(notice.place.id.actor),
        reaction: notice.reaction.map(|kind| read.reaction_kinds().name(kind).to_owned()),
        content_id: notice.published().map(|id| ids.of(id)),
        on: notice.subject().map(|id| ids.of(id)),
    };
    Ok(notices.into_iter().map(line).collect())
}
