//! Changes and reads of reactions, each compared with the model.

use feed::{Read, Visibility, reactions, visibility};
use model::{ContentId, Cursor, Entry, ExternalId, PageRequest, Reacted, Reaction, ReactionKind, Reactions, Span};

use super::case::Case;
use super::change::{expect_code, expect_not_found};
use super::names::USERS;
use super::ops::{Ask, WHOLE};
use super::read::{read, read_any};
use crate::plain::{page, page_to_a_stop, user_page};

/// A requested reaction: user, kind, and its time or `None` to remove it.
pub(crate) type Wish = (u64, ReactionKind, Option<u64>);

impl Case {
    /// One wish, or concurrent ones of different users or kinds.
    pub(crate) fn react(&mut self, index: usize, wishes: &[Wish]) -> Result<(), String> {
        let Some(item) = self.nth(index) else { return Ok(()) };
        let (id, live) = (item.id, self.model.is_shown(&item));
        let (feed, host) = (&self.system.feed, self.hosts.back(id));
        let hosts: Vec<_> = wishes.iter().map(|(who, ..)| self.hosts.host(*who)).collect();
        let react = |who: &ExternalId, kind, since: Option<u64>| {
            let (user, kind) = (who.clone(), feed.reaction_kinds().name(kind).to_owned());
            let wish = feed::ReactionRequest {
                user,
                kind,
                active: since.is_some(),
                since,
                visibility: Visibility::Application,
            };
            reactions::react(feed, host.clone(), wish)
        };
        let wished = wishes.iter().zip(&hosts);
        let answers: Vec<_> = match wishes {
            [(_, kind, since)] => vec![react(&hosts[0], *kind, *since)],
            _ => std::thread::scope(|threads| {
                let start = |((_, kind, since), who): (&Wish, _)| {
                    let (react, kind, since) = (&react, *kind, *since);
                    threads.spawn(move || react(who, kind, since))
                };
                let started: Vec<_> = wished.map(start).collect();
                started.into_iter().map(|thread| thread.join().expect("no panic")).collect()
            }),
        };
        self.hosts.learn_in_any_order(self.system.feed.store(), &hosts)?;
        let reaction = |(who, kind, since): &Wish| Reaction { user: self.hosts.user(*who), kind: *kind, since: *since };
        let wishes: Vec<_> = wishes.iter().map(reaction).collect();
        for (&Reaction { user, kind, since: wanted }, answer) in wishes.iter().zip(answers) {
            match answer {
                Err(error) if wanted.is_some_and(|since| self.is_ahead(since)) => {
                    expect_code(&error, "time_ahead")?;
                    continue;
                }
                answer if !live => {
                    expect_not_found(answer)?;
                    continue;
                }
                _ => {}
            }
            ensure!(wanted.is_none_or(|since| !self.is_ahead(since)), "a reaction with a time to come: {answer:?}");
            let Reacted { since, changed, counts } = answer.map_err(|e| format!("a reaction fails: {e}"))?;
            let before = self.model.reactions.get(&(id, kind, user)).copied();
            let after = wanted.map(|wanted| before.unwrap_or(wanted));
            ensure_eq!((since, changed), (after, after != before), "{kind:?} of {id} by {user}");
            match after {
                Some(since) => self.model.reactions.insert((id, kind, user), since),
                None => self.model.reactions.remove(&(id, kind, user)),
            };
            if wishes.len() == 1 {
                ensure_eq!(counts.reactions, self.model.reaction_counts(id), "counts of {id}, answered");
            }
        }
        if live { self.read_reaction_counts(id) } else { Ok(()) }
    }

    fn read_reaction_counts(&self, id: ContentId) -> Result<(), String> {
        let counts = read(true, |tier| feed::items::tables::item_counts(self.system.store(), &[id], tier))?.remove(0);
        ensure_eq!(counts.reactions, self.model.reaction_counts(id), "counts of {id}");
        Ok(())
    }

