//! The two stores, and the comparison of their answers.
//!
//! The contract leaves some facts open, which are not compared: the numbers of jobs (it promises only that they rise,
//! and so the order of jobs), and the jobs that a refused publish does not make.

use std::collections::BTreeMap;
use std::fmt::Debug;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use double::Double;
use model::error::{Error, Result};
use model::store::{
    Barred, Batch, Change, Delivery, FINAL, Published, Push, Reacting, Related, Restored, Store, Then, Tier,
};
use model::{
    Audience, Content, ContentId, Entry, ErasedPart, Erasure, ErasurePlace, Event, EventKind, Job, JobId, KindId,
    Millis, Moment, Profile, Progress, Publish, Reach, UserId, Work,
};
use store::{Options, Rocks};

use super::ops::{Call, ITEMS, Item, Op, Record, USERS, kinds};
use crate::store::everything::{Scope, reads, without_job};
use crate::store::support;

type Checked = std::result::Result<(), TestCaseError>;

/// The model, the store on disk, and the jobs of the one by those of the other.
pub(crate) struct World {
    model: Box<dyn Store>,
    disk: Option<Box<dyn Store>>,
    dir: tempfile::TempDir,
    jobs: BTreeMap<JobId, JobId>,
    /// The number of the last event.
    events: u64,
    /// How often the disk was opened again.
    openings: usize,
    /// The time from which on both keep notices.
    notices_since: Millis,
}

