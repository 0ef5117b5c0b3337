//! Lists of users, each compared with the model.

use std::collections::HashSet;

use feed::{ChangeMembers, DeleteList, PutList, Read, lists, timeline};
use model::{ExternalId, ListSettings, NamedRule, PageRequest, Span, UserCursor, UserId};

use super::case::Case;
use super::change::expect_code;
use super::hosts::New;
use super::names::LISTS;
use super::ops::{Ask, WHOLE};
use super::read::{read, read_any};
use crate::plain::{List, user_page};

impl Case {
    pub(crate) fn put_list(&mut self, raw: u64, name: &str, exclusive: bool) -> Result<(), String> {
        let host = self.hosts.host(raw);
        let settings = ListSettings { title: exclusive.then(|| name.to_owned()), exclusive };
        let answer =
            self.system.feed.submit(PutList { user: host.clone(), list: name.to_owned(), settings: settings.clone() });
        self.expect_taken(&answer)?;
        self.learn([&host], New::All)?;
        let list = answer.map_err(|e| format!("a list cannot be put: {e}"))?;
        ensure_eq!((list.name.as_str(), list.settings), (name, settings), "the list");
        self.model.lists.entry((self.hosts.user(raw), name.to_owned())).or_default().exclusive = exclusive;
        Ok(())
    }

    pub(crate) fn delete_list(&mut self, raw: u64, name: &str) -> Result<(), String> {
        let host = self.hosts.host(raw);
        let answer = self.system.feed.submit(DeleteList { user: host.clone(), list: name.to_owned() });
        self.expect_taken(&answer)?;
        self.learn([&host], New::None)?;
        match (answer, self.model.lists.remove(&(self.hosts.user(raw), name.to_owned()))) {
            (Ok(()), Some(_)) => Ok(()),
            (Err(error), None) => expect_code(&error, "list_not_found"),
            (answer, list) => Err(format!("a delete of {list:?} is answered {answer:?}")),
        }
    }

    pub(crate) fn change_members(
        &mut self,
        raw: u64,
        name: &str,
        add: &[u64],
        remove: &[u64],
        rule: Option<NamedRule>,
    ) -> Result<(), String> {
        let host = self.hosts.host(raw);
        let hosts = |raw: &[u64]| raw.iter().map(|raw| self.hosts.host(*raw)).collect::<Vec<_>>();
        let (add, remove) = (hosts(add), hosts(remove));
        let all: Vec<_> = add.iter().chain(&remove).cloned().collect();
        let twice = all.iter().collect::<HashSet<_>>().len() < all.len();
        let began = self.earliest();
        let feed = &self.system.feed;
        let answer = match (&rule, &add[..]) {
            (Some(rule), [member]) => {
                lists::put_member(feed, host.clone(), name.to_owned(), member.clone(), rule.clone())
                    .map(|member| vec![member])
            }
            _ => feed.submit(ChangeMembers {
                user: host.clone(),
                list: name.to_owned(),
                add: add.clone(),
                remove: remove.clone(),
                rule: None,
            }),
        };
        self.expect_taken(&answer)?;
        let ended = self.latest();
        self.learn([&host], New::None)?;
        self.learn(&add, if answer.is_ok() { New::All } else { New::Some })?;
        self.learn(&remove, New::None)?;
        let limit = self.system.config.graph.follow_limit;
        let known: Vec<UserId> = all.iter().map(|host| self.hosts.known(host)).collect();
        let key = (self.hosts.user(raw), name.to_owned());
        let Some(list) = self.model.lists.get(&key).filter(|_| !twice) else {
            let error = answer.err().ok_or("members of no list, or named twice, are changed")?;
            return expect_code(&error, if twice { "invalid_body" } else { "list_not_found" });
        };
        let is_in = |host: &ExternalId| list.members.contains_key(&self.hosts.known::<UserId>(host));
        let added = add.iter().filter(|host| !is_in(host)).count();
        let removed = remove.iter().filter(|host| is_in(host)).count();
        let is_over = added > removed && list.members.len() + added - removed > limit;
        let mut after: List = list.clone();
        for (place, member) in known.iter().enumerate() {
            match &rule {
                Some(rule) => drop(after.rules.insert(*member, rule.clone())),
                None if place >= add.len() => drop(after.rules.remove(member)),
                None => {}
            }
            if place >= add.len() {
                after.members.remove(member);
            } else if !after.members.contains_key(member) {
                let since = answer.as_ref().ok().and_then(|since| since.get(place).copied().flatten());
                let since = since.map_or(began, |membership| membership.since);
                ensure!((began..=ended).contains(&since), "{member} is a member since {since}, not by the clock");
                after.members.insert(*member, since);
            }
        }
        match answer {
            Err(error) if is_over => expect_code(&error, "member_limit"),
            Err(error) => Err(format!("members cannot be changed: {error}")),
            Ok(since) => {
                ensure!(!is_over, "more members than {limit}");
                let should_be: Vec<_> = known.iter().map(|member| after.members.get(member).copied()).collect();
                let times: Vec<_> = since.iter().map(|membership| membership.map(|of| of.since)).collect();
                ensure_eq!(times, should_be, "members of {name:?} after the change");
                for (member, membership) in known.iter().zip(since) {
                    self.rule_is(membership.and_then(|of| of.rule), after.rules.get(member))?;
                }
                self.model.lists.insert(key, after);
                Ok(())
            }
        }
    }

