//! Lines of single tables. That both formats of every table have the effect of the calls is proven by `tests/import`.

use serde::Serialize;

use super::*;
use crate::cli::data::import::csv::object_of;
use crate::cli::data::import::fields::{Columns, split};
use crate::cli::data::import::split_records::Shape;

/// The change that a record of CSV is, as a command log has it.
fn csv(table: Table, record: &str) -> Result<String, Refusal> {
    let object = object_of(&Columns::declared(table.declared().columns), &split(record));
    let read = object.and_then(|text| table.change(&text));
    read.map(|change| written(&change)).map_err(|refusal| refusal.showing(record.as_bytes(), Shape::Csv))
}

/// The change that an object of JSON is.
fn json(table: Table, text: &str) -> Result<String, Refusal> {
    let read = table.change(text);
    read.map(|change| written(&change)).map_err(|refusal| refusal.showing(text.as_bytes(), Shape::Lines))
}

fn written(change: &impl Serialize) -> String {
    serde_json::to_string(change).expect("writes")
}

/// All records are one change.
fn same(table: Table, records: &[&str]) {
    let first = csv(table, records[0]).expect("taken");
    for record in &records[1..] {
        assert_eq!(csv(table, record).as_ref(), Ok(&first), "{record}");
    }
}

fn refused(read: fn(Table, &str) -> Result<String, Refusal>, table: Table, cases: &[(&str, &str)]) {
    for (text, word) in cases {
        match read(table, text) {
            Ok(_) => panic!("taken: {text}"),
            Err(refusal) => assert!(refusal.to_string().contains(word), "{text}: {refusal}"),
        }
    }
}