impl World {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let model = Box::new(Double::new());
        model.name_reactions(&kinds(0));
        let disk = open(&dir, 0);
        Self { model, disk: Some(disk), dir, jobs: BTreeMap::new(), events: 0, openings: 0, notices_since: 0 }
    }

    fn disk(&self) -> &dyn Store {
        self.disk.as_deref().expect("open between the steps")
    }

    /// Both answers to one call, errors by their code.
    fn both<T>(&self, call: impl Fn(&dyn Store) -> Result<T>) -> (Answer<T>, Answer<T>) {
        (answer(call(&*self.model)), answer(call(self.disk())))
    }

    fn same<T: PartialEq + Debug>(&self, call: impl Fn(&dyn Store) -> Result<T>) -> Checked {
        let (model, disk) = self.both(call);
        prop_assert_eq!(model, disk);
        Ok(())
    }

    /// Like [`World::same`], for a read that can also be tried from memory alone.
    fn same_read<T: PartialEq + Debug>(&self, read: impl Fn(&dyn Store, Tier) -> Result<T>) -> Checked {
        let from_memory = read(self.disk(), Tier::Memory);
        let (model, disk) = self.both(|store| read(store, Tier::Disk));
        if !matches!(from_memory, Err(Error::NotCached)) {
            prop_assert_eq!(&model, &answer(from_memory), "from memory");
        }
        prop_assert_eq!(model, disk);
        Ok(())
    }

    /// Compares new jobs of both stores, and records that they are the same.
    fn same_new_jobs(&mut self, model: &[Job], disk: &[Job]) -> Checked {
        prop_assert_eq!(model.len(), disk.len());
        model.iter().zip(disk).try_for_each(|(model, disk)| self.same_new_job(Some(*model), Some(*disk)))
    }

    fn same_new_job(&mut self, model: Option<Job>, disk: Option<Job>) -> Checked {
        let (Some(model), Some(disk)) = (model, disk) else {
            prop_assert_eq!(model, disk);
            return Ok(());
        };
        prop_assert_eq!((model.work, model.progress), (disk.work, disk.progress));
        prop_assert_eq!((model.id.lane, disk.id.lane), (model.work.lane(), model.work.lane()));
        self.jobs.insert(model.id, disk.id);
        Ok(())
    }

    /// One of the model's jobs whose work fits, with the same job's id on disk.
    fn pick<T>(&self, number: usize, fits: impl Fn(&Job) -> Option<T>) -> Option<(T, Job, JobId)> {
        let jobs = self.model.jobs().expect("reads");
        let fitting: Vec<_> = jobs.iter().filter_map(|job| fits(job).map(|what| (what, *job))).collect();
        let count = fitting.len().max(1);
        let (what, job) = fitting.into_iter().nth(number % count)?;
        Some((what, job, self.jobs[&job.id]))
    }

    /// Calls with the job's id in either store, and compares the answers.
    fn same_with_job<T: PartialEq + Debug>(
        &self,
        ids: (JobId, JobId),
        call: impl Fn(&dyn Store, JobId) -> Result<T>,
    ) -> Checked {
        let (model, disk) = (answer(call(&*self.model, ids.0)), answer(call(self.disk(), ids.1)));
        prop_assert_eq!(model, disk);
        Ok(())
    }

    /// The parts are those that the model finds. Behind the last one the disk has none.
    fn erase(&mut self, user: UserId, parts: usize) -> Checked {
        self.events += 1;
        let number = self.events;
        let event = Event::new(number, EventKind::Suspension, false, number, 2 * number).of_user(user);
        let begun = Erasure { user, hash: "hash".to_owned(), since: event.logged, rows: 0 };
        self.same(|store| store.begin_erasure(&begun, Some(&event)))?;
        let mut place = ErasurePlace::default();
        for _ in 0..parts {
            match self.model.to_erase(user, &mut place, 1).expect("reads") {
                Some(part) => {
                    let (model, disk) = self.both(|store| store.erase(user, &part));
                    self.same_new_jobs(&model.unwrap_or_default(), &disk.unwrap_or_default())?;
                }
                None => {
                    let mut place = ErasurePlace::default();
                    while let Some(part) = self.disk().to_erase(user, &mut place, 3).expect("reads") {
                        let left = match part {
                            // Those that are to be purged are listed until then.
                            ErasedPart::Items(ids) => {
                                let ids: Vec<_> = ids.iter().filter_map(|id| ContentId::new(*id).ok()).collect();
                                let kept = self.disk().kept(&ids).expect("reads").into_iter().flatten();
                                kept.filter(|(_, deleted_at)| *deleted_at != Some(FINAL)).count()
                            }
                            ErasedPart::Changes(numbers) => numbers.len(),
                            _ => 1,
                        };
                        prop_assert_eq!(left, 0, "{:?}", place);
                    }
                    return self.same(|store| store.end_erasure(user, event.logged, 0));
                }
            }
        }
        Ok(())
    }

    /// Makes one change to both.
    pub(crate) fn apply(&mut self, op: &Op) -> Checked {
        match op {
            Op::Same(call) => self.same(|store| call.run(store, Tier::Disk)),
            Op::Publish { items, batch } => self.publish(items, *batch),
            Op::Edit { id, edit, now } => {
                let moment = Moment { at: *now, event: self.event(EventKind::Edit) };
                self.same(|store| store.edit(*id, edit, moment.clone()))
            }
            Op::Delete { id, now } => {
                let moment = Moment { at: *now, event: self.event(EventKind::Delete) };
                self.same(|store| store.delete(*id, moment.clone()))
            }
            Op::DeleteForGood { id, deleted_since } => {
                let event = self.event(EventKind::Delete);
                self.same(|store| store.delete_for_good(*id, *deleted_since, event.clone()))
            }
            Op::Erase { user, parts } => self.erase(*user, *parts),
            Op::TrimEvents { below } => {
                let below = self.events * below / 100;
                self.same(|store| store.trim_events(below))
            }
            Op::KeepNotices { since } => {
                self.notices_since = self.notices_since.max(*since);
                self.same(|store| {
                    store.keep_notices(*since);
                    Ok(())
                })
            }
            Op::Restore { id, deleted_since } => self.restore(*id, *deleted_since),
            Op::PurgeReactions { id, most } => self.purge_reactions(*id, *most),
            Op::Relate { user, changes, limit } => self.relate(*user, changes, *limit),
            Op::Answer { target, user, follow } => {
                let (model, disk) = self.both(|store| store.answer_request(*target, *user, *follow));
                let relation = |answered: &Option<Related>| answered.map(|related| related.relation);
                prop_assert_eq!(model.as_ref().map(relation), disk.as_ref().map(relation));
                let job =
                    |answered: Result<Option<Related>, _>| answered.ok().flatten().and_then(|related| related.job);
                self.same_new_job(job(model), job(disk))
            }
            Op::Bar { user, target, barrier, since, limit } => {
                let (model, disk) = self.both(|store| store.set_barrier(*user, *target, *barrier, *since, *limit));
                prop_assert_eq!(
                    model.as_ref().map(|barred| barred.relation),
                    disk.as_ref().map(|barred| barred.relation)
                );
                let jobs = |barred: Result<Barred, _>| barred.map_or([None; 2], |barred| barred.jobs);
                jobs(model).into_iter().zip(jobs(disk)).try_for_each(|(model, disk)| self.same_new_job(model, disk))
            }
            Op::BeginFanOut { job, reach } => {
                let Some((entry, job, on_disk)) = self.pick(*job, not_begun) else { return Ok(()) };
                self.same_with_job((job.id, on_disk), |store, id| store.begin_fan_out(id, entry, *reach))
            }
            Op::Deliver { job, recipients, record } => self.deliver(*job, recipients, record),
            Op::Settle { job, room } => {
                let Some(((user, author), job, on_disk)) = self.pick(*job, settling) else { return Ok(()) };
                self.same_with_job((job.id, on_disk), |store, id| store.settle(id, user, author, *room))
            }
            Op::Rebuild { job, authors, room } => self.rebuild(*job, authors, *room),
            Op::DropJob { job } => {
                let Some(((), job, on_disk)) = self.pick(*job, |_| Some(())) else { return Ok(()) };
                self.same_with_job((job.id, on_disk), <dyn Store>::drop_job)
            }
            Op::Touch { user, now } => {
                let (model, disk) = self.both(|store| store.touch(*user, *now));
                let activity = |touched: &model::store::Touched| without_job(touched.activity);
                prop_assert_eq!(model.as_ref().map(activity), disk.as_ref().map(activity));
                self.same_new_job(model.ok().and_then(|t| t.job), disk.ok().and_then(|t| t.job))
            }
            Op::ArchiveOutbox { author, newest, most } => {
                // The number of rows moved may differ between stores.
                let (model, disk) = self.both(|store| store.archive_outbox(*author, *newest, *most));
                prop_assert!(model.is_ok() && disk.is_ok(), "{model:?} {disk:?}");
                Ok(())
            }
            Op::ArchiveTopic { topic, newest, most } => {
                let (model, disk) = self.both(|store| match store.topic(topic, Tier::Disk)? {
                    Some(topic) => store.archive_topic(topic, *newest, *most),
                    None => Ok(0),
                });
                prop_assert!(model.is_ok() && disk.is_ok(), "{model:?} {disk:?}");
                Ok(())
            }
            Op::Reopen => self.reopen(),
        }
    }

    /// A start forgets names and kinds without a write.
    fn reopen(&mut self) -> Checked {
        let last = format!("before opening {}", self.openings);
        self.openings += 1;
        let profile = Profile { nickname: Some(last.clone()), ..Profile::default() };
        self.same(|store| {
            let numbers = store.give_numbers(&[&last])?;
            store.put_profile(UserId::MIN, &profile)?;
            Ok(numbers)
        })?;
        drop(self.disk.take());
        self.disk = Some(open(&self.dir, self.openings));
        self.model.name_reactions(&kinds(self.openings));
        self.disk().keep_notices(self.notices_since);
        Ok(())
    }

    /// The event of the next change; none for some changes.
    fn event(&mut self, kind: EventKind) -> Option<Event> {
        self.events += 1;
        let number = self.events;
        let event = Event::new(number, kind, number.is_multiple_of(2), number, 2 * number);
        (!number.is_multiple_of(5)).then_some(event)
    }

    /// The delivery of the next items; now and then there is none.
    fn push(&self) -> Push {
        if self.events.is_multiple_of(4) { Push::LeftOut } else { Push::Queued }
    }

    /// Purges all reactions in pieces, each after the end of the one before.
    fn purge_reactions(&self, id: ContentId, most: usize) -> Checked {
        let mut last = None;
        loop {
            let (model, disk) = self.both(|store| store.purge_reactions(id, Millis::MAX, most, last));
            prop_assert_eq!(&model, &disk);
            match model.ok().and_then(|purged| purged.last().copied()) {
                None => return Ok(()),
                some => last = some,
            }
        }
    }

    fn publish(&mut self, items: &[(ContentId, Item)], batch: Batch) -> Checked {
        let kind = if items.len() > 2 { EventKind::Gap } else { EventKind::Publish };
        let items: Vec<_> =
            items.iter().map(|(id, item)| Publish { event: self.event(kind), ..to_publish(*id, item) }).collect();
        let push = self.push();
        let (model, disk) = self.both(|store| store.publish(&items, batch, push));
        let (Ok(model), Ok(disk)) = (&model, &disk) else {
            prop_assert_eq!(model, disk);
            return Ok(());
        };
        prop_assert_eq!(model.len(), disk.len());
        let refused = batch == Batch::AllOrNone && model.contains(&Published::Taken);
        for (model, disk) in model.iter().zip(disk) {
            match (model, disk) {
                (Published::New(_), Published::New(_)) if refused => {}
                (Published::New(model), Published::New(disk)) => self.same_new_jobs(model, disk)?,
                _ => prop_assert_eq!(model, disk),
            }
        }
        Ok(())
    }

    fn restore(&mut self, id: ContentId, deleted_since: Millis) -> Checked {
        let (event, push) = (self.event(EventKind::Restore), self.push());
        let (model, disk) = self.both(|store| store.restore(id, deleted_since, event.clone(), push));
        let (Ok(Restored::Now(of_model, model_jobs)), Ok(Restored::Now(of_disk, disk_jobs))) = (&model, &disk) else {
            prop_assert_eq!(model, disk);
            return Ok(());
        };
        prop_assert_eq!(of_model, of_disk);
        self.same_new_jobs(model_jobs, disk_jobs)
    }

    fn relate(&mut self, user: UserId, changes: &[Change], limit: usize) -> Checked {
        let (model, disk) = self.both(|store| store.relate(user, changes, limit));
        let (Ok(model), Ok(disk)) = (&model, &disk) else {
            prop_assert_eq!(model, disk);
            return Ok(());
        };
        prop_assert_eq!(model.len(), disk.len());
        for (model, disk) in model.iter().zip(disk) {
            prop_assert_eq!(model.relation, disk.relation);
            self.same_new_job(model.job, disk.job)?;
        }
        Ok(())
    }

    fn deliver(&self, job: usize, recipients: &[UserId], record: &Record) -> Checked {
        let Some((entry, job, on_disk)) = self.pick(job, fanning_out) else { return Ok(()) };
        let reach = job.progress.map_or(Reach::All, |progress| progress.reach);
        let then = match record {
            Record::Nothing => Then::Nothing,
            Record::Progress(done_to) => Then::Progress(Progress { reach, done_to: *done_to }),
            Record::End => Then::End,
        };
        self.same_with_job((job.id, on_disk), |store, job| store.deliver(&Delivery { job, entry, recipients, then }))
    }

    fn rebuild(&self, job: usize, authors: &[UserId], room: usize) -> Checked {
        let Some((user, job, on_disk)) = self.pick(job, rebuilding) else { return Ok(()) };
        self.same_with_job((job.id, on_disk), |store, job| store.rebuild(job, user, authors, room))
    }

    /// Reads a part of both.
    pub(crate) fn read(&self, read: &Call) -> Checked {
        self.same_read(|store, tier| read.run(store, tier))
    }

    /// Compares all data.
    pub(crate) fn compare_everything(&self) -> Checked {
        let users = USERS.map(|raw| UserId::new(raw).expect("in range"));
        let ids = ITEMS.map(|raw| ContentId::new(raw).expect("in range"));
        for (name, read) in reads(&Scope::whole(&users, &ids)) {
            self.same_read(|store, tier| Ok((&name, read(store, tier)?)))?;
        }
        let translate = |job: Job| Job { id: self.jobs[&job.id], ..job };
        let model: Vec<_> = self.model.jobs().expect("reads").into_iter().map(translate).collect();
        prop_assert_eq!(model, self.disk().jobs().expect("reads"));
        prop_assert_eq!(support::audit(self.disk()), Vec::<String>::new());
        for final_before in [0, Millis::MAX] {
            prop_assert_eq!(support::digest(&*self.model, final_before), support::digest(self.disk(), final_before));
        }
        Ok(())
    }
}

