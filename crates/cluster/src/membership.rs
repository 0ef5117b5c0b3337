//! Membership of a directory in a command log: beginning, joining and leaving a log, and the checks of a start.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::checkpoint::Mark;
use super::log::{Log, NotAppended, NotRead, Record};
use super::log_tail::OLD_END;
use super::record::{Envelope, FIRST_LEVEL, Genesis, LEVEL, Note, Stamp, Token, Unread, chain, log_id, unread_level};
use crate::prelude::*;
use config::Agreed;
use feed::begin_history;
use feed::store::{MARK, Store};
use feed::streaming::{ChangeTime, SequenceState};
use model::threads::try_for;

/// The note with the log of a directory.
const ORIGIN: &str = "origin";
/// The note with the first record of a log that a directory begins. It stays until the directory has joined this log, so
/// that a beginning whose answer was lost can be repeated.
const FOUNDING: &str = "founding";
/// Longest wait of a start for the log.
const TIME_LIMIT: Duration = Duration::from_secs(30);
/// Longest wait for one answer of the log.
const PART: Duration = Duration::from_secs(2);

/// The log of a directory, with the settings of all its nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogMembership {
    pub(super) log: Token,
    /// The settings of all nodes.
    pub agreed: Agreed,
}

/// The result of [`LogMembership::found`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Founded {
    /// The id of the log.
    pub log: String,
    /// Whether it was begun by this call.
    pub is_new: bool,
    /// Whether it goes on from data of a directory.
    pub has_base: bool,
}

impl LogMembership {
    /// The log to which a store belongs; `None` if it is not the store of a node.
    pub fn of(store: &Store) -> Result<Option<Self>> {
        let Some(note) = store.note(ORIGIN)? else { return Ok(None) };
        let read = serde_json::from_slice(&note);
        read.map(Some).map_err(|e| Error::Corrupt(format!("the command log of this directory: {e}")))
    }

    /// The log to which a store belongs. A store that belongs to none joins `log`: such a store must have no data, and `log`
    /// must still have its first record.
    pub fn join(log: &dyn Log, store: &Store) -> Result<Self> {
        if let Some(membership) = Self::of(store)? {
            return Ok(membership);
        }
        if feed::check::has_data(store)? {
            return Err(Error::Setup(
                "this directory has data, but is not a node of the cluster. To begin a cluster with it, run \
                 \"tideline cluster init\"; to add a node to a cluster, start with an empty directory or with a backup \
                 of another node"
                    .to_owned(),
            ));
        }
        let first = first_record(log)?;
        let (envelope, genesis) = genesis(&first.bytes)?;
        if genesis.has_base {
            return Err(Error::Setup(
                "the command log begins with the data of a directory, so a node cannot start empty. Restore a backup of \
                 another node into this directory first"
                    .to_owned(),
            ));
        }
        let membership = Self { log: log_id(&first), agreed: genesis.agreed };
        let time = envelope.time(first.time);
        let sequence = SequenceState::new(time);
        membership.write(store, &Mark { time, sequence, ..Mark::first(membership.log) })?;
        Ok(membership)
    }

    pub(super) fn write(&self, store: &Store, mark: &Mark) -> Result<()> {
        let note = serde_json::to_vec(self).map_err(|e| Error::Corrupt(format!("a note cannot be written: {e}")))?;
        store.put_notes(&[(ORIGIN, Some(&note)), (MARK, Some(&mark.bytes()?)), (FOUNDING, None)])?;
        begin_history(store, Some(mark.log.0))?;
        store.sync()
    }

