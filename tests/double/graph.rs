//! The follow graph, requests to follow, mutes, hides and blocks.

use std::collections::BTreeMap;

use model::error::{Code, Result};
use model::store::{Approval, Barred, Barriers, Change, Graph, Related, Tier, too_many_follows};
use model::{Barrier, Effect, Millis, Relation, Rule, Scan, ShownSources, Side, UserCounts, UserCursor, UserId, Work};

use super::digests::{Row, key, place, rule};
use super::{Double, Fault, State, walk};

#[derive(Debug, Default)]
pub(super) struct Tables {
    /// User and followee to `since`.
    pub(super) following: BTreeMap<(UserId, UserId), Millis>,
    /// User and followee to the rule of the follow, if it has one.
    rules: BTreeMap<(UserId, UserId), Rule>,
    /// User and follower; the mirror image of `following`.
    pub(super) followers: BTreeMap<(UserId, UserId), Millis>,
    /// User and target to `since`.
    pub(super) mutes: BTreeMap<(UserId, UserId), Millis>,
    /// User and the user from whom it hides to `since`.
    pub(super) hidden: BTreeMap<(UserId, UserId), Millis>,
    /// User and blocked user to `since`.
    pub(super) blocks: BTreeMap<(UserId, UserId), Millis>,
    /// User and the user whom it has asked to `since`.
    pub(super) requests: BTreeMap<(UserId, UserId), Millis>,
}

impl Tables {
    /// Whoever has a row.
    pub(super) fn users(&self) -> impl Iterator<Item = UserId> {
        let first = [&self.following, &self.followers, &self.mutes, &self.hidden, &self.blocks, &self.requests];
        let first = first.into_iter().flat_map(|pairs| pairs.keys()).map(|(user, _)| *user);
        let second = [&self.mutes, &self.hidden, &self.blocks, &self.requests];
        first.chain(second.into_iter().flat_map(|pairs| pairs.keys()).map(|(_, target)| *target))
    }

    /// All pairs of users, some more than once.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (UserId, UserId)> {
        let all = [&self.following, &self.mutes, &self.hidden, &self.blocks, &self.requests];
        all.into_iter().flat_map(|pairs| pairs.keys().copied())
    }

    /// Pairs that follow each other, with the time of the later follow.
    pub(super) fn friends(&self) -> impl Iterator<Item = ((UserId, UserId), Millis)> {
        self.following.iter().filter_map(|(pair, at)| Some((*pair, *self.followers.get(pair)?.max(at))))
    }

    /// The rows that the store on disk has.
    pub(super) fn rows(&self) -> Vec<(&'static str, Vec<Row>)> {
        let by_id = |((user, other), at): (&(UserId, UserId), &Millis)| (key(&[user.get(), other.get()]), key(&[*at]));
        let with_rule = |(pair, at): (&(UserId, UserId), &Millis)| {
            let (key, since) = by_id((pair, at));
            (key, [since, rule(self.rules.get(pair))].concat())
        };
        let by_time = |((user, other), at): (&(UserId, UserId), &Millis)| (place(*user, *at, *other), Vec::new());
        let friends = self.friends().map(|((user, other), at)| (place(user, at, other), Vec::new()));
        let received = self.requests.iter().map(|((user, target), at)| (place(*target, *at, *user), Vec::new()));
        let mirror = |(user, target): &(UserId, UserId)| (key(&[target.get(), user.get()]), Vec::new());
        vec![
            ("following", self.following.iter().map(with_rule).collect()),
            ("following_by_time", self.following.iter().map(by_time).collect()),
            ("followers", self.followers.iter().map(by_id).collect()),
            ("followers_by_time", self.followers.iter().map(by_time).collect()),
            ("friends_by_time", friends.collect()),
            ("mutes", self.mutes.iter().map(by_id).collect()),
            ("mutes_by_time", self.mutes.iter().map(by_time).collect()),
            ("muted_by", self.mutes.keys().map(mirror).collect()),
            ("hidden", self.hidden.iter().map(by_id).collect()),
            ("hidden_by_time", self.hidden.iter().map(by_time).collect()),
            ("hidden_to", self.hidden.keys().map(mirror).collect()),
            ("blocks", self.blocks.iter().map(by_id).collect()),
            ("blocks_by_time", self.blocks.iter().map(by_time).collect()),
            ("blocked_by", self.blocks.keys().map(mirror).collect()),
            ("requests", self.requests.iter().map(with_rule).collect()),
            ("sent_requests", self.requests.iter().map(by_time).collect()),
            ("follow_requests", received.collect()),
        ]
    }
}