#[test]
fn what_is_left_out_may_be_empty_or_null() {
    same(Table::Follows, &["1,2", "1,2,", "1,2,\"\"", "1,2,\\N"]);
    same(Table::Profiles, &["1", "1,,,"]);
    let bare = csv(Table::Follows, "1,2");
    assert_eq!(json(Table::Follows, r#"{"user_id":1,"target_id":"2"}"#), bare);
    assert_eq!(json(Table::Follows, r#" {"since":null,"target_id":2,"user_id":1} "#), bare);
    let since = json(Table::Follows, r#"{"since":0,"user_id":1,"target_id":2}"#);
    assert_eq!(since.as_deref(), Ok(r#"{"import_follows":{"user":"1","follows":[["2",0]]}}"#), "the first time of all");
    for (text, expected) in [
        ("\"a, b\"", r#","text":"a, b""#),
        ("", ""),
        ("\"\"", r#","text":"""#),
        ("\\N", ""),
        ("\"\\N\"", r#","text":"\\N""#),
    ] {
        let new_item = r#""author_id":"1","content_id":"7","published_at":1000"#;
        let whole = format!(r#"{{"import_items":{{"new_items":[{{{new_item}{expected}}}]}}}}"#);
        assert_eq!(csv(Table::Content, &format!("7,1,1000,{text}")), Ok(whole), "{text}");
    }
}

#[test]
fn true_and_false_have_the_words_of_databases() {
    same(Table::Settings, &["1,true,followers", "1,t,followers", "1,1,followers"]);
    same(Table::Settings, &["1,false", "1,f", "1,0", "1"]);
    same(Table::Deletions, &["7,,true", "7,,t", "7,,1"]);
}

#[test]
fn names_and_kinds_of_reactions_are_read() {
    for id in ["ann", "7", "b/é 🌊"] {
        let name = format!(r#"{{"give_numbers":{{"ids":["{id}"]}}}}"#);
        assert_eq!(csv(Table::Names, id), Ok(name.clone()));
        assert_eq!(json(Table::Names, &format!(r#"{{"id":"{id}"}}"#)), Ok(name));
    }
    let kind = json(Table::Names, r#"{"reaction":"👏"}"#);
    assert_eq!(kind.as_deref(), Ok(r#"{"number_reactions":{"kinds":["👏"]}}"#));
}

#[test]
fn wrong_records_of_csv_are_refused_with_a_reason() {
    let (id, long) = ("x".repeat(129), "x".repeat(201));
    let follows = [
        ("1", "target_id is missing"),
        ("1,\\N", "target_id is missing"),
        (",2", "user_id is missing"),
        ("a\u{7},2", "user_id: an id"),
        (&format!("1,{id}"), "target_id: an id"),
        ("1, 2", "not \" 2\"; remove the space"),
        ("1,2,x", "since: a time"),
        ("1,2,+3", "since: a time"),
        ("1,2,9223372036854775808", "since: a time"),
        ("1,2,1.5", "since: a time"),
        ("1,2,3,4", "4 fields"),
        ("1;2", "separate the columns by commas"),
        ("1\t2", "separate the columns by commas"),
    ];
    refused(csv, Table::Follows, &follows);
    refused(csv, Table::Names, &[("ann,ben", "2 fields"), (" ann", "remove the space"), ("a\u{7}", "invalid_id: id")]);
    refused(csv, Table::Content, &[("7,1", "published_at is missing"), ("7,1,now", "published_at: a time")]);
    refused(csv, Table::Deletions, &[("7,x", "deleted_at: a time"), ("7,5,maybe", "purged"), ("7,0", "0 is not")]);
    let settings = [
        ("1,yes", "approve_followers: expected true or false"),
        ("1,,all", "default_audience: expected public or followers"),
    ];
    refused(csv, Table::Settings, &settings);
    let lists = [("1", "list is missing"), (&format!("1,{long}"), "list: expected 1 to 64")];
    refused(csv, Table::Lists, &lists);
    refused(csv, Table::Lists, &[(&format!("1,a,{long}"), "title: expected 1 to 200 characters")]);
    refused(csv, Table::ListMembers, &[("1,a", "source_id is missing"), ("1,a, x", "source_id: expected no space")]);
    let markers = [
        ("1", "cursor is missing"),
        ("1,5", "cursor: a cursor is"),
        ("1,5-x,,true", "cursor: a cursor is"),
        ("1,5-1-0-1-x-,a,true", "list and notices: give one"),
    ];
    refused(csv, Table::Markers, &markers);
    let profiles = [
        (&*format!("1,{long}"), "nickname: expected 1 to 200 characters"),
        (&format!("1,,{}", long.repeat(11)), "avatar: expected 1 to 2048 characters"),
        ("1,,,[]", "extra: expected a JSON object"),
        ("1,,,{", "extra: EOF"),
        (r#"1,,,"{""a"":1,""a"":2}""#, "extra: "),
    ];
    refused(csv, Table::Profiles, &profiles);
}

#[test]
fn wrong_objects_are_refused_with_a_reason() {
    let follows = [
        ("{", "EOF"),
        (r#"{"user_id":1}"#, "missing field `target_id`"),
        (r#"{"user_id":1,"target_id":0}"#, "invalid_id: target_id: an id is"),
        (r#"{"user_id":1,"target_id":""}"#, "invalid_id: target_id: an id is"),
        (r#"{"user_id":1,"user_id":1,"target_id":2}"#, "duplicate field"),
        (r#"{"user_id":1,"target_id":2,"until":3}"#, "unknown field `until`"),
        (r#"{"user_id":1,"target_id":2,"only":["A"]}"#, "invalid_field: kind: expected"),
        (r#"{"user_id":1,"target_id":2,"only":["a"],"except":["b"]}"#, "only and except: give one"),
        (r#"{"user_id":null,"target_id":2}"#, "null"),
        (r#"{"user_id":1,"target_id":2,"since":"3"}"#, "since: a time is whole milliseconds since 1970, not \"3\""),
        (r#"{"user_id":1,"target_id":2,"since":-3}"#, "-3"),
        (r#"{"user_id":1,"target_id":2} {}"#, "trailing characters at column 29"),
        ("[1,2]", "expected a JSON object"),
    ];
    refused(json, Table::Follows, &follows);
    let names = [
        ("{}", "missing field"),
        (r#"{"reaction":"a/b"}"#, "reaction: "),
        (r#"{"id":"ann","reaction":"like"}"#, "not both"),
    ];
    refused(json, Table::Names, &names);
    let items = [
        (r#"{"author_id":1}"#, "content_id is missing"),
        (r#"{"content_id":null,"author_id":1}"#, "content_id is missing"),
        (r#"{"content_id":7}"#, "missing field `author_id`"),
        (r#"{"content_id":7,"author_id":1,"titel":""}"#, "unknown field `titel`"),
        (r#"{"content_id":7,"author_id":1,"text":5}"#, "string"),
        (r#"{"content_id":7,"author_id":1,"extra":[1]}"#, "object"),
        (r#"{"content_id":7,"author_id":1,"media":[{}]}"#, "media"),
    ];
    refused(json, Table::Content, &items);
    refused(json, Table::Markers, &[(r#"{"user_id":1,"cursor":"5-1","list":""}"#, "list: expected 1 to 64")]);
    refused(json, Table::Profiles, &[(r#"{"user_id":1,"nickname":""}"#, "nickname: expected 1 to 200 characters")]);
    refused(json, Table::Deletions, &[(r#"{"content_id":7,"deleted_at":"5"}"#, "invalid_time: deleted_at")]);
}

#[test]
fn documentation_has_the_columns_of_each_table() {
    let page = include_str!("../../../../docs/use/import.md");
    for table in Table::ALL {
        let Declared { name, columns, .. } = table.declared();
        assert!(page.contains(&format!("| `--{name}` | `{columns}` |")), "{name}");
    }
}