    /// The place at which a node goes on. Fails if the log does not lead there: it is another one, was made anew or cut,
    /// or has dropped what the node lacks.
    pub(super) fn begin(&self, log: &dyn Log, store: &Store) -> Result<Mark> {
        let note = store.note(MARK)?.ok_or_else(|| Error::Corrupt("a node without a mark".to_owned()))?;
        let mark = Mark::read(&note)?;
        let level = mark.level;
        if !(FIRST_LEVEL..=LEVEL).contains(&level) {
            let (who, way_out) = unread_level(level);
            return Err(Error::Setup(format!(
                "{who} wrote the command log of this node (level {level}). Nothing was changed. {way_out}"
            )));
        }
        let gone = |why: &str| {
            Error::Setup(format!(
                "this node has applied the command log up to offset {}, and {why}. Nothing was changed. If cluster.topic \
                 and cluster.brokers are right, start it from a backup of another node",
                mark.last
            ))
        };
        let bounds = bounds_behind(log, mark.last)?;
        if bounds.start > mark.last + 1 {
            return Err(gone(&format!("the log begins at offset {}: the records between are gone", bounds.start)));
        }
        if bounds.end <= mark.last {
            return Err(gone(&format!("the log ends before it, at offset {}: it was cut or made anew", bounds.end)));
        }
        if bounds.start > mark.last {
            // The record is gone, but all later ones are there. They name their log, before the node appends anything.
            return match whose(log, bounds.start, self.log)? {
                Some(Stamp { log: other, .. }) if other != self.log => {
                    let (own, other) = (String::from(self.log), String::from(other));
                    Err(gone(&format!("the topic has the command log {other}, not {own}")))
                }
                _ => Ok(mark),
            };
        }
        let record = record_at(log, mark.last)?.ok_or_else(|| gone("the log has no record there"))?;
        let is_same = chain(mark.before, &record) == mark.hash && mark.log == self.log;
        if is_same {
            Ok(mark)
        } else {
            Err(gone("the record there is another one: this is another log, or it was cut"))
        }
    }

    /// Refuses a store that has joined a log already: a second beginning with its data would lose what it has not applied.
    pub fn must_be_none(store: &Store) -> Result<()> {
        if Self::of(store)?.is_none() {
            return Ok(());
        }
        let (log, position) = Self::place(store)?;
        Err(Error::Setup(format!(
            "this directory has joined the command log {log} already, and has its position {position}. Nothing was changed. If \
             the node does not start, look at cluster.topic and cluster.brokers first. If the log is lost, \"tideline cluster \
             recover\" begins another one with the data of the node that has the greatest position"
        )))
    }

    /// Begins a log. If `feed` has data, the log goes on from them, and all other nodes must start from a backup of that
    /// feed. A log that has begun already stays as it is. Can be repeated after a failure.
    pub fn found(log: &dyn Log, feed: Option<&Feed>, agreed: Agreed) -> Result<Founded> {
        feed.map_or(Ok(()), |feed| Self::must_be_none(feed.store()))?;
        let base =
            feed.map(|feed| feed::check::has_data(feed.store()).map(|has| has.then_some(feed))).transpose()?.flatten();
        if wait(|| log.bounds(PART))?.end == 0 {
            return Self::open(log, base, agreed);
        }
        let first = first_record(log)?;
        genesis(&first.bytes)?;
        match base {
            None => Ok(Founded { log: log_id(&first).into(), is_new: false, has_base: false }),
            Some(feed) if has_begun(feed.store(), &first)? => Self::opened(&first, base),
            Some(_) => Err(Error::Setup(
                "the command log has begun already, and not with the data of this directory".to_owned(),
            )),
        }
    }

    /// Appends the first record of a log, which goes on from the data of `base`, if there is one.
    fn open(log: &dyn Log, base: Option<&Feed>, agreed: Agreed) -> Result<Founded> {
        // A repeat after a lost answer has the same bytes.
        let noted = base.map(|feed| feed.store().note(FOUNDING)).transpose()?.flatten();
        let noted = noted.filter(|bytes| genesis(bytes).is_ok_and(|(_, genesis)| genesis.agreed == agreed));
        let bytes = noted.map_or_else(|| first_bytes(base, agreed), Ok)?;
        if let Some(feed) = base {
            feed.store().put_notes(&[(FOUNDING, Some(&bytes))])?;
            feed.store().sync()?;
        }
        let began = Instant::now();
        loop {
            let appended = log.append(&bytes, PART);
            let is_there = wait(|| log.bounds(PART))?.end > 0;
            match (is_there.then(|| record_at(log, 0)).transpose()?.flatten(), appended) {
                (Some(first), _) if first.bytes == bytes => return Self::opened(&first, base),
                (Some(_), _) => {
                    return Err(Error::Setup("another record came first: another cluster uses this topic".to_owned()));
                }
                (None, Ok(_) | Err(NotAppended::Unknown(_))) if began.elapsed() < TIME_LIMIT => {}
                (None, Ok(_)) => return Err(Error::Setup("the command log does not show its first record".to_owned())),
                (None, Err(why)) => {
                    return Err(Error::Setup(format!("the command log does not take its first record: {why}")));
                }
            }
        }
    }