    /// A page of the timeline of a list, its members, its marker and the number of unread items.
    pub(crate) fn read_list(&self, raw: u64, name: &str, ask: &Ask) -> Result<(), String> {
        let (host, user) = (self.hosts.host(raw), self.hosts.user(raw));
        let find = |read: Read<'_>| {
            let user = read.find(&host)?;
            Ok((user, lists::named(read, user, name)?.id))
        };
        let Some(list) = self.model.list(user, name) else {
            let found = read_any(ask.inline, |tier| find(self.system.feed.read().within(tier)));
            return expect_code(&found.err().ok_or("a list appears")?, "list_not_found");
        };
        let timeline = |read: Read<'_>, request: &_| {
            let (user, list) = find(read)?;
            timeline::list_page(read.of_kinds(&ask.kinds())?, user, list, request)
        };
        let whole = || self.model.of_kinds(self.model.list_timeline(user, name), &ask.kinds());
        let request = self.content_request(ask);
        self.entries_are(ask.inline, &request, timeline, whole, "list", format_args!("{name:?} of {user}"))?;
        let mut members: Vec<_> = list.members.iter().map(|(id, at)| UserCursor { at: *at, id: *id }).collect();
        members.sort_by_key(|place| std::cmp::Reverse(*place));
        let request = PageRequest { span: Span { before: None, after: None }, limit: ask.limit };
        let of_list = |read: Read<'_>, request: &_| lists::members(read, find(read)?.1, request);
        if let Some((request, is)) = self.page(ask.inline, &request, of_list)? {
            let should_be = user_page(&members, &request);
            ensure_eq!(is, should_be, "members of {name:?} of {user}");
            let ids: Vec<_> = is.items.iter().map(|member| member.id).collect();
            let rules = read(ask.inline, |tier| {
                let read = self.system.feed.read().within(tier);
                lists::member_rules(read, find(read)?.1, &ids)
            })?;
            ids.iter().zip(rules).try_for_each(|(member, rule)| self.rule_is(rule, list.rules.get(member)))?;
        }
        let (marker, unread) = read(ask.inline, |tier| {
            let read = self.system.feed.read().within(tier);
            let (user, list) = find(read)?;
            Ok((
                timeline::marker(read, user, Some(list))?,
                timeline::list_unread(read.of_kinds(&ask.kinds())?, user, list)?,
            ))
        })?;
        let should_be = self.marker(user, Some(name));
        ensure_eq!(marker, should_be, "marker of {name:?} of {user}");
        let newer = whole().iter().filter(|entry| Some(entry.cursor) > should_be).count();
        self.unread_is(unread, newer, format_args!("what {user} has not read of {name:?}"))
    }

    /// All lists of a user.
    pub(crate) fn read_lists(&self, raw: u64) -> Result<(), String> {
        LISTS.iter().try_for_each(|name| self.read_list(raw, name, &WHOLE))?;
        let user = self.hosts.user(raw);
        let lists = read(true, |tier| lists::of_user(self.system.feed.read().within(tier), user))?;
        let is: Vec<_> = lists.into_iter().map(|list| (list.name, list.settings.exclusive)).collect();
        let of_user = self.model.lists.iter().filter(|((owner, _), _)| *owner == user);
        let should_be: Vec<_> = of_user.map(|((_, name), list)| (name.clone(), list.exclusive)).collect();
        ensure_eq!(is, should_be, "lists of {user}");
        Ok(())
    }
}
