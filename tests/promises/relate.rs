//! Follows, restrictions and suspensions, and their answers.

use feed::{Command, ImportFollows, PutSettings, Relate, SetRestriction, SetSuspension, follows, ids, kinds, users};
use model::{Millis, NamedRule, Relation, Restriction, Rule, UserId, UserSettings};
use std::collections::HashSet;

use super::case::Case;
use super::change::expect_code;
use super::hosts::New;
use super::names::rule;
use super::shape::WIDE;

impl Case {
    /// Finds a user who opens a stream.
    pub(crate) fn listen(&mut self, raw: u64) -> Result<(), String> {
        let (host, feed) = (self.hosts.host(raw), &self.system.feed);
        let reader: UserId = ids::give(feed, &host).map_err(|e| format!("a stream cannot be opened: {e}"))?;
        self.hosts.learn(self.system.store(), [&host], New::All)?;
        ensure_eq!(reader, self.hosts.known::<UserId>(&host), "the reader {host:?}");
        Ok(())
    }

    pub(crate) fn relate(
        &mut self,
        raw: u64,
        follow: &[(u64, Option<Millis>)],
        unfollow: &[u64],
        rule: Option<(NamedRule, bool)>,
    ) -> Result<(), String> {
        let host = self.hosts.host(raw);
        let follow: Vec<_> = follow.iter().map(|(target, since)| (self.hosts.host(*target), *since)).collect();
        let unfollow: Vec<_> = unfollow.iter().map(|target| self.hosts.host(*target)).collect();
        let all: Vec<_> = follow.iter().map(|(target, _)| target).chain(&unfollow).collect();
        let twice = all.iter().collect::<HashSet<_>>().len() < all.len();
        let itself = follow.iter().any(|(target, _)| *target == host);
        let began = self.earliest();
        let feed = &self.system.feed;
        let answer = match (&rule, &follow[..]) {
            (Some((rule, approved)), [(target, since)]) => {
                follows::follow(feed, host.clone(), target.clone(), *since, rule.clone(), *approved)
                    .map(|relation| vec![relation])
            }
            _ => feed.submit(Relate::of(host.clone(), follow.clone(), unfollow.clone())),
        };
        self.expect_taken(&answer)?;
        if !follow.is_empty() {
            let new = if answer.is_ok() { New::All } else { New::Some };
            self.learn([&host].into_iter().chain(follow.iter().map(|(target, _)| target)), new)?;
        }
        self.learn([&host].into_iter().chain(&unfollow), New::None)?;
        let me = self.hosts.user(raw);
        let follow: Vec<_> = follow.iter().map(|(target, since)| (self.hosts.known(target), *since)).collect();
        let unfollow: Vec<UserId> = unfollow.iter().map(|target| self.hosts.known(target)).collect();
        let targets: Vec<_> = follow.iter().map(|(target, _)| *target).chain(unfollow.iter().copied()).collect();
        let ahead = follow.iter().any(|(target, since)| self.is_new_and_ahead(me, *target, *since));
        let added = follow.iter().filter(|(target, _)| !self.model.is_connected(me, *target)).count();
        let removed = unfollow.iter().filter(|target| self.model.is_connected(me, **target)).count();
        let after = self.model.connected(me) + added - removed;
        let beyond = added > removed && after > self.system.config.graph.follow_limit;
        let blocked = follow.iter().any(|(target, _)| self.model.blocked(me, *target));
        let relations = match answer {
            Err(error) if twice => return expect_code(&error, "invalid_body"),
            Err(error) if itself => return expect_code(&error, "self_follow"),
            Err(error) if ahead => return expect_code(&error, "time_ahead"),
            Err(error) if self.is_full(&error) => return Ok(()),
            Err(error) if blocked => return expect_code(&error, "blocked"),
            Err(error) if beyond => return expect_code(&error, "follow_limit"),
            Err(error) => return Err(format!("relate fails: {error}")),
            Ok(relations) => relations,
        };
        ensure!(
            !twice && !itself && !ahead && !blocked && !beyond,
            "a follow that must be refused is answered {relations:?}"
        );
        ensure_eq!(relations.len(), targets.len(), "answers");
        for ((target, since), relation) in follow.iter().zip(&relations) {
            let approved = rule.as_ref().is_some_and(|(_, approved)| *approved);
            self.follow(me, *target, (*since, approved), relation, began)?;
            if let Some((rule, _)) = &rule {
                self.model.rules.insert((me, *target), rule.clone());
            }
        }
        for target in &unfollow {
            self.model.follows.remove(&(me, *target));
            self.model.approved.remove(&(me, *target));
            self.model.rules.remove(&(me, *target));
            self.model.requests.remove(&(me, *target));
        }
        targets.iter().zip(&relations).try_for_each(|(target, relation)| self.relation_is(relation, me, *target))?;
        self.shows(&relations)
    }

    /// Compares a relation, and its rule by the names of the kinds.
    pub(crate) fn relation_is(&self, is: &Relation, me: UserId, target: UserId) -> Result<(), String> {
        self.rule_is(is.rule, self.model.rules.get(&(me, target)))?;
        ensure_eq!(Relation { rule: None, ..*is }, self.model.relation(me, target), "relation of {me} to {target}");
        Ok(())
    }