impl Graph for Double {
    fn relate(&self, user: UserId, changes: &[Change], follow_limit: usize) -> Result<Vec<Related>> {
        let mut state = self.state();
        if changes.iter().any(|change| change.follow.is_some() && state.blocked(user, change.target)) {
            return Err(Code::Blocked.into());
        }
        let connected =
            |state: &State, target| state.follows(user, target) || state.graph.requests.contains_key(&(user, target));
        let before = members_of(&state.graph.following, user).chain(members_of(&state.graph.requests, user)).count();
        let mut after = before;
        for change in changes {
            match (connected(&state, change.target), change.follow) {
                (false, Some(_)) => after += 1,
                (true, None) => after -= 1,
                _ => {}
            }
        }
        if after > follow_limit && after > before {
            return Err(too_many_follows(follow_limit));
        }
        let present: Vec<_> = changes.iter().map(|change| state.relation(user, change.target)).collect();
        let related: Vec<_> = changes.iter().map(|change| state.apply(user, change)).collect();
        state.put_effects(related.iter().zip(&present).filter_map(|(related, was)| related.relation.effect_since(was)));
        Ok(related)
    }

    fn answer_request(&self, target: UserId, user: UserId, follow: Option<Millis>) -> Result<Option<Related>> {
        let mut state = self.state();
        if !state.graph.requests.contains_key(&(user, target)) {
            return Ok(None);
        }
        let was = state.relation(user, target);
        let related = state.apply(user, &Change { approval: Approval::Given, ..Change::new(target, follow) });
        state.put_effects(related.relation.effect_since(&was));
        Ok(Some(related))
    }

    fn relations(&self, user: UserId, targets: &[UserId], _: Tier) -> Result<Vec<Relation>> {
        let state = self.state();
        Ok(targets.iter().map(|target| state.relation(user, *target)).collect())
    }

    fn followees(&self, user: UserId, _: Tier) -> Result<Vec<UserId>> {
        let state = self.state();
        Ok(members_of(&state.graph.following, user).map(|(followee, _)| followee).collect())
    }

    fn members(&self, user: UserId, side: Side, scan: Scan<UserId>, _: Tier) -> Result<Vec<UserCursor>> {
        let state = self.state();
        let rows: Vec<_> = match side {
            Side::Barred(barrier) => members_of(state.barriers(barrier), user).collect(),
            Side::SentRequests => members_of(&state.graph.requests, user).collect(),
            Side::FollowRequests => {
                let received = state.graph.requests.iter().filter(|((_, target), _)| *target == user);
                received.map(|((from, _), at)| (*from, *at)).collect()
            }
            Side::Following => members_of(&state.graph.following, user).collect(),
            Side::Followers => members_of(&state.graph.followers, user).collect(),
            Side::Friends => members_of(&state.graph.following, user)
                .filter_map(|(other, since)| {
                    state.graph.followers.get(&(user, other)).map(|followed| (other, since.max(*followed)))
                })
                .collect(),
        };
        let places = rows.into_iter().map(|(id, at)| UserCursor { at, id });
        Ok(walk(places, |place| *place, scan))
    }

