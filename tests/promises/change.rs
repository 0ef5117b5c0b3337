//! Changes and their answers.

use std::collections::HashSet;
use std::time::{SystemTime, UNIX_EPOCH};

use feed::{DeleteItem, EditItem, ImportItems, MoveMarker, PublishItems, RestoreItem, TakeOff, Visibility, items};
use model::error::{Code, Error};
use model::{COMMENT, Content, ContentEdit, Cursor, ExternalId, Mentions, Millis, NewComment, NewContent, UserId};

use super::case::Case;
use super::hosts::{Hosts, New};
use super::names::{TOPICS, json};
use super::ops::{Edit, Place, Post};
use super::shape::{NEVER, WIDE};
use crate::plain::{Body, Item};

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

/// A publish as sent by a host.
#[derive(Debug, Clone)]
struct Sent {
    id: Option<ExternalId>,
    at: Option<Millis>,
    author: ExternalId,
    subject: Option<ExternalId>,
    to: Vec<ExternalId>,
    mentioned: Vec<ExternalId>,
    /// With any ids.
    body: Body,
}

impl Sent {
    fn new(post: &Post, hosts: &Hosts) -> Self {
        let (text, extra) = (text(post.text), extra(post.extra));
        let topics = (0..TOPICS.len() - 1).filter(|n| post.topics >> n & 1 == 1).map(|n| TOPICS[n]);
        let twice = (post.topics >> (TOPICS.len() - 1) & 1 == 1).then_some(TOPICS[0]);
        let topics = topics.chain(twice).map(str::to_owned).collect();
        Self {
            id: post.id.map(|raw| hosts.host(raw)),
            at: post.at,
            author: hosts.host(post.author),
            subject: post.subject.map(|raw| hosts.host(raw)),
            to: post.sources().map(|raw| hosts.host(raw)).collect(),
            mentioned: post.mentioned().map(|raw| hosts.host(raw)).collect(),
            body: Body {
                text,
                extra,
                broadcast: post.broadcast,
                audience: post.audience,
                topics,
                kind: post.kind,
                ..Body::plain(UserId::MIN)
            },
        }
    }

    /// The body with the ids in the store.
    fn body(&self, hosts: &Hosts) -> Body {
        let ref_id = self.subject.as_ref().map(|subject| hosts.known(subject));
        let known = |users: &[ExternalId]| users.iter().map(|user| hosts.known(user)).collect();
        let (to, mentions) = (known(&self.to), known(&self.mentioned));
        Body { author: hosts.known(&self.author), ref_id, to, mentions, ..self.body.clone() }
    }

    /// The ids in the order in which names get numbers.
    fn mentions(&self) -> impl Iterator<Item = &ExternalId> {
        self.id.iter().chain([&self.author]).chain(&self.subject).chain(&self.to).chain(&self.mentioned)
    }

    fn new_item(&self) -> NewContent {
        let what = (self.body.kind != "post").then(|| format!("\"kind\":\"{}\"", self.body.kind));
        let points = self.subject.as_ref().map(|subject| format!("\"ref_id\":{}", json(subject)));
        let text = self.fields().chain(what).chain(points).collect::<Vec<_>>().join(",");
        serde_json::from_str(&format!("{{{text}}}")).expect("a new_item")
    }

    /// The fields shared with comments.
    fn fields(&self) -> impl Iterator<Item = String> {
        let body = &self.body;
        let mut fields = vec![format!("\"author_id\":{},\"broadcast\":{}", json(&self.author), body.broadcast)];
        fields.extend(self.id.as_ref().map(|id| format!("\"content_id\":{}", serde_json::json!(id))));
        fields.extend(self.at.map(|at| format!("\"published_at\":{at}")));
        fields.extend(body.text.as_ref().map(|text| format!("\"text\":\"{text}\"")));
        fields.push(format!("\"topics\":{}", serde_json::json!(body.topics)));
        let list = |users: &[ExternalId]| users.iter().map(json).collect::<Vec<_>>().join(",");
        fields.push(format!("\"to\":[{}],\"mentions\":[{}]", list(&self.to), list(&self.mentioned)));
        fields.extend(body.audience.map(|audience| format!("\"audience\":\"{}\"", audience.name())));
        fields.extend(body.extra.as_ref().map(|extra| format!("\"extra\":{extra}")));
        fields.into_iter()
    }
}