    /// Lets a feed with data join the log that has begun with this record. The same write takes it out of another log.
    fn opened(first: &Record, base: Option<&Feed>) -> Result<Founded> {
        let (envelope, genesis) = genesis(&first.bytes)?;
        let log = log_id(first);
        if let Some(feed) = base {
            let store = &**feed.store();
            let time = feed.streaming().time_of_changes().max(envelope.time(first.time));
            let sequence = feed.streaming().sequencer().sequence();
            let mark = Mark { time, sequence, ..Mark::first(log) };
            Self { log, agreed: genesis.agreed }.write(store, &mark)?;
        }
        Ok(Founded { log: log.into(), is_new: true, has_base: base.is_some() })
    }

    /// Appends a record for all nodes of the log with this id, and returns its offset. It has settings that they take over,
    /// or a level that comes into force; every node must be able to read this level. Fails if the topic has another log.
    pub fn announce(log: &dyn Log, id: &str, level: u32, agreed: Option<Agreed>) -> Result<u64> {
        let id = Token::try_from(id.to_owned()).map_err(|why| Error::Setup(format!("the id of the log: {why}")))?;
        let there = wait(|| log.bounds(PART))?;
        if there.is_empty() && there.end > 0 {
            return Err(Error::Setup(
                "the command log has no record any more, because nothing has changed for as long as it keeps records. \
                 Make a change or a strict read at any node, and try again"
                    .to_owned(),
            ));
        }
        match whose(log, there.start, id)? {
            Some(Stamp { log, level }) if log == id && !(FIRST_LEVEL..=LEVEL).contains(&level) => {
                return Err(Error::Setup(format!(
                    "the command log has records of level {level}, which this program does not read: this program is \
                     of another version than the nodes. Nothing was changed"
                )));
            }
            Some(first) if first.log == id => {}
            Some(first) => {
                return Err(Error::Setup(format!(
                    "the topic has the command log {}, and the nodes follow the log {}: cluster.topic or cluster.brokers \
                     of these settings is not theirs. Nothing was changed",
                    String::from(first.log),
                    String::from(id)
                )));
            }
            None => return Err(Error::Setup("the topic is not the command log of a cluster".to_owned())),
        }
        let note = agreed.map(Note::Agreed);
        let bytes =
            Envelope { note, ..Envelope::empty(level, id, Token::random()?, 1, ChangeTime::Clock.now()) }.bytes()?;
        // Of several equal records only the first counts.
        let appended = try_for(TIME_LIMIT, PART / 10, |_| true, || log.append(&bytes, PART));
        appended.map_err(|why| Error::Setup(format!("the command log does not take a record: {why}")))
    }

    /// Begins another log with the data of a node, whose own log is lost or cannot be followed; all other nodes must start
    /// from a backup of it. The settings that all nodes share stay.
    pub fn recover(log: &dyn Log, feed: &Feed) -> Result<Founded> {
        let store = &**feed.store();
        let known = Self::of(store)?.ok_or_else(not_a_node)?;
        let bounds = wait(|| log.bounds(PART))?;
        if bounds.end == 0 {
            return Self::open(log, Some(feed), known.agreed);
        }
        if let Some(first) = record_at(log, 0)?
            && has_begun(store, &first)?
        {
            return Self::opened(&first, Some(feed));
        }
        let own = whose(log, bounds.start, known.log)?.is_some_and(|stamp| stamp.log == known.log);
        Err(Error::Setup(format!(
            "the topic has {} already. Set another cluster.topic on all machines, and try again. Nothing was changed",
            if own { "the command log of this directory" } else { "records" }
        )))
    }

    /// The id of the log of a node, and the position of the node in it.
    pub fn place(store: &Store) -> Result<(String, u64)> {
        let note = store.note(MARK)?.ok_or_else(not_a_node)?;
        let mark = Mark::read(&note)?;
        Ok((mark.log.into(), mark.last + 1))
    }

    /// Takes a store out of its cluster: from then on its server serves alone.
    pub fn leave(store: &Store) -> Result<()> {
        store.put_notes(&[(ORIGIN, None), (MARK, None), (FOUNDING, None)])?;
        begin_history(store, None)?;
        store.sync()
    }
}

fn not_a_node() -> Error {
    Error::Setup("this directory is not that of a node. \"tideline cluster init\" begins a log with it".to_owned())
}