    /// Compares a rule by the names of the kinds.
    pub(crate) fn rule_is(&self, is: Option<Rule>, should_be: Option<&NamedRule>) -> Result<(), String> {
        let names =
            kinds::rule_names(self.system.feed.read(), is).map_err(|e| format!("kinds cannot be named: {e}"))?;
        ensure_eq!(names, should_be.cloned().unwrap_or_default(), "a rule");
        Ok(())
    }

    /// Whether a follow is refused for its time: too far ahead, and not the present one.
    fn is_new_and_ahead(&self, me: UserId, target: UserId, since: Option<Millis>) -> bool {
        let there = self.model.follows.get(&(me, target)).copied();
        since.is_some_and(|since| self.is_ahead(since) && there != Some(since))
    }

    /// Adds a follow to the model, with the time of the answer if none was given.
    fn follow(
        &mut self,
        me: UserId,
        target: UserId,
        (since, approved): (Option<Millis>, bool),
        answer: &Relation,
        began: Millis,
    ) -> Result<(), String> {
        if self.model.follows(me, target) {
            return Ok(());
        }
        let asks = !approved && self.model.settings_of(target).approve_followers;
        if asks && self.model.requests.contains_key(&(me, target)) {
            return Ok(());
        }
        let since = match (since, if asks { answer.requested_since } else { answer.following_since }) {
            (Some(since), _) => since,
            (None, Some(made)) if (began..=self.latest()).contains(&made) => made,
            (None, made) => return Err(format!("following {target} since {made:?} is not by the clock")),
        };
        if asks {
            self.model.requests.insert((me, target), since);
        } else {
            if self.model.requests.remove(&(me, target)).is_some() && approved {
                self.model.approved.insert((me, target));
            }
            self.model.follows.insert((me, target), since);
        }
        Ok(())
    }

    pub(crate) fn bar(&mut self, raw: u64, target: u64, restriction: Restriction, raised: bool) -> Result<(), String> {
        let (hosts, began) = ([self.hosts.host(raw), self.hosts.host(target)], self.earliest());
        let feed = &self.system.feed;
        let answer =
            feed.submit(SetRestriction { user: hosts[0].clone(), target: hosts[1].clone(), restriction, raised });
        self.expect_taken(&answer)?;
        self.learn(
            &hosts,
            match &answer {
                Ok(_) if raised => New::All,
                Err(error) if self.is_full(error) => New::Some,
                _ => New::None,
            },
        )?;
        let (me, target) = (self.hosts.user(raw), self.hosts.user(target));
        let relation = match answer {
            Err(error) if hosts[0] == hosts[1] && raised => {
                let code = match restriction {
                    Restriction::Mute => "self_mute",
                    Restriction::Hide => "self_hide",
                    Restriction::Block => "self_block",
                };
                return expect_code(&error, code);
            }
            Err(error) if raised && restriction == Restriction::Block && self.is_full(&error) => return Ok(()),
            Err(error) => return Err(format!("a restriction cannot be set: {error}")),
            Ok(relation) => relation,
        };
        ensure!(me != target || !raised, "a user has a restriction against itself: {relation:?}");
        let made = relation.restricted_since(restriction);
        match self.model.restrictions(restriction).get(&(me, target)) {
            _ if !raised => drop(self.model.restrictions(restriction).remove(&(me, target))),
            Some(_) => {}
            None => {
                let made = made.filter(|made| (began..=self.latest()).contains(made));
                let made = made.ok_or_else(|| format!("a restriction that is not by the clock: {relation:?}"))?;
                self.model.restrictions(restriction).insert((me, target), made);
            }
        }
        if raised && restriction == Restriction::Block {
            let others = |pair: &(UserId, UserId)| *pair != (me, target) && *pair != (target, me);
            self.model.follows.retain(|pair, _| others(pair));
            self.model.approved.retain(others);
            self.model.rules.retain(|pair, _| others(pair));
            self.model.requests.retain(|pair, _| others(pair));
        }
        self.relation_is(&relation, me, target)
    }

    pub(crate) fn suspend(&mut self, raw: u64, suspended: bool) -> Result<(), String> {
        let (host, began) = (self.hosts.host(raw), self.earliest());
        let answer = self.system.feed.submit(SetSuspension { user: host.clone(), suspended });
        self.expect_taken(&answer)?;
        self.learn([&host], if suspended { New::All } else { New::None })?;
        let (user, since) = (self.hosts.user(raw), answer.map_err(|e| format!("a suspension fails: {e}"))?);
        match (suspended, self.model.suspended.get(&user)) {
            (true, None) => {
                let made = since.filter(|made| (began..=self.latest()).contains(made));
                let made = made.ok_or_else(|| format!("a suspension that is not by the clock: {since:?}"))?;
                self.model.suspended.insert(user, made);
            }
            (false, _) => drop(self.model.suspended.remove(&user)),
            (true, Some(_)) => {}
        }
        self.read_suspension(raw)?;
        ensure_eq!(since, self.model.suspended.get(&user).copied(), "since when {user} is suspended");
        Ok(())
    }