    fn followers_after(&self, author: UserId, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>> {
        let state = self.state();
        let followers = members_of(&state.graph.followers, author).map(|(follower, _)| follower);
        Ok(followers.filter(|follower| Some(*follower) > after).take(limit).collect())
    }

    fn follower_count(&self, author: UserId) -> Result<u64> {
        Ok(members_of(&self.state().graph.followers, author).count() as u64)
    }

    fn user_counts(&self, user: UserId, _: Tier) -> Result<UserCounts> {
        let state = self.state();
        let following = state.graph.following.keys().filter(|(follower, _)| *follower == user);
        Ok(UserCounts {
            following: following.clone().count() as u64,
            followers: state.graph.followers.keys().filter(|(target, _)| *target == user).count() as u64,
            friends: following.filter(|pair| state.graph.followers.contains_key(pair)).count() as u64,
            content: state.outbox_of(user).count() as u64,
        })
    }
}

impl Barriers for Double {
    fn set_barrier(
        &self,
        user: UserId,
        target: UserId,
        barrier: Barrier,
        since: Option<Millis>,
        limit: usize,
    ) -> Result<Barred> {
        let mut state = self.state();
        let stands = state.barriers(barrier).contains_key(&(user, target));
        match since {
            Some(_) if !stands && members_of(state.barriers(barrier), user).count() >= limit => {
                let [_, at_limit] = barrier.refusals();
                return Err(at_limit.into());
            }
            Some(since) if !stands => drop(state.barriers_mut(barrier).insert((user, target), since)),
            Some(_) => {}
            None => drop(state.barriers_mut(barrier).remove(&(user, target))),
        }
        let (mut jobs, mut effects) = ([None; 2], Vec::new());
        if stands != since.is_some() {
            if barrier == Barrier::Block && since.is_some() {
                if self.fault == Some(Fault::BlockLeavesPending) {
                    let parted =
                        [(user, target), (target, user)].into_iter().filter(|pair| state.follows(pair.0, pair.1));
                    let parted: Vec<_> = parted.collect();
                    state.parted.extend(parted);
                }
                jobs = [(user, target), (target, user)].map(|(user, target)| {
                    let was = state.relation(user, target);
                    let related = state.apply(user, &Change::new(target, None));
                    effects.extend(related.relation.effect_since(&was));
                    related.job
                });
            }
            if self.fault == Some(Fault::PartedUntold) {
                effects.clear();
            }
            let [raised, lifted] = barrier.effects();
            effects.push(Effect::on(if since.is_some() { raised } else { lifted }, user).target(target));
            state.put_effects(effects);
        }
        Ok(Barred { relation: state.relation(user, target), jobs })
    }

    fn authors(&self, reader: UserId, _: Tier) -> Result<ShownSources> {
        let state = self.state();
        let is_shown = |author: &UserId| !state.is_barred(reader, *author) && !state.lists.excludes(reader, *author);
        let authors = members_of(&state.graph.following, reader).map(|(author, _)| author).filter(is_shown);
        let mut authors: Vec<_> = authors.chain(state.parted_with_pending(reader)).collect();
        authors.sort_unstable();
        authors.dedup();
        Ok(ShownSources::new(authors, state.rules_of(reader)).silencing(Some(state.silenced(reader))))
    }

    fn authors_among(&self, reader: UserId, users: &[UserId], tier: Tier) -> Result<ShownSources> {
        let authors = self.authors(reader, tier)?;
        let among: Vec<_> = authors.iter().copied().filter(|author| users.contains(author)).collect();
        Ok(ShownSources::new(among, authors.rules().to_vec()))
    }

    fn silences(&self, pairs: &[(UserId, UserId)], _: Tier) -> Result<Vec<bool>> {
        let state = self.state();
        Ok(pairs.iter().map(|(reader, author)| state.is_barred(*reader, *author)).collect())
    }

    fn hiders_among(&self, reader: UserId, users: &[UserId], _: Tier) -> Result<Vec<UserId>> {
        let state = self.state();
        Ok(users.iter().copied().filter(|user| state.graph.hidden.contains_key(&(*user, reader))).collect())
    }

    fn blocked_among(&self, user: UserId, users: &[UserId], _: Tier) -> Result<Vec<UserId>> {
        let state = self.state();
        Ok(users.iter().copied().filter(|other| state.blocked(user, *other)).collect())
    }