type Answer<T> = std::result::Result<T, String>;

fn answer<T>(result: Result<T>) -> Answer<T> {
    result.map_err(|error| match error {
        Error::Refused { code, .. } => code.to_string(),
        other => format!("{other:?}"),
    })
}

fn open(dir: &tempfile::TempDir, openings: usize) -> Box<dyn Store> {
    // No power fails here, so writes need not wait for the device. Every second time nothing is loaded into memory.
    let options = Options { sync: false, loads: openings.is_multiple_of(2), ..Options::new(dir.path()) };
    let store = Rocks::open(&options).expect("the directory opens");
    store.name_reactions(&kinds(openings));
    Box::new(store)
}

fn to_publish(id: ContentId, item: &Item) -> Publish {
    let content = Content {
        id,
        author: item.author,
        published_at: item.at,
        edited_at: None,
        kind: item.kind.to_owned(),
        kind_id: KindId::built_in(item.kind).expect("a kind"),
        text: Some(item.fingerprint.to_string()),
        media: "[]".to_owned(),
        topics: item.topics.iter().map(|topic| (*topic).to_owned()).collect(),
        ref_id: item.ref_id,
        extra: None,
        broadcast: item.broadcast,
        to: item.to.iter().copied().filter(|source| *source != item.author).collect(),
        audience: if item.fingerprint.is_multiple_of(3) { Audience::Followers } else { Audience::Public },
        mentions: item.mentions.clone(),
        fingerprint: item.fingerprint,
    };
    Publish { content, time_given: item.time_given, audience_given: true, id_made: false, event: None }
}

fn fanning_out(job: &Job) -> Option<Entry> {
    match job.work {
        Work::FanOut { entry } => Some(entry),
        _ => None,
    }
}

fn not_begun(job: &Job) -> Option<Entry> {
    fanning_out(job).filter(|_| job.progress.is_none())
}

fn settling(job: &Job) -> Option<(UserId, UserId)> {
    match job.work {
        Work::Settle { user, source } => Some((user, source)),
        _ => None,
    }
}

fn rebuilding(job: &Job) -> Option<UserId> {
    match job.work {
        Work::Rebuild { user } => Some(user),
        _ => None,
    }
}
