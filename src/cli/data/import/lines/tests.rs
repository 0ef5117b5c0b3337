use serde::de::DeserializeOwned;

use super::super::csv::object_of;
use super::super::fields::{Columns, split};
use super::super::records::Shape;
use super::super::rows::object;
use super::*;
use crate::cli::data::tables::Table;

/// How the lines of a table become rows.
type Rows<L, T> = fn(L) -> Result<T, Refusal>;

fn csv<L: DeserializeOwned, T>(table: Table, row: Rows<L, T>, record: &str) -> Result<T, Refusal> {
    let object = object_of(&Columns::declared(table.columns()), &split(record));
    let read = object.and_then(|text| self::object(&text)).and_then(row);
    read.map_err(|refusal| refusal.showing(record.as_bytes(), Shape::Csv))
}

fn json<L: DeserializeOwned, T>(row: Rows<L, T>, text: &str) -> Result<T, Refusal> {
    object(text).and_then(row).map_err(|refusal| refusal.showing(text.as_bytes(), Shape::Lines))
}

fn refused<T>(read: impl Fn(&str) -> Result<T, Refusal>, cases: &[(&str, &str)]) {
    for (text, word) in cases {
        match read(text) {
            Ok(_) => panic!("taken: {text}"),
            Err(refusal) => assert!(refusal.to_string().contains(word), "{text}: {refusal}"),
        }
    }
}

fn of_csv<L: DeserializeOwned, T>(table: Table, row: Rows<L, T>) -> impl Fn(&str) -> Result<T, Refusal> {
    move |record| csv(table, row, record)
}

fn of_json<L: DeserializeOwned, T>(row: Rows<L, T>) -> impl Fn(&str) -> Result<T, Refusal> {
    move |text| json(row, text)
}

#[test]
fn a_value_of_csv_may_be_written_in_several_ways() {
    let since = |record: &str| csv(Table::Follows, Following::row, record).map(|follow| follow.since);
    for none in ["", ",", ",\"\"", ",\\N"] {
        assert_eq!(since(&format!("1,2{none}")), Ok(None), "{none}");
    }
    assert_eq!(since("\"1\",\"2\",\"3\""), Ok(Some(3)));
    for (word, is_yes) in [("true", true), ("t", true), ("1", true), ("false", false), ("f", false), ("", false)] {
        let line = csv(Table::Settings, Settings::row, &format!("1,{word},followers"));
        let settings = UserSettings { approve_followers: is_yes, default_audience: Audience::Followers };
        assert_eq!(line, Ok(Line::Settings { user: HostId::Number(1), settings }), "{word}");
    }
    for (text, expected) in [("", None), ("\"\"", Some("")), ("\\N", None), ("\"\\N\"", Some("\\N"))] {
        let item: ImportedItem = csv(Table::Content, Item::row, &format!("7,1,1000,{text}")).expect("row");
        assert_eq!(item.draft.text.as_deref(), expected, "{text}");
    }
}

#[test]
fn malformed_follows_are_refused_with_a_reason() {
    refused(
        of_csv(Table::Follows, Following::row),
        &[
            ("1", "target_id is missing"),
            ("1,\\N", "target_id is missing"),
            (",2", "user_id is missing"),
            ("a\u{7},2", "user_id: an id"),
            (&format!("1,{}", "x".repeat(129)), "target_id: an id"),
            ("1, 2", "not \" 2\"; remove the space"),
            ("1,2,x", "since: a time"),
            ("1,2,+3", "since: a time"),
            ("1,2,9223372036854775808", "since: a time"),
            ("1,2,1.5", "since: a time"),
            ("1,2,3,4", "4 fields"),
            ("1;2", "separate the columns by commas"),
            ("1\t2", "separate the columns by commas"),
        ],
    );
    refused(
        of_json(Following::row),
        &[
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
        ],
    );
}