    fn barred_after(&self, user: UserId, barrier: Barrier, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>> {
        let state = self.state();
        let barred = members_of(state.barriers(barrier), user).map(|(target, _)| target);
        Ok(barred.filter(|target| Some(*target) > after).take(limit).collect())
    }

    fn hiders_after(&self, reader: UserId, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>> {
        let state = self.state();
        let hiders = state.graph.hidden.keys().filter(|(_, target)| *target == reader).map(|(owner, _)| *owner);
        Ok(hiders.filter(|owner| Some(*owner) > after).take(limit).collect())
    }
}

impl State {
    pub(super) fn apply(&mut self, user: UserId, change: &Change) -> Related {
        let target = change.target;
        let is_request = match change.approval {
            Approval::Given | Approval::Unasked => false,
            Approval::IfNeeded => self.approves(target),
            Approval::Awaited => true,
        };
        match change.rule_after(self.graph.rules.get(&(user, target)).copied()) {
            Some(rule) => drop(self.graph.rules.insert((user, target), rule)),
            None => drop(self.graph.rules.remove(&(user, target))),
        }
        if is_request
            && !self.follows(user, target)
            && let Some(since) = change.follow
        {
            self.graph.requests.entry((user, target)).or_insert(since);
            return Related { relation: self.relation(user, target), job: None };
        }
        let waited = self.graph.requests.remove(&(user, target)).is_some();
        if waited && change.follow.is_some() && change.approval == Approval::Given {
            self.notices.approved.insert((user, target));
        }
        let changes = self.follows(user, target) != change.follow.is_some();
        if changes {
            match change.follow {
                Some(since) => {
                    self.graph.following.insert((user, target), since);
                    self.graph.followers.insert((target, user), since);
                }
                None => {
                    self.graph.following.remove(&(user, target));
                    self.notices.end_approval(user, target);
                    self.graph.followers.remove(&(target, user));
                }
            }
        }
        let job = changes.then(|| self.add_job(Work::Settle { user, source: target }));
        Related { relation: self.relation(user, target), job }
    }

    pub(super) fn relation(&self, user: UserId, target: UserId) -> Relation {
        Relation {
            user,
            target,
            following_since: self.graph.following.get(&(user, target)).copied(),
            followed_since: self.graph.followers.get(&(user, target)).copied(),
            barriers: Barrier::ALL.map(|barrier| self.barriers(barrier).get(&(user, target)).copied()),
            rule: self.graph.rules.get(&(user, target)).copied(),
            requested_since: self.graph.requests.get(&(user, target)).copied(),
        }
    }

    /// The rules of a user's follows.
    fn rules_of(&self, user: UserId) -> Vec<(UserId, Rule)> {
        let rules = self.graph.rules.range((user, UserId::MIN)..=(user, UserId::MAX));
        rules.map(|((_, target), rule)| (*target, *rule)).collect()
    }

    /// Sources from which a block has parted a reader, with fan-outs under way: none without a fault.
    fn parted_with_pending(&self, reader: UserId) -> impl Iterator<Item = UserId> {
        let is_pending = |source: UserId| {
            let mut jobs = self.jobs.values();
            jobs.any(|(work, _)| matches!(work, Work::FanOut { entry } if entry.source == source))
        };
        let parted = self.parted.range((reader, UserId::MIN)..=(reader, UserId::MAX));
        parted.map(|(_, source)| *source).filter(move |source| is_pending(*source))
    }

    /// Whether one of two users has blocked the other.
    pub(super) fn blocked(&self, user: UserId, other: UserId) -> bool {
        [(user, other), (other, user)].iter().any(|pair| self.graph.blocks.contains_key(pair))
    }

    /// Whether a user follows an author.
    pub(super) fn follows(&self, user: UserId, author: UserId) -> bool {
        self.graph.following.contains_key(&(user, author))
    }
}

/// One user's part of a side of the graph, by ascending id.
pub(super) fn members_of(
    side: &BTreeMap<(UserId, UserId), Millis>,
    user: UserId,
) -> impl Iterator<Item = (UserId, Millis)> {
    side.range((user, UserId::MIN)..=(user, UserId::MAX)).map(|((_, other), since)| (*other, *since))
}

impl State {
    pub(super) fn barriers(&self, barrier: Barrier) -> &BTreeMap<(UserId, UserId), Millis> {
        match barrier {
            Barrier::Mute => &self.graph.mutes,
            Barrier::Hide => &self.graph.hidden,
            Barrier::Block => &self.graph.blocks,
        }
    }

    pub(super) fn barriers_mut(&mut self, barrier: Barrier) -> &mut BTreeMap<(UserId, UserId), Millis> {
        match barrier {
            Barrier::Mute => &mut self.graph.mutes,
            Barrier::Hide => &mut self.graph.hidden,
            Barrier::Block => &mut self.graph.blocks,
        }
    }
}