    pub(crate) fn put_settings(&mut self, raw: u64, settings: UserSettings) -> Result<(), String> {
        let host = self.hosts.host(raw);
        let before = self.model.settings_of(self.hosts.user(raw));
        let answer = self.system.feed.submit(PutSettings { user: host.clone(), settings });
        self.expect_taken(&answer)?;
        answer.map_err(|e| format!("settings cannot be put: {e}"))?;
        // What is so already is not written, and gives no number.
        self.learn([&host], if before == settings { New::None } else { New::All })?;
        self.model.settings.insert(self.hosts.user(raw), settings);
        let read = self.system.feed.read();
        let is =
            read.find(&host).and_then(|user| users::settings(read, user)).map_err(|e| format!("no settings: {e}"))?;
        ensure_eq!(is, settings, "settings of {raw}");
        Ok(())
    }

    /// Answers a request, or one that does not wait.
    pub(crate) fn answer(&mut self, raw: u64, from: u64, approved: bool) -> Result<(), String> {
        let (hosts, began) = ([self.hosts.host(raw), self.hosts.host(from)], self.earliest());
        let answer = follows::answer_request(&self.system.feed, &hosts[0], &hosts[1], approved);
        self.expect_taken(&answer)?;
        self.learn(&hosts, New::None)?;
        let (me, from) = (self.hosts.user(raw), self.hosts.user(from));
        let waits = self.model.requests.contains_key(&(from, me));
        let relation = match answer {
            Err(error) if waits && approved && self.is_full(&error) => return Ok(()),
            Err(error) if !waits && approved && !self.model.follows(from, me) => {
                return expect_code(&error, "request_not_found");
            }
            Err(error) => return Err(format!("a request cannot be answered: {error}")),
            Ok(relation) => relation,
        };
        ensure!(waits || !approved || self.model.follows(from, me), "a request that is not there: {relation:?}");
        self.model.requests.remove(&(from, me));
        if waits && approved {
            let made = relation.followed_since.filter(|made| (began..=self.latest()).contains(made));
            let made = made.ok_or_else(|| format!("a follow that is not by the clock: {relation:?}"))?;
            self.model.follows.insert((from, me), made);
            self.model.approved.insert((from, me));
        }
        if !approved && waits {
            self.model.rules.remove(&(from, me));
        }
        self.relation_is(&relation, me, from)
    }

    pub(crate) fn import_follows(
        &mut self,
        follows: &[(u64, u64, Option<Millis>)],
        first_rule: usize,
    ) -> Result<(), String> {
        if self.system.config.fanout.queue < WIDE {
            return Ok(()); // Would wait for workers that may be off.
        }
        let mut rules = [rule(first_rule)].into_iter();
        let line = |(me, target, since): &(u64, u64, Option<u64>)| {
            let (me, target) = (self.hosts.host(*me), self.hosts.host(*target));
            (me, target, since.or(Some(3)), rules.next().unwrap_or_default())
        };
        let lines: Vec<_> = follows.iter().map(line).collect();
        let changes =
            lines.iter().cloned().map(|(me, target, since, rule)| ImportFollows::one(me, target, since, rule));
        let results = self.system.feed.import(changes.map(Command::from).collect());
        let results = results.map_err(|e| format!("import fails: {e}"))?;
        results.iter().try_for_each(|result| self.expect_taken(result))?;
        let mentioned = lines.iter().flat_map(|(me, target, ..)| [me, target]);
        self.learn_lines(mentioned, results.iter().all(Result::is_ok))?;
        ensure_eq!(results.len(), follows.len(), "answers");
        for ((me, target, since, rule), result) in lines.into_iter().zip(results) {
            if result.is_ok() {
                self.learn([&me, &target], New::All)?;
            }
            // Of the host's ids: a refused line may leave both unknown.
            let is_self = me == target;
            let (me, target): (UserId, UserId) = (self.hosts.known(&me), self.hosts.known(&target));
            let known = self.model.follows(me, target);
            let asked = self.model.requests.contains_key(&(me, target));
            let full = self.model.connected(me) >= self.system.config.graph.follow_limit && !asked;
            match result {
                Err(error) if is_self => expect_code(&error, "self_follow")?,
                Err(error) if self.is_new_and_ahead(me, target, since) => expect_code(&error, "time_ahead")?,
                Err(error) if self.model.blocked(me, target) => expect_code(&error, "blocked")?,
                Err(error) if full && !known => expect_code(&error, "follow_limit")?,
                Err(error) => return Err(format!("{me} cannot follow {target}: {error}")),
                Ok(new) => {
                    let ahead = self.is_new_and_ahead(me, target, since);
                    let blocked = self.model.blocked(me, target);
                    ensure!(!is_self && !ahead && !blocked && (known || !full), "{me} may not follow {target}");
                    ensure_eq!(new, !known, "whether {me} following {target} is new");
                    if new {
                        self.model.requests.remove(&(me, target));
                        self.model.follows.insert((me, target), since.expect("given"));
                        self.model.rules.insert((me, target), rule);
                    }
                }
            }
        }
        Ok(())
    }
}
