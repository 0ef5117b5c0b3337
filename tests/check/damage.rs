//! Adds or removes rows with the bare engine. The check has to name them.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use config::Config;
use feed::DeleteItem;
use feed::follows::tables::Change;
use kv::Tier;
use model::{ExternalId, ListSettings, NoticeCursor, NoticeId, NoticeKind, Restriction, UserSettings};
use rocksdb::merge_operator::MergeFn;
use rocksdb::{ColumnFamilyDescriptor, DB, MergeOperands, Options};
use tideline::server;

use super::cursor;
use crate::command::Place;
use crate::plain::{item, user};

/// One row of a table.
#[derive(Debug, Clone)]
pub(crate) struct Row(pub(crate) &'static str, pub(crate) Vec<u8>);

/// A key or value of whole numbers, as `docs/schema.md` writes them.
pub(crate) fn key(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
}

/// The key of a time-ordered row.
pub(crate) fn row(partition: u64, at: u64, id: u64) -> Vec<u8> {
    key(&[partition, !at, !id])
}

/// The key of a counter.
pub(crate) fn count(user: u64, what: u8) -> Vec<u8> {
    [&key(&[user])[..], &[what]].concat()
}

/// Opens the bare engine, without the store's work at its opening.
pub(crate) fn engine(data: &Path) -> DB {
    engine_with(data, last)
}

/// The same, with a merge of inboxes.
pub(crate) fn engine_with(data: &Path, inboxes: impl MergeFn + Clone) -> DB {
    let path = data.join("db");
    let mut options = Options::default();
    options.set_disable_auto_compactions(true);
    options.set_max_file_opening_threads(1);
    let tables = DB::list_cf(&options, &path).expect("lists tables");
    let families = tables.into_iter().map(|name| {
        let mut options = options.clone();
        match name.as_str() {
            "counts" => options.set_merge_operator_associative("add", add),
            "inboxes" => options.set_merge_operator_associative("tideline.inbox", inboxes.clone()),
            "item_counts" => options.set_merge_operator_associative("add_item_counts", add),
            _ => {}
        }
        ColumnFamilyDescriptor::new(name, options)
    });
    DB::open_cf_descriptors(&options, path, families).expect("opens")
}

/// The only change of an inbox that was written once is the inbox.
fn last(_key: &[u8], present: Option<&[u8]>, changes: &MergeOperands) -> Option<Vec<u8>> {
    assert!(changes.iter().count() + usize::from(present.is_some()) == 1, "an inbox was written several times");
    changes.iter().last().or(present).map(<[u8]>::to_vec)
}

/// The bytes of all changes of an inbox.
pub(crate) fn all(_key: &[u8], present: Option<&[u8]>, changes: &MergeOperands) -> Option<Vec<u8>> {
    Some(present.into_iter().chain(changes.iter()).collect::<Vec<_>>().concat())
}

/// The row of an inbox without entries.
pub(crate) const EMPTY_INBOX: [u8; 7] = [2, 0, 0, 0, 0, 0, 0];

/// The row of an inbox with one entry.
pub(crate) fn inbox(at: u64, id: u64, author: u64) -> Vec<u8> {
    let number = |mut number: u64| {
        let mut bytes = Vec::new();
        while number >= 0x80 {
            bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        bytes.push(number as u8);
        bytes
    };
    let signed = |number: u64| (number << 1) ^ ((number as i64) >> 63) as u64;
    // The last column has details of entries that are not plain.
    let columns = [number(at), number(signed(id)), number(author.rotate_left(1)), Vec::new()];
    let columns = columns.into_iter().flat_map(|column| [vec![column.len() as u8], column]);
    [2, 0, 1].into_iter().chain(columns.flatten()).collect()
}

/// Adds up the counters of a row: one or two of eight bytes, then those of kinds of reactions, each after its byte.
fn add(_key: &[u8], present: Option<&[u8]>, steps: &MergeOperands) -> Option<Vec<u8>> {
    let mut sums = BTreeMap::<(bool, u8), i64>::new();
    for row in present.into_iter().chain(steps.iter()) {
        let (first, of_kinds) = row.split_at(row.len().min(16));
        let first = (0..).zip(first.chunks(8)).map(|(place, part)| ((false, place), part));
        let of_kinds = of_kinds.chunks(9).map(|part| ((true, part[0]), &part[1..]));
        for (counter, part) in first.chain(of_kinds) {
            let step = i64::from_le_bytes(part.try_into().expect("whole counters"));
            *sums.entry(counter).or_default() += step;
        }
    }
    let mut row = Vec::new();
    for ((is_of_kind, byte), sum) in sums.into_iter().filter(|((is_of_kind, _), sum)| !is_of_kind || *sum != 0) {
        row.extend(is_of_kind.then_some(byte));
        row.extend(sum.to_le_bytes());
    }
    Some(row)
}

/// Sets a row, or removes it. Returns the old value.
pub(crate) fn set(data: &Path, Row(table, key): &Row, value: Option<&[u8]>) -> Option<Vec<u8>> {
    let db = engine(data);
    let family = db.cf_handle(table).expect("a table");
    let before = db.get_cf(family, key).expect("reads");
    match value {
        Some(value) => db.put_cf(family, key, value).expect("puts"),
        None => db.delete_cf(family, key).expect("deletes"),
    }
    before
}

/// A community with a row in every table that has a fact in common with another.
pub(crate) fn place() -> Place {
    let place = Place::new().with_env("TIDELINE__TIMELINE__OUTBOX_LIMIT", 1);
    // Users 1 and 2 follow each other, and both follow 3.
    // Alice, bob, a post and its reference have names, whose numbers come in this order.
    place.file("f", "1,2,100\n2,1,200\n1,3,300\n2,3,400\nalice,bob,500\n");
    place.file(
        "c",
        concat!(
            r#"{"content_id":10,"author_id":2,"published_at":1000,"topics":["tea","time"]}"#,
            "\n",
            r#"{"content_id":11,"author_id":3,"published_at":1000,"broadcast":false,"kind":"video","topics":["tea"],"mentions":[1]}"#,
            "\n",
            r#"{"content_id":12,"author_id":3,"published_at":2000,"kind":"repost","ref_id":10}"#,
            "\n",
            r#"{"content_id":13,"author_id":1,"published_at":3000,"topics":["tea"]}"#,
            "\n",
            r#"{"content_id":14,"author_id":2,"published_at":4000}"#,
            "\n",
            r#"{"content_id":15,"author_id":1,"published_at":1500,"broadcast":false,"kind":"comment","ref_id":10}"#,
            "\n",
            r#"{"content_id":16,"author_id":3,"published_at":1600,"broadcast":false}"#,
            "\n",
            r#"{"content_id":17,"author_id":3,"published_at":1700,"broadcast":false,"kind":"comment","ref_id":16}"#,
            "\n",
            r#"{"content_id":"post 1","author_id":"bob","published_at":1000,"kind":"repost","ref_id":"post 0"}"#,
            "\n",
        ),
    );
    place.file("r", "10,1,like,5000\n10,3,like,5001\n10,1,favorite,5002\n13,2,favorite,5003\n");
    place.file("p", "1,one\n2,two,,{}\n");
    place.run(&["import", "--follows", "f", "--content", "c", "--reactions", "r", "--profiles", "p"]).ok();
    let mut config = Config::default();
    config.storage.data_dir = place.data();
    let app = server::open(&config, server::StartOptions { changes: true, ..server::StartOptions::default() })
        .expect("opens");
    let (feed, store) = (app.feed(), app.feed().store());
    feed::restrictions::tables::set_restriction(store, user(1), user(5), Restriction::Mute, Some(600), 10)
        .expect("mutes");
    feed::restrictions::tables::set_restriction(store, user(1), user(6), Restriction::Hide, Some(700), 10)
        .expect("hides");
    feed::restrictions::tables::set_restriction(store, user(1), user(7), Restriction::Block, Some(800), 10)
        .expect("blocks");
    feed::users::tables::put_settings(
        store,
        user(8),
        UserSettings { approve_followers: true, ..UserSettings::default() },
    )
    .expect("puts");
    let (list, member) = (ListSettings::default(), Change::new(user(3), Some(950)));
    feed::lists::tables::put_list(store, user(1), "close", &list, 10).expect("puts");
    feed::lists::tables::change_members(store, user(1), "close", &[member], 10).expect("adds");
    feed::lists::tables::move_list_marker(store, user(1), "close", cursor(2000, 12), None).expect("moves");
    let ask = Change::new(user(8), Some(900));
    feed::follows::tables::relate(store, user(1), &[ask], 10).expect("asks");
    feed::items::tables::archive_outbox(store, user(2), cursor(1000, 10), 1).expect("archives");
    let tea = feed::topics::tables::topic(store, "tea", Tier::Disk).expect("reads").expect("a topic");
    assert_eq!(feed::topics::tables::archive_topic(store, tea, cursor(1000, 10), 5).expect("archives"), 1);
    feed.submit(DeleteItem { item: ExternalId::Number(13), purge: false }).expect("deletes");
    feed.submit(DeleteItem { item: ExternalId::Number(16), purge: false }).expect("deletes");
    assert!(feed::items::tables::purge(store, item(16), u64::MAX).expect("purges"));
    let id = NoticeId { kind: NoticeKind::Reaction, reaction: 0, actor: user(3), item: Some(item(10)) };
    feed::notices::tables::move_notice_marker(store, user(2), NoticeCursor { at: 5001, id }).expect("moves");
    app.stop(Duration::from_secs(60)).expect("stops");
    place
}

/// A row, its new value, and the lines that then name it.
pub(crate) type Case = (Row, Option<Vec<u8>>, &'static [&'static str]);

/// Damages a sound community in each way, and repairs it again.
pub(crate) fn compare(cases: Vec<Case>) {
    let place = place();
    place.run(&["check"]).ok();
    let data = place.data();
    for (row, value, expected) in cases {
        let before = set(&data, &row, value.as_deref());
        assert_ne!(before, value, "{row:?}");
        let mut lines = super::disagreements(&place);
        let total = lines.pop().expect("a total");
        // They come in no particular order.
        lines.sort_unstable();
        let mut wanted = expected.to_vec();
        wanted.sort_unstable();
        assert_eq!(lines, wanted, "{row:?} {value:?}");
        assert!(total.ends_with(&format!(" {} disagreements", expected.len())), "{total}");
        set(&data, &row, before.as_deref());
    }
    place.run(&["check"]).ok();
}
