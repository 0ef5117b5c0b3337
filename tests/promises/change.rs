//! Changes and their answers.

use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use tideline::error::{Code, Error};
use tideline::model::{
    Barrier, COMMENT, CommentDraft, Content, Cursor, Draft, EditDraft, HostId, Millis, Relation, UserId,
};

use super::case::Case;
use super::names::{TOPICS, item, user};
use super::ops::{Place, Post};
use super::shape::{NEVER, WIDE};
use crate::model::{Body, Item};

pub(crate) fn clock() -> Millis {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_millis() as Millis
}

fn text(choice: u8) -> Option<String> {
    (choice > 0).then(|| format!("text {choice}"))
}

/// The last two are one object in two spellings.
fn extra(choice: u8) -> Option<String> {
    [None, Some(r#"{"a":1}"#), Some(r#"{"a":2}"#), Some(r#"{ "a": 2 }"#)][usize::from(choice)].map(str::to_owned)
}

impl Post {
    fn body(&self) -> Body {
        let (text, extra) = (text(self.text), extra(self.extra));
        let topics = (0..TOPICS.len() - 1).filter(|n| self.topics >> n & 1 == 1).map(|n| TOPICS[n]);
        let twice = (self.topics >> (TOPICS.len() - 1) & 1 == 1).then_some(TOPICS[0]);
        let topics = topics.chain(twice).map(str::to_owned).collect();
        let ref_id = self.subject.map(item);
        Body { author: user(self.author), text, extra, broadcast: self.broadcast, topics, kind: self.kind, ref_id }
    }
}

/// A publish as sent by a host.
fn draft(id: Option<u64>, at: Option<Millis>, body: &Body) -> Draft {
    let what = (body.kind != "post").then(|| format!("\"kind\":\"{}\"", body.kind));
    let points = body.ref_id.map(|subject| format!("\"ref_id\":{subject}"));
    let text = fields(id, at, body).chain(what).chain(points).collect::<Vec<_>>().join(",");
    serde_json::from_str(&format!("{{{text}}}")).expect("a draft")
}

/// The fields shared with comments.
fn fields(id: Option<u64>, at: Option<Millis>, body: &Body) -> impl Iterator<Item = String> {
    let mut fields = vec![format!("\"author_id\":{},\"broadcast\":{}", body.author, body.broadcast)];
    fields.extend(id.map(|id| format!("\"content_id\":\"{id}\"")));
    fields.extend(at.map(|at| format!("\"published_at\":{at}")));
    fields.extend(body.text.as_ref().map(|text| format!("\"text\":\"{text}\"")));
    fields.push(format!("\"topics\":{}", serde_json::json!(body.topics)));
    fields.extend(body.extra.as_ref().map(|extra| format!("\"extra\":{extra}")));
    fields.into_iter()
}

/// Compares the model's item with the content in an answer.
pub(crate) fn same_content(item: &Item, content: &Content) -> Result<(), String> {
    let is = (content.id, content.published_at, content.author, &content.text, &content.extra, content.broadcast);
    ensure_eq!(is, (item.id, item.at, item.body.author, &item.text, &item.extra, item.body.broadcast), "content");
    ensure_eq!(content.topics, item.body.topics, "topics of {}", item.id);
    ensure_eq!(content.edited_at.is_some(), item.edited, "edited_at of {}", item.id);
    let is = (content.kind.as_str(), content.ref_id, content.media.as_str());
    ensure_eq!(is, (item.body.kind, item.body.ref_id, "[]"), "kind, ref_id and media");
    Ok(())
}

/// The code of a refusal.
fn code(error: &Error) -> &'static str {
    error.code().map_or("", Code::name)
}

/// The model's verdict on one publish.
enum Verdict {
    New,
    Same,
    Taken,
    Ahead,
}

impl Case {
    /// Whether a refusal is due to a full queue, which is right if the queue is small.
    fn is_full(&self, error: &Error) -> bool {
        code(error) == "overloaded" && self.system.config.fanout.queue < WIDE
    }

    /// Whether a given time is refused, unless it repeats the present one.
    pub(crate) fn is_ahead(&self, at: Millis) -> bool {
        at > clock().saturating_add(self.system.config.content.max_ahead.as_millis())
    }

    fn judge(&self, id: Option<u64>, at: Option<Millis>, body: &Body) -> Verdict {
        match id.and_then(|id| self.model.item(item(id))) {
            Some(there) if there.is_repeated_by(body, at) => Verdict::Same,
            _ if at.is_some_and(|at| self.is_ahead(at)) => Verdict::Ahead,
            None => Verdict::New,
            Some(_) => Verdict::Taken,
        }
    }

    pub(crate) fn publish(&mut self, posts: &[Post]) -> Result<(), String> {
        let posts: Vec<_> = posts.iter().map(|post| (post.id, post.at, post.body())).collect();
        self.publish_bodies(&posts)
    }

    fn publish_bodies(&mut self, posts: &[(Option<u64>, Option<Millis>, Body)]) -> Result<(), String> {
        let began = clock();
        let drafts = posts.iter().map(|(id, at, body)| draft(*id, *at, body)).collect();
        let answer = self.system.feed.publish(drafts);
        self.published(posts, began, answer)
    }

    /// Compares the answer to a publish, and adds new items to the model.
    fn published(
        &mut self,
        posts: &[(Option<u64>, Option<Millis>, Body)],
        began: Millis,
        answer: Result<Vec<(Content, bool)>, Error>,
    ) -> Result<(), String> {
        let ids: BTreeSet<_> = posts.iter().filter_map(|(id, ..)| *id).collect();
        let twice = ids.len() < posts.iter().filter(|(id, ..)| id.is_some()).count();
        let verdicts: Vec<_> = posts.iter().map(|(id, at, body)| self.judge(*id, *at, body)).collect();
        let taken = verdicts.iter().any(|verdict| matches!(verdict, Verdict::Taken));
        let ahead = verdicts.iter().any(|verdict| matches!(verdict, Verdict::Ahead));
        let published = match answer {
            Err(error) if twice => return expect_code(&error, "invalid_body"),
            Err(error) if ahead => return expect_code(&error, "time_ahead"),
            Err(error) if self.is_full(&error) => return Ok(()),
            Err(error) if taken => return expect_code(&error, "content_exists"),
            Err(error) => return Err(format!("publish fails: {error}")),
            Ok(published) => published,
        };
        ensure!(!twice && !taken && !ahead, "a publish that must be refused is answered {published:?}");
        ensure_eq!(published.len(), posts.len(), "answers");
        for (((id, at, body), verdict), (content, new)) in posts.iter().zip(verdicts).zip(&published) {
            ensure_eq!(*new, matches!(verdict, Verdict::New), "whether {} is new", content.id);
            if *new {
                let made = id.is_none().then_some(content.id);
                ensure!(made.is_none_or(|id| self.model.item(id).is_none()), "{made:?} was there before");
                let (id, time) = (id.map_or(content.id, item), at.unwrap_or(content.published_at));
                // Ids made within one millisecond get times that run ahead, by at most a second.
                let by_clock = began..=clock() + 1000;
                ensure!(at.is_some() || by_clock.contains(&time), "{time} is not by the clock");
                self.model.items.push(Item::new(id, time, body.clone()));
            }
            let item = self.model.item(content.id).ok_or_else(|| format!("content {} appears", content.id))?;
            same_content(item, content)?;
        }
        Ok(())
    }

    pub(crate) fn repeat(&mut self, index: usize, with_time: bool) -> Result<(), String> {
        let Some(item) = self.nth(index) else { return Ok(()) };
        self.publish_bodies(&[(Some(item.id.get()), with_time.then_some(item.at), item.body)])
    }

    /// Moves a marker; it never moves back.
    pub(crate) fn mark(&mut self, raw: u64, wanted: Place) -> Result<(), String> {
        let (reader, place) = (user(raw), self.cursor(wanted));
        let stands = self.model.items.iter().any(|item| item.cursor() == place && !item.deleted);
        let began = clock();
        let answer = self.system.feed.move_marker(reader, place);
        if self.is_ahead(place.at) && !stands {
            return match answer {
                Err(error) => expect_code(&error, "time_ahead"),
                Ok(there) => Err(format!("a marker moves ahead, to {there}")),
            };
        }
        let ended = clock();
        let answer = answer.map_err(|e| format!("a marker fails: {e}"))?;
        self.confirm_marker(reader);
        let present = self.model.markers.get(&reader).copied();
        let then = |place: Cursor| present.map_or(place, |present| place.max(present));
        // A place ahead of the clock counts as the newest item, or as now if there is none.
        let now = Cursor { at: answer.at.clamp(began, ended), ..place };
        let counts = then(self.newest_up_to(reader, place).unwrap_or(now));
        let expected = if place.at > ended || place.at > began && answer == counts { counts } else { then(place) };
        self.model.markers.insert(reader, expected);
        ensure_eq!(answer, expected, "marker of {reader}");
        Ok(())
    }

    /// The first read moves a marker that is too far ahead to the newest item.
    pub(crate) fn confirm_marker(&mut self, reader: UserId) {
        let Some(place) = self.model.markers.get(&reader).copied().filter(|place| self.is_ahead(place.at)) else {
            return;
        };
        match self.newest_up_to(reader, place) {
            Some(newest) => self.model.markers.insert(reader, newest),
            None => self.model.markers.remove(&reader),
        };
    }

    fn newest_up_to(&self, reader: UserId, place: Cursor) -> Option<Cursor> {
        let timeline = self.model.timeline(reader, self.system.config.timeline.include_own);
        timeline.iter().map(|entry| entry.cursor).find(|cursor| *cursor <= place)
    }

    /// The item with this index, modulo their number.
    pub(crate) fn nth(&self, index: usize) -> Option<Item> {
        self.model.items.get(index.checked_rem(self.model.items.len())?).cloned()
    }

    pub(crate) fn import(&mut self, posts: &[Post]) -> Result<(), String> {
        if self.system.config.fanout.queue < WIDE {
            return Ok(()); // Would wait for workers that may be off.
        }
        let named: Vec<_> = posts.iter().filter(|post| post.id.is_some() && post.at.is_some()).collect();
        let drafts = named.iter().map(|post| draft(post.id, post.at, &post.body())).collect();
        let results = self.system.feed.import(drafts).map_err(|e| format!("import fails: {e}"))?;
        ensure_eq!(results.len(), named.len(), "answers");
        for (post, result) in named.into_iter().zip(results) {
            let should_be = match self.judge(post.id, post.at, &post.body()) {
                Verdict::New => Ok(true),
                Verdict::Same => Ok(false),
                Verdict::Taken => Err("content_exists"),
                Verdict::Ahead => Err("time_ahead"),
            };
            ensure_eq!(result.as_ref().map_err(code).copied(), should_be, "import of {post:?}");
            if let (Ok(true), Some(id), Some(at)) = (result, post.id, post.at) {
                self.model.items.push(Item::new(item(id), at, post.body()));
            }
        }
        Ok(())
    }

    pub(crate) fn edit(&mut self, index: usize, new_text: Option<u8>, new_extra: Option<u8>) -> Result<(), String> {
        let Some(Item { id, .. }) = self.nth(index) else { return Ok(()) };
        let edit = EditDraft {
            text: new_text.map(text),
            media: None,
            extra: new_extra.map(|choice| extra(choice).map(|json| serde_json::from_str(&json).expect("an object"))),
        };
        let answer = self.system.feed.edit(id, edit);
        let Some(item) = self.model.live(id) else { return expect_not_found(answer) };
        item.edited |= new_text.is_some() || new_extra.is_some();
        item.text = new_text.map_or_else(|| item.text.clone(), text);
        item.extra = new_extra.map_or_else(|| item.extra.clone(), extra);
        same_content(item, &answer.map_err(|e| format!("edit fails: {e}"))?)
    }

    pub(crate) fn delete(&mut self, index: usize) -> Result<(), String> {
        let Some(Item { id, .. }) = self.nth(index) else { return Ok(()) };
        let answer = self.system.feed.delete(id);
        let Some(item) = self.model.live(id) else { return expect_not_found(answer) };
        item.deleted = true;
        answer.map_err(|e| format!("delete fails: {e}"))
    }

    pub(crate) fn delete_newest(&mut self, topic: &str, most: usize) -> Result<(), String> {
        for entry in self.model.topic(topic, most) {
            let index = self.model.items.iter().position(|item| item.id == entry.cursor.id).expect("there");
            self.delete(index)?;
        }
        Ok(())
    }

    /// A restore may be refused by a full queue, like a publish.
    pub(crate) fn restore(&mut self, index: usize) -> Result<(), String> {
        let Some(Item { id, deleted, .. }) = self.nth(index) else { return Ok(()) };
        let kept = self.system.config.content.deleted_retention > NEVER;
        let content = match self.system.feed.restore(id) {
            Err(error) if self.is_full(&error) => return Ok(()),
            answer if deleted && !kept => return expect_not_found(answer),
            Err(error) => return Err(format!("restore fails: {error}")),
            Ok(content) => content,
        };
        let item = self.model.items.iter_mut().find(|item| item.id == id).expect("there");
        item.deleted = false;
        same_content(item, &content)
    }

    /// Like a publish, of an item that refers to another.
    pub(crate) fn comment(&mut self, index: usize, post: &Post) -> Result<(), String> {
        let Some(Item { id: subject, deleted, .. }) = self.nth(index) else { return Ok(()) };
        let body = Body { kind: COMMENT, ref_id: Some(subject), ..post.body() };
        let text = fields(post.id, post.at, &body).collect::<Vec<_>>().join(",");
        let draft: CommentDraft = serde_json::from_str(&format!("{{{text}}}")).expect("a draft");
        let began = clock();
        let answer = self.system.feed.comment(&HostId::Number(subject.get()), draft).map(|published| vec![published]);
        if deleted {
            return expect_not_found(answer);
        }
        self.published(&[(post.id, post.at, body)], began, answer)
    }

    pub(crate) fn relate(
        &mut self,
        raw: u64,
        follow: &[(u64, Option<Millis>)],
        unfollow: &[u64],
    ) -> Result<(), String> {
        let (began, me) = (clock(), user(raw));
        let follow: Vec<_> = follow.iter().map(|(target, since)| (user(*target), *since)).collect();
        let unfollow: Vec<_> = unfollow.iter().map(|target| user(*target)).collect();
        let answer = self.system.feed.relate(me, &follow, &unfollow);
        let targets: Vec<_> = follow.iter().map(|(target, _)| *target).chain(unfollow.iter().copied()).collect();
        let twice = targets.iter().collect::<BTreeSet<_>>().len() < targets.len();
        let itself = follow.iter().any(|(target, _)| *target == me);
        let ahead = follow.iter().any(|(target, since)| self.is_new_and_ahead(me, *target, *since));
        let added = follow.iter().filter(|(target, _)| !self.model.follows(me, *target)).count();
        let removed = unfollow.iter().filter(|target| self.model.follows(me, **target)).count();
        let after = self.model.following(me) + added - removed;
        let beyond = added > removed && after > self.system.config.graph.follow_limit;
        let relations = match answer {
            Err(error) if twice => return expect_code(&error, "invalid_body"),
            Err(error) if itself => return expect_code(&error, "self_follow"),
            Err(error) if ahead => return expect_code(&error, "time_ahead"),
            Err(error) if self.is_full(&error) => return Ok(()),
            Err(error) if beyond => return expect_code(&error, "follow_limit"),
            Err(error) => return Err(format!("relate fails: {error}")),
            Ok(relations) => relations,
        };
        ensure!(!twice && !itself && !ahead && !beyond, "a follow that must be refused is answered {relations:?}");
        ensure_eq!(relations.len(), targets.len(), "answers");
        for ((target, since), relation) in follow.iter().zip(&relations) {
            self.follow(me, *target, *since, relation, began)?;
        }
        for target in &unfollow {
            self.model.follows.remove(&(me, *target));
        }
        let should_be: Vec<_> = targets.iter().map(|target| self.model.relation(me, *target)).collect();
        ensure_eq!(relations, should_be, "relations of {me}");
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
        since: Option<Millis>,
        answer: &Relation,
        began: Millis,
    ) -> Result<(), String> {
        if !self.model.follows(me, target) {
            let since = match (since, answer.following_since) {
                (Some(since), _) => since,
                (None, Some(made)) if (began..=clock()).contains(&made) => made,
                (None, made) => return Err(format!("following {target} since {made:?} is not by the clock")),
            };
            self.model.follows.insert((me, target), since);
        }
        Ok(())
    }

    pub(crate) fn bar(&mut self, raw: u64, target: u64, barrier: Barrier, raised: bool) -> Result<(), String> {
        let (began, me, target) = (clock(), user(raw), user(target));
        let relation = match self.system.feed.set_barrier(me, target, barrier, raised) {
            Err(error) if me == target && raised => {
                return expect_code(&error, if barrier == Barrier::Mute { "self_mute" } else { "self_hide" });
            }
            Err(error) => return Err(format!("a barrier cannot be set: {error}")),
            Ok(relation) => relation,
        };
        ensure!(me != target || !raised, "a user has a barrier against itself: {relation:?}");
        let made = relation.barred_since(barrier);
        match self.model.barriers(barrier).get(&(me, target)) {
            _ if !raised => drop(self.model.barriers(barrier).remove(&(me, target))),
            Some(_) => {}
            None => {
                let made = made.filter(|made| (began..=clock()).contains(made));
                let made = made.ok_or_else(|| format!("a barrier that is not by the clock: {relation:?}"))?;
                self.model.barriers(barrier).insert((me, target), made);
            }
        }
        ensure_eq!(relation, self.model.relation(me, target), "relation of {me} to {target}");
        Ok(())
    }

    pub(crate) fn import_follows(&mut self, follows: &[(u64, u64, Option<Millis>)]) -> Result<(), String> {
        if self.system.config.fanout.queue < WIDE {
            return Ok(()); // Would wait for workers that may be off.
        }
        let follows: Vec<_> = follows.iter().map(|(u, t, since)| (user(*u), user(*t), since.or(Some(3)))).collect();
        let hosts = |&(me, target, since): &(UserId, UserId, Option<Millis>)| {
            (HostId::Number(me.get()), HostId::Number(target.get()), since)
        };
        let lines: Vec<_> = follows.iter().map(hosts).collect();
        let results = self.system.feed.import_follows(&lines).map_err(|e| format!("import fails: {e}"))?;
        ensure_eq!(results.len(), follows.len(), "answers");
        for ((me, target, since), result) in follows.into_iter().zip(results) {
            let known = self.model.follows(me, target);
            let full = self.model.following(me) >= self.system.config.graph.follow_limit;
            match result {
                Err(error) if me == target => expect_code(&error, "self_follow")?,
                Err(error) if self.is_new_and_ahead(me, target, since) => expect_code(&error, "time_ahead")?,
                Err(error) if full && !known => expect_code(&error, "follow_limit")?,
                Err(error) => return Err(format!("{me} cannot follow {target}: {error}")),
                Ok(new) => {
                    let ahead = self.is_new_and_ahead(me, target, since);
                    ensure!(me != target && !ahead && (known || !full), "{me} may not follow {target}");
                    ensure_eq!(new, !known, "whether {me} following {target} is new");
                    if new {
                        self.model.follows.insert((me, target), since.expect("given"));
                    }
                }
            }
        }
        Ok(())
    }
}

pub(crate) fn expect_code(error: &Error, should_be: &str) -> Result<(), String> {
    ensure_eq!(code(error), should_be, "the code of {error:?}");
    Ok(())
}

pub(crate) fn expect_not_found<T: std::fmt::Debug>(answer: Result<T, Error>) -> Result<(), String> {
    match answer {
        Err(error) => expect_code(&error, "content_not_found"),
        Ok(done) => Err(format!("what is not there is changed: {done:?}")),
    }
}