/// Compares the model's item with the content in an answer.
pub(crate) fn same_content(item: &Item, content: &Content) -> Result<(), String> {
    let is = (content.id, content.published_at, content.author, &content.text, &content.extra);
    ensure_eq!(is, (item.id, item.at, item.body.author, &item.shown.text, &item.shown.extra), "content");
    ensure_eq!(content.paths().collect::<Vec<_>>(), item.paths().collect::<Vec<_>>(), "paths of {}", item.id);
    ensure_eq!(content.audience, item.audience, "audience of {}", item.id);
    ensure_eq!(content.mentions, item.body.mentions, "mentions of {}", item.id);
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
    pub(crate) fn is_full(&self, error: &Error) -> bool {
        code(error) == "overloaded" && self.system.config.fanout.queue < WIDE
    }

    /// Fails if a change did not come into the log of a cluster. The node that refused it need not have the changes before.
    pub(crate) fn expect_taken<T>(&self, answer: &Result<T, Error>) -> Result<(), String> {
        match answer {
            Err(error) if matches!(code(error), "log_unavailable" | "outcome_unknown") => {
                Err(format!("the log did not take a change: {error}"))
            }
            Err(error) if self.system.is_node() && self.is_full(error) => {
                Err(format!("the node did not take a change; nothing has changed: {error}"))
            }
            _ => Ok(()),
        }
    }

    /// Whether a given time is refused, unless it repeats the present one.
    pub(crate) fn is_ahead(&self, at: Millis) -> bool {
        at > clock().saturating_add(self.system.config.content.max_ahead.as_millis())
    }

    fn judge(&self, Sent { id, at, .. }: &Sent, body: &Body) -> Verdict {
        match id.as_ref().and_then(|id| self.model.item(self.hosts.known(id))) {
            Some(there) if there.is_repeated_by(body, *at) => Verdict::Same,
            _ if at.is_some_and(|at| self.is_ahead(at)) => Verdict::Ahead,
            None => Verdict::New,
            Some(_) => Verdict::Taken,
        }
    }

    fn judge_all(&self, sent: &[Sent]) -> Vec<Verdict> {
        sent.iter().map(|sent| self.judge(sent, &sent.body(&self.hosts))).collect()
    }

    /// Takes over the numbers of new names.
    pub(crate) fn learn<'i>(
        &mut self,
        mentioned: impl IntoIterator<Item = &'i ExternalId>,
        new: New,
    ) -> Result<(), String> {
        self.hosts.learn(self.system.feed.store(), mentioned, new)
    }

    /// Learns the numbers of names in the lines of an import. Names of refused lines may get no number, or one out of order.
    pub(crate) fn learn_lines<'i>(
        &mut self,
        mentioned: impl Iterator<Item = &'i ExternalId>,
        all: bool,
    ) -> Result<(), String> {
        if all {
            return self.learn(mentioned, New::All);
        }
        let mentioned: Vec<_> = mentioned.cloned().collect();
        self.hosts.learn_in_any_order(self.system.feed.store(), &mentioned)
    }

    pub(crate) fn publish(&mut self, posts: &[Post]) -> Result<(), String> {
        let sent: Vec<_> = posts.iter().map(|post| Sent::new(post, &self.hosts)).collect();
        self.send(&sent)
    }

    fn send(&mut self, sent: &[Sent]) -> Result<(), String> {
        let (began, verdicts) = (self.earliest(), self.judge_all(sent));
        let answer = self.system.feed.submit(PublishItems::all(sent.iter().map(Sent::new_item).collect()));
        self.published(sent, verdicts, began, answer)
    }

    /// Compares the answer to a publish, and adds new items to the model.
    fn published(
        &mut self,
        sent: &[Sent],
        verdicts: Vec<Verdict>,
        began: Millis,
        answer: Result<Vec<(Content, bool)>, Error>,
    ) -> Result<(), String> {
        self.expect_taken(&answer)?;
        let ids: HashSet<_> = sent.iter().filter_map(|sent| sent.id.as_ref()).collect();
        let twice = ids.len() < sent.iter().filter(|sent| sent.id.is_some()).count();
        let taken = verdicts.iter().any(|verdict| matches!(verdict, Verdict::Taken));
        let ahead = verdicts.iter().any(|verdict| matches!(verdict, Verdict::Ahead));
        let new = match &answer {
            Ok(_) => New::All,
            Err(_) => New::None,
        };
        let learnt = self.learn(sent.iter().flat_map(Sent::mentions), new);
        learnt.map_err(|wrong| format!("{wrong}; the answer: {answer:?}"))?;
        let published = match answer {
            Err(error) if twice => return expect_code(&error, "invalid_body"),
            Err(error) if ahead => return expect_code(&error, "time_ahead"),
            Err(error) if self.is_full(&error) => return Ok(()),
            Err(error) if taken => return expect_code(&error, "content_exists"),
            Err(error) => return Err(format!("publish fails: {error}")),
            Ok(published) => published,
        };
        ensure!(!twice && !taken && !ahead, "a publish that must be refused is answered {published:?}");
        ensure_eq!(published.len(), sent.len(), "answers");
        for ((sent, verdict), (content, new)) in sent.iter().zip(verdicts).zip(&published) {
            ensure_eq!(*new, matches!(verdict, Verdict::New), "whether {} is new", content.id);
            self.shows(content)?;
            if *new {
                let made = sent.id.is_none().then_some(content.id);
                ensure!(made.is_none_or(|id| self.model.item(id).is_none()), "{made:?} was there before");
                let id = sent.id.as_ref().map_or(content.id, |id| self.hosts.known(id));
                let time = sent.at.unwrap_or(content.published_at);
                // Ids made within one millisecond get times that run ahead, by at most a second.
                let by_clock = began..=self.latest();
                ensure!(sent.at.is_some() || by_clock.contains(&time), "{time} is not by the clock");
                self.model.publish(id, time, sent.body(&self.hosts));
            }
            let item = self.model.item(content.id).ok_or_else(|| format!("content {} appears", content.id))?;
            same_content(item, content)?;
        }
        Ok(())
    }

    /// Whether an answer has the ids of the host.
    pub(crate) fn shows(&self, value: &impl Mentions) -> Result<(), String> {
        let ids = self.system.feed.read().host_ids(value).map_err(|e| format!("names cannot be read: {e}"))?;
        self.hosts.shows(value, &ids)
    }

    pub(crate) fn repeat(&mut self, index: usize, with_time: bool) -> Result<(), String> {
        let Some(Item { id, at, body, .. }) = self.nth(index) else { return Ok(()) };
        let at = with_time.then_some(at);
        let (author, subject) = (self.hosts.back(body.author), body.ref_id.map(|id| self.hosts.back(id)));
        let back = |users: &[UserId]| users.iter().map(|user| self.hosts.back(*user)).collect();
        let (to, mentioned) = (back(&body.to), back(&body.mentions));
        self.send(&[Sent { id: Some(self.hosts.back(id)), at, author, subject, to, mentioned, body }])
    }

    /// Moves a marker; it never moves back.
    pub(crate) fn mark(&mut self, raw: u64, list: Option<&str>, wanted: Place) -> Result<(), String> {
        let (host, cursor, began) = (self.hosts.host(raw), self.place(wanted), self.earliest());
        let (feed, visibility) = (&self.system.feed, Visibility::Application);
        let answer = match list {
            Some(list) => feed.submit(MoveMarker {
                user: host.clone(),
                place: cursor.clone(),
                visibility,
                list: Some(list.to_owned()),
            }),
            None => feed.submit(MoveMarker { user: host.clone(), place: cursor.clone(), visibility, list: None }),
        };
        self.expect_taken(&answer)?;
        let Some(place) = self.hosts.place(&cursor) else {
            self.learn([&host], New::None)?;
            return expect_code(&answer.err().ok_or("a marker of an unknown cursor")?, "unknown_cursor");
        };
        if list.is_some_and(|list| self.model.list(self.hosts.user(raw), list).is_none()) {
            self.learn([&host], New::None)?;
            return expect_code(&answer.err().ok_or("a marker of no list")?, "list_not_found");
        }
        self.learn([&host], if answer.is_ok() { New::All } else { New::Some })?;
        let reader = self.hosts.user(raw);
        let stands = self.model.items.iter().any(|item| item.cursor() == place && self.model.is_shown(item));
        if self.is_ahead(place.at) && !stands {
            return match answer {
                Err(error) => expect_code(&error, "time_ahead"),
                Ok(there) => Err(format!("a marker moves ahead, to {there}")),
            };
        }
        let ended = self.latest();
        let answer = answer.map_err(|e| format!("a marker fails: {e}"))?;
        let present = self.marker(reader, list);
        let then = |place: Cursor| present.map_or(place, |present| place.max(present));
        // A place ahead of the clock counts as the newest item, or as now if there is none.
        let now = Cursor { at: answer.at.clamp(began, ended), ..place };
        let counts = then(self.newest_up_to(reader, list, place).unwrap_or(now));
        let expected = if place.at > ended || place.at > began && answer == counts { counts } else { then(place) };
        match list.and_then(|list| self.model.lists.get_mut(&(reader, list.to_owned()))) {
            Some(list) => list.marker = Some(expected),
            None => drop(self.model.markers.insert(reader, expected)),
        }
        ensure_eq!(answer, expected, "marker of {reader}");
        self.shows(&answer)
    }

    /// The marker of a user, or of a list. One that is too far ahead counts as one at the newest item up to it.
    pub(crate) fn marker(&self, reader: UserId, list: Option<&str>) -> Option<Cursor> {
        let place = match list {
            Some(list) => self.model.list(reader, list)?.marker?,
            None => self.model.markers.get(&reader).copied()?,
        };
        if self.is_ahead(place.at) { self.newest_up_to(reader, list, place) } else { Some(place) }
    }

    fn newest_up_to(&self, reader: UserId, list: Option<&str>, place: Cursor) -> Option<Cursor> {
        let timeline = match list {
            Some(list) => self.model.list_timeline(reader, list),
            None => self.model.timeline(reader, self.system.config.timeline.include_own),
        };
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
        let named = posts.iter().filter(|post| post.id.is_some() && post.at.is_some());
        let named: Vec<_> = named.map(|post| Sent::new(post, &self.hosts)).collect();
        let results =
            self.system.feed.import(named.iter().map(|sent| ImportItems::one(sent.new_item(), None).into()).collect());
        let results = results.map_err(|e| format!("import fails: {e}"))?;
        results.iter().try_for_each(|result| self.expect_taken(result))?;
        self.learn_lines(named.iter().flat_map(Sent::mentions), results.iter().all(Result::is_ok))?;
        ensure_eq!(results.len(), named.len(), "answers");
        for (sent, result) in named.into_iter().zip(results) {
            let body = sent.body(&self.hosts);
            let should_be = match self.judge(&sent, &body) {
                Verdict::New => Ok(true),
                Verdict::Same => Ok(false),
                Verdict::Taken => Err("content_exists"),
                Verdict::Ahead => Err("time_ahead"),
            };
            ensure_eq!(result.as_ref().map_err(code).copied(), should_be, "import of {sent:?}");
            if let (Ok(true), Some(id), Some(at)) = (result, &sent.id, sent.at) {
                self.learn(sent.mentions(), New::All)?;
                self.model.publish(self.hosts.known(id), at, body);
            }
        }
        Ok(())
    }

    pub(crate) fn edit(&mut self, index: usize, new: Edit) -> Result<(), String> {
        let Some(Item { id, .. }) = self.nth(index) else { return Ok(()) };
        let edit = ContentEdit {
            text: new.text.map(text),
            extra: new.extra.map(|choice| extra(choice).map(|json| serde_json::from_str(&json).expect("an object"))),
            ..ContentEdit::default()
        };
        let edits = !edit.is_empty();
        let feed = &self.system.feed;
        let answer = feed.submit(EditItem { item: self.hosts.back(id), edit });
        let Some(item) = self.model.live(id) else { return expect_not_found(answer) };
        item.edited |= edits;
        let shown = &mut item.shown;
        shown.text = new.text.map_or_else(|| shown.text.clone(), text);
        shown.extra = new.extra.map_or_else(|| shown.extra.clone(), extra);
        same_content(item, &answer.map_err(|e| format!("edit fails: {e}"))?)
    }

    pub(crate) fn delete(&mut self, index: usize) -> Result<(), String> {
        let Some(Item { id, .. }) = self.nth(index) else { return Ok(()) };
        let feed = &self.system.feed;
        let answer = feed.submit(DeleteItem { item: self.hosts.back(id), purge: false });
        let Some(item) = self.model.live(id) else { return expect_not_found(answer) };
        item.deleted = true;
        answer.map_err(|e| format!("delete fails: {e}"))
    }

    /// Deletes an item for good.
    pub(crate) fn purge(&mut self, index: usize) -> Result<(), String> {
        let Some(Item { id, .. }) = self.nth(index) else { return Ok(()) };
        let answer = self.system.feed.submit(DeleteItem { item: self.hosts.back(id), purge: true });
        let item = self.model.items.iter_mut().find(|item| item.id == id).expect("there");
        (item.deleted, item.purged) = (true, true);
        answer.map_err(|e| format!("a delete for good fails: {e}"))
    }

    /// Takes an item off a path.
    pub(crate) fn take_off(&mut self, index: usize, raw: u64) -> Result<(), String> {
        let Some(Item { id, .. }) = self.nth(index) else { return Ok(()) };
        let (host, source) = (self.hosts.host(raw), self.hosts.user(raw));
        let answer = self.system.feed.submit(TakeOff { item: self.hosts.back(id), source: host.clone() });
        self.expect_taken(&answer)?;
        self.learn([&host], New::None)?;
        match self.model.live(id).filter(|item| item.paths().any(|path| path == source)) {
            Some(item) => item.off.insert(source),
            None => return expect_not_found(answer),
        };
        answer.map_err(|e| format!("an item is not taken off {source}: {e}"))
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
        let Some(Item { id, deleted, purged, .. }) = self.nth(index) else { return Ok(()) };
        let kept = self.system.config.content.deleted_retention > NEVER && !purged;
        let feed = &self.system.feed;
        let answer = feed.submit(RestoreItem { item: self.hosts.back(id) });
        let content = match answer {
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
        let Some(item) = self.nth(index) else { return Ok(()) };
        let subject = item.id;
        let visibility = if post.text > 0 { Visibility::User } else { Visibility::Application };
        let refusal = match visibility {
            Visibility::User => self.model.refusal(self.hosts.user(post.author), &item),
            Visibility::Application => (!self.model.is_shown(&item)).then_some("content_not_found"),
        };
        let mut sent = Sent::new(post, &self.hosts);
        sent.body.kind = COMMENT;
        sent.subject = Some(self.hosts.back(subject));
        let text = sent.fields().collect::<Vec<_>>().join(",");
        let new_item: NewComment = serde_json::from_str(&format!("{{{text}}}")).expect("a new_item");
        let sent = [sent];
        let (began, verdicts) = (self.earliest(), self.judge_all(&sent));
        let answer = items::comment(&self.system.feed, self.hosts.back(subject), new_item, visibility)
            .map(|published| vec![published]);
        self.expect_taken(&answer)?;
        if let Some(code) = refusal {
            self.learn(sent[0].mentions(), New::None)?;
            return expect_code(&answer.err().ok_or_else(|| format!("a comment instead of {code}"))?, code);
        }
        self.published(&sent, verdicts, began, answer)
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