    /// The users who reacted to an item.
    pub(crate) fn read_reactors(&self, index: usize, kind: ReactionKind, ask: &Ask) -> Result<(), String> {
        let Some(item) = self.nth(index) else { return Ok(()) };
        let id = item.id;
        let viewer = self.viewer(ask);
        let mut whole = self.model.reactors(id, kind);
        whole.retain(|place| self.model.sees_user(viewer, place.id));
        let request = ask.request(|wanted| self.member(&whole, wanted));
        let host = self.hosts.back(id);
        let list = |read: Read<'_>, request: &_| {
            let read = self.seen(read, ask)?;
            reactions::reactors(read, visibility::find_live(read, &host)?, kind, request)
        };
        if !self.model.finds(viewer, &item) {
            return expect_not_found(list(self.system.feed.read(), &PageRequest { span: Span::ALL, limit: ask.limit }));
        }
        let Some((request, is)) = self.page(ask.inline, &request, list)? else { return Ok(()) };
        let should_be = user_page(&whole, &request);
        ensure_eq!(is, should_be, "{kind:?} of {id}, {request:?}");
        self.read_reaction_counts(id)
    }

    /// The items that a user reacted to, and the user's flags on all items.
    pub(crate) fn read_reacted_by(&self, raw: u64, kind: ReactionKind, ask: &Ask) -> Result<(), String> {
        let (host, me) = (self.hosts.host(raw), self.hosts.user(raw));
        for ask in [ask, &Ask { viewer: Some(raw), ..*ask }] {
            let viewer = self.viewer(ask);
            let list = |read: Read<'_>, request: &_| {
                reactions::reacted_by(self.seen(read, ask)?.of_kinds(&ask.kinds())?, read.find(&host)?, kind, request)
            };
            let Some((request, is)) = self.page(ask.inline, &self.content_request(ask), list)? else { return Ok(()) };
            let whole = self.model.of_kinds(self.model.reacted_by(me, kind), &ask.kinds());
            let whole = match viewer {
                None if self.model.suspended.contains_key(&me) => Vec::new(),
                Some(other) if other != me => self.model.seen_of(viewer, me, whole),
                _ => self.model.seen_by(viewer, whole),
            };
            let page_of = |list: &[Entry]| page(list, |entry| entry.cursor, &request);
            let should_be = match self.may_stop() {
                true => page_to_a_stop(&whole, &request, &is, page_of),
                false => page_of(&whole),
            };
            ensure_eq!(is, should_be, "{kind:?} by {me}, seen by {viewer:?}, {request:?}");
        }
        self.find_items(raw, ask.inline)?;
        // Reactions to deleted items are kept or purged; no answer shows them.
        let live = self.model.items.iter().filter(|item| !item.deleted);
        let items: Vec<_> = live.map(|item| item.cursor()).collect();
        let flags = read(ask.inline, |tier| feed::reactions::tables::reacted(self.system.store(), me, &items, tier))?;
        let has = |id, kind| self.model.reactions.contains_key(&(id, kind, me));
        let kinds = || self.system.feed.reaction_kinds().iter().map(|(kind, _)| kind);
        let of = |item: &Cursor| -> Reactions { kinds().filter(|kind| has(item.id, *kind)).collect() };
        ensure_eq!(flags, items.iter().map(of).collect::<Vec<_>>(), "flags of {me}");
        Ok(())
    }

    /// Which items a user finds to react to.
    pub(crate) fn find_items(&self, raw: u64, inline: bool) -> Result<(), String> {
        let (feed, host, me) = (&self.system.feed, self.hosts.host(raw), self.hosts.user(raw));
        for item in &self.model.items {
            let of = self.hosts.back(item.id);
            let found = read_any(inline, |tier| {
                visibility::ids_if_permitted(feed.read().within(tier), &of, &host, Visibility::User)
            });
            match (self.model.refusal(me, item), found) {
                (None, found) => {
                    ensure_eq!(found.map_err(|e| format!("{me} finds no {}: {e}", item.id))?, (item.id, me), "ids");
                }
                (Some(code), Err(error)) => expect_code(&error, code)?,
                (Some(code), Ok(found)) => return Err(format!("{me} finds {found:?} instead of {code}")),
            }
            let found = read(inline, |tier| {
                visibility::ids_if_permitted(feed.read().within(tier), &of, &host, Visibility::Application)
            })?;
            ensure_eq!(found, (item.id, me), "ids");
        }
        Ok(())
    }

    /// All reactions of all users.
    pub(crate) fn read_all_reactions(&self) -> Result<(), String> {
        for (kind, _) in self.system.feed.reaction_kinds().iter() {
            (0..self.model.items.len()).try_for_each(|index| self.read_reactors(index, kind, &WHOLE))?;
            USERS.iter().try_for_each(|raw| self.read_reacted_by(*raw, kind, &WHOLE))?;
        }
        USERS.iter().try_for_each(|raw| self.find_items(*raw, false))?;
        Ok(())
    }
}