#[test]
fn fields_of_an_item_are_those_of_a_publish() {
    // A field that one of the two lacks would be refused.
    let all = r#"{"author_id":"1","content_id":"7","published_at":5,"kind":"a","text":"t","media":[{"type":"a","url":"b"}],"topics":["t"],"ref_id":"8","extra":{"a": 1},"broadcast":false,"to":["2"],"audience":"followers","mentions":["3"]}"#;
    let draft: Draft = serde_json::from_str(all).expect("a draft");
    let item = json(Item::row, all).expect("an item").draft;
    let written = |draft: &Draft| serde_json::to_string(draft).expect("writes");
    assert_eq!((written(&draft).as_str(), written(&item).as_str()), (all, all));
    let nulls = r#"{"author_id":1,"content_id":7,"published_at":null,"kind":null,"text":null,"media":null,"topics":null,"ref_id":null,"extra":null,"broadcast":null,"to":null,"audience":null,"mentions":null}"#;
    let item = json(Item::row, nulls).expect("an item").draft;
    assert_eq!(written(&item), written(&serde_json::from_str(nulls).expect("a draft")));
}

#[test]
fn malformed_content_is_refused_with_a_reason() {
    refused(
        of_csv(Table::Content, Item::row),
        &[
            ("7", "author_id is missing"),
            ("7,1", "published_at is missing"),
            ("7,1,", "published_at is missing"),
            ("7,1,now", "published_at: a time"),
            ("7 ,1,2", "content_id: expected no space"),
            ("7,\u{7f},2", "author_id: an id"),
            ("7,1,2,a,b", "5 fields"),
        ],
    );
    refused(
        of_json(Item::row),
        &[
            (r#"{"author_id":1}"#, "content_id is missing"),
            (r#"{"content_id":7}"#, "missing field `author_id`"),
            (r#"{"content_id":7,"author_id":1,"titel":""}"#, "unknown field `titel`"),
            (r#"{"content_id":7,"author_id":1,"kind":"A"}"#, "kind"),
            (r#"{"content_id":7,"author_id":1,"text":5}"#, "string"),
            (r#"{"content_id":null,"author_id":1}"#, "content_id is missing"),
            (r#"{"content_id":7,"author_id":null}"#, "null"),
            (r#"{"content_id":7,"author_id":1,"extra":[1]}"#, "object"),
            (r#"{"content_id":7,"author_id":1,"media":[{}]}"#, "media"),
            (r#"{"content_id":7,"author_id":1"#, "EOF"),
            (r#"["a"]"#, "expected a JSON object"),
        ],
    );
}

#[test]
fn malformed_lines_of_other_tables_are_refused_with_a_reason() {
    let long = "x".repeat(201);
    let both = ("1,5-1-0-1-x-,a,true", "list and notices: give one");
    refused(
        of_csv(Table::Markers, Marker::row),
        &[("1,5-x,,true", "cursor: a cursor is"), both, ("1,5", "a cursor is")],
    );
    refused(of_json(Marker::row), &[(r#"{"user_id":1,"cursor":"5-1","list":""}"#, "list: expected 1 to 64")]);
    refused(of_csv(Table::Lists, List::row), &[(&format!("1,a,{long}"), "title: expected 1 to 200 characters")]);
    refused(of_csv(Table::Deletions, Deletion::row), &[("7,5,maybe", "purged"), ("7,0", "0 is not")]);
    refused(of_csv(Table::Names, Name::row), &[("ann,ben", "2 fields"), ("a\u{7}", "invalid_id: id: an id")]);
    refused(
        of_json(Name::row),
        &[(r#"{"reaction":"a/b"}"#, "reaction: "), (r#"{"id":"ann","reaction":"like"}"#, "not both")],
    );
    refused(
        of_csv(Table::Profiles, UserProfile::row),
        &[
            (&format!("1,{long}"), "nickname: expected 1 to 200 characters"),
            (&format!("1,,{}", long.repeat(11)), "avatar: expected 1 to 2048 characters"),
            ("1,,,[]", "extra: expected a JSON object"),
            ("1,,,{", "extra: EOF"),
            (r#"1,,,"{""a"":1,""a"":2}""#, "extra: "),
        ],
    );
}