/// The first record of a new log.
fn first_bytes(base: Option<&Feed>, agreed: Agreed) -> Result<Vec<u8>> {
    let sent = base.map_or_else(|| ChangeTime::Clock.now(), |feed| feed.streaming().time_of_changes());
    let note = Some(Note::Genesis(Genesis { has_base: base.is_some(), agreed }));
    Envelope { note, ..Envelope::empty(FIRST_LEVEL, Token::random()?, Token(0), 1, sent) }.bytes()
}

/// Whether a store has begun the log with this first record, by an attempt that did not come to its end.
fn has_begun(store: &Store, first: &Record) -> Result<bool> {
    Ok(store.note(FOUNDING)?.is_some_and(|bytes| bytes == first.bytes))
}

fn genesis(first: &[u8]) -> Result<(Envelope, Genesis)> {
    let foreign = |why: &str| Error::Setup(format!("the topic is not the command log of a cluster: {why}"));
    let mut envelope = Envelope::read(first).map_err(|why| match why {
        Unread::Level(Stamp { level, .. }) => {
            let (who, way_out) = unread_level(level);
            Error::Setup(format!("{who} began the command log (level {level}). {way_out}"))
        }
        Unread::Foreign(why) => foreign(&why),
    })?;
    match envelope.note.take() {
        Some(Note::Genesis(genesis)) => Ok((envelope, genesis)),
        _ => Err(foreign("its first record does not begin one")),
    }
}

fn first_record(log: &dyn Log) -> Result<Record> {
    let bounds = wait(|| log.bounds(PART))?;
    match bounds.start {
        0 if bounds.end == 0 => {
            Err(Error::Setup("the command log is empty: begin it with \"tideline cluster init\"".to_owned()))
        }
        0 => record_at(log, 0)?.ok_or_else(|| Error::Setup("the command log has no first record".to_owned())),
        start => Err(Error::Setup(format!(
            "the command log begins at offset {start}: earlier records are gone, so a node cannot start empty. Restore a \
             backup of another node into this directory first"
        ))),
    }
}

/// The bounds of a log that should have a record at this offset. A broker that has just lost the lead may answer with an old
/// end. So a log that seems to end before the offset is asked again for [`OLD_END`].
fn bounds_behind(log: &dyn Log, offset: u64) -> Result<Range<u64>> {
    let began = Instant::now();
    loop {
        let bounds = wait(|| log.bounds(PART))?;
        if bounds.end > offset || began.elapsed() >= OLD_END {
            return Ok(bounds);
        }
        std::thread::sleep(PART / 10);
    }
}

/// The record at an offset that the log has; `None` if it has none there.
fn record_at(log: &dyn Log, offset: u64) -> Result<Option<Record>> {
    Ok(records_from(log, offset)?.into_iter().next().filter(|record| record.offset == offset))
}

/// The stamp of the first record of the log `own` among the next records from an offset on; if there is none, that of the
/// first record of any log. Others may have written to the topic, too.
fn whose(log: &dyn Log, offset: u64, own: Token) -> Result<Option<Stamp>> {
    if wait(|| log.bounds(PART))?.end <= offset {
        return Ok(None);
    }
    let records = records_from(log, offset)?;
    let stamps: Vec<_> = records.iter().filter_map(Stamp::of).collect();
    Ok(stamps.iter().find(|stamp| stamp.log == own).or(stamps.first()).copied())
}

/// Some records from an offset on; none if the log has no record there any more.
fn records_from(log: &dyn Log, offset: u64) -> Result<Vec<Record>> {
    wait(|| match log.read(offset, PART) {
        Ok(records) if records.is_empty() => Err(NotRead::Unreachable("its records do not come in time".to_owned())),
        Err(NotRead::Gone(_)) => Ok(Vec::new()),
        read => read,
    })
}

/// Asks the log until it answers.
fn wait<T>(ask: impl Fn() -> Result<T, NotRead>) -> Result<T> {
    let passes = |error: &NotRead| matches!(error, NotRead::Unreachable(_));
    try_for(TIME_LIMIT, PART / 10, passes, ask).map_err(|error| {
        Error::Setup(match error {
            NotRead::Unreachable(why) => format!("the command log does not answer (cluster.brokers): {why}"),
            NotRead::Gone(why) => format!("the command log cannot be used: {why}"),
        })
    })
}

#[cfg(test)]
mod tests;
