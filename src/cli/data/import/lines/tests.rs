use super::super::csv::object_of;
use super::super::fields::{Columns, split};
use super::super::records::Shape;
use super::*;

/// The change that a record of CSV is, as a command log has it.
fn csv(table: Table, record: &str) -> Result<String, Refusal> {
    let object = object_of(&Columns::declared(table.columns()), &split(record));
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

fn refused(read: fn(Table, &str) -> Result<String, Refusal>, table: Table, cases: &[(&str, &str)]) {
    for (text, word) in cases {
        match read(table, text) {
            Ok(_) => panic!("taken: {text}"),
            Err(refusal) => assert!(refusal.to_string().contains(word), "{text}: {refusal}"),
        }
    }
}

/// Both forms of a line are a change.
fn both(table: Table, record: &str, object: &str, expected: &str) {
    assert_eq!(csv(table, record).as_deref(), Ok(expected), "{record}");
    assert_eq!(json(table, object).as_deref(), Ok(expected), "{object}");
}

/// A line that is a change of its own.
fn line(change: &str, since: Option<Millis>) -> String {
    let since = since.map_or_else(String::new, |since| format!(r#","since":{since}"#));
    format!(r#"{{"import_line":{{"change":{change}{since}}}}}"#)
}

fn follow(since: &str, more: &str) -> String {
    format!(r#"{{"import_follows":{{"user":"1","follows":[["2",{since}]]{more}}}}}"#)
}

#[test]
fn follows_are_read_from_both_formats() {
    let bare = follow("null", "");
    both(Table::Follows, "1,2", r#"{"user_id":1,"target_id":"2"}"#, &bare);
    for none in ["", "\"\"", "\\N"] {
        let null = r#"{"user_id":1,"target_id":2,"since":null}"#;
        both(Table::Follows, &format!("1,2,{none}"), null, &bare);
    }
    let whole = r#" {"since":3,"user_id":1,"target_id":2} "#;
    both(Table::Follows, "\"1\",\"2\",\"3\"", whole, &follow("3", ""));
    assert_eq!(json(Table::Follows, r#"{"since":0,"user_id":1,"target_id":2}"#), Ok(follow("0", "")));
    for rule in [r#""only":["post","video"]"#, r#""except":["post","video"]"#] {
        let object = format!(r#"{{"user_id":1,"target_id":2,{rule}}}"#);
        assert_eq!(json(Table::Follows, &object), Ok(follow("null", &format!(r#","rules":[{{{rule}}}]"#))));
    }
}

#[test]
fn malformed_follows_are_refused_with_a_reason() {
    refused(
        csv,
        Table::Follows,
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
        json,
        Table::Follows,
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
fn pairs_are_read_from_both_formats() {
    let barrier = |barrier: &str, since| {
        line(&format!(r#"{{"set_barrier":{{"user":"1","target":"2","barrier":"{barrier}","raised":true}}}}"#), since)
    };
    let (bare, whole) = (r#"{"user_id":1,"target_id":"2"}"#, r#"{"since":5,"user_id":1,"target_id":"2"}"#);
    both(Table::Mutes, "1,2", bare, &barrier("mute", None));
    both(Table::Mutes, "1,2,5", whole, &barrier("mute", Some(5)));
    both(Table::Hides, "1,2,5", whole, &barrier("hide", Some(5)));
    both(Table::Blocks, "1,2,", bare, &barrier("block", None));
    both(Table::Requests, "1,2,5", whole, &follow("5", r#","awaited":true"#));
    let ruled = json(Table::Requests, r#"{"since":5,"user_id":1,"target_id":"2","only":["post"]}"#);
    assert_eq!(ruled, Ok(follow("5", r#","rules":[{"only":["post"]}],"awaited":true"#)));
    refused(csv, Table::Mutes, &[("1", "target_id is missing"), ("1,2,x", "since: a time"), (",2", "user_id")]);
    let unknown = r#"{"user_id":1,"target_id":2,"until":3}"#;
    refused(json, Table::Blocks, &[(unknown, "unknown field `until`"), ("[1,2]", "expected a JSON object")]);
}

#[test]
fn settings_and_suspensions_are_read_from_both_formats() {
    let of = |approve_followers: bool, more: &str| {
        let settings = format!(r#"{{"approve_followers":{approve_followers}{more}}}"#);
        line(&format!(r#"{{"put_settings":{{"user":"1","settings":{settings}}}}}"#), None)
    };
    both(Table::Settings, "1", r#"{"user_id":1}"#, &of(false, ""));
    let whole = r#"{"user_id":1,"approve_followers":true,"default_audience":"followers"}"#;
    for yes in ["true", "t", "1"] {
        both(Table::Settings, &format!("1,{yes},followers"), whole, &of(true, r#","default_audience":"followers""#));
    }
    both(Table::Settings, "1,f", r#"{"user_id":1,"approve_followers":null}"#, &of(false, ""));
    let suspension = |since| line(r#"{"set_suspension":{"user":"1","suspended":true}}"#, since);
    both(Table::Suspensions, "1", r#"{"user_id":1}"#, &suspension(None));
    both(Table::Suspensions, "1,7", r#"{"user_id":1,"since":7}"#, &suspension(Some(7)));
    let wrong = [
        ("1,yes", "approve_followers: expected true or false"),
        ("1,,all", "default_audience: expected public or followers"),
    ];
    refused(csv, Table::Settings, &wrong);
    refused(csv, Table::Suspensions, &[("1,2,3", "3 fields"), ("1,x", "since: a time")]);
}

#[test]
fn lists_their_members_and_markers_are_read_from_both_formats() {
    let list = |settings: &str| {
        line(&format!(r#"{{"put_list":{{"user":"1","list":"a b","settings":{{{settings}}}}}}}"#), None)
    };
    both(Table::Lists, "1,a b", r#"{"user_id":1,"list":"a b"}"#, &list(r#""exclusive":false"#));
    let whole = r#"{"user_id":1,"list":"a b","title":"A","exclusive":true}"#;
    both(Table::Lists, "1,a b,A,true", whole, &list(r#""title":"A","exclusive":true"#));
    let member = |since, more: &str| {
        let change = format!(r#"{{"user":"1","list":"a b","add":["x"],"remove":[]{more}}}"#);
        line(&format!(r#"{{"change_members":{change}}}"#), since)
    };
    let bare = r#"{"user_id":1,"list":"a b","source_id":"x"}"#;
    both(Table::ListMembers, "1,a b,x", bare, &member(None, ""));
    let whole = r#"{"user_id":1,"list":"a b","source_id":"x","since":5}"#;
    both(Table::ListMembers, "1,a b,x,5", whole, &member(Some(5), ""));
    let ruled = r#"{"user_id":1,"list":"a b","source_id":"x","except":["post"]}"#;
    assert_eq!(json(Table::ListMembers, ruled), Ok(member(None, r#","rule":{"except":["post"]}"#)));
    let marker =
        |more: &str| line(&format!(r#"{{"move_marker":{{"user":"1","place":"5-x","sight":"all"{more}}}}}"#), None);
    both(Table::Markers, "1,5-x", r#"{"user_id":1,"cursor":"5-x"}"#, &marker(""));
    let whole = r#"{"user_id":1,"cursor":"5-x","list":"a b"}"#;
    both(Table::Markers, "1,5-x,a b", whole, &marker(r#","list":"a b""#));
    let of_notices = line(r#"{"move_notice_marker":{"user":"1","place":"5-1-0-1-x-","sight":"all"}}"#, None);
    let whole = r#"{"user_id":1,"cursor":"5-1-0-1-x-","notices":true}"#;
    both(Table::Markers, "1,5-1-0-1-x-,,true", whole, &of_notices);
    let both_of_them = ("1,5-1-0-1-x-,a,true", "list and notices: give one");
    refused(csv, Table::Markers, &[("1,5-x,,true", "cursor: a cursor is"), both_of_them]);
    let long = "x".repeat(201);
    refused(csv, Table::Lists, &[("1", "list is missing"), (&format!("1,{long}"), "list: expected 1 to 64")]);
    refused(csv, Table::Lists, &[(&format!("1,a,{long}"), "title: expected 1 to 200 characters")]);
    refused(csv, Table::ListMembers, &[("1,a", "source_id is missing"), ("1,a, x", "source_id: expected no space")]);
    refused(csv, Table::Markers, &[("1,5", "cursor: a cursor is"), ("1", "cursor is missing")]);
    refused(
        json,
        Table::Markers,
        &[(r#"{"user_id":1,"cursor":"5-1","list":""}"#, "list: expected 1 to 64"), (r#"{"user_id":1}"#, "cursor")],
    );
    let wrong = r#"{"user_id":1,"list":"a","source_id":0}"#;
    refused(json, Table::ListMembers, &[(wrong, "invalid_id: source_id: an id is")]);
}

#[test]
fn names_are_read_from_both_formats() {
    for id in ["ann", "7", "b/é 🌊"] {
        let name = format!(r#"{{"give_numbers":{{"ids":["{id}"]}}}}"#);
        both(Table::Names, id, &format!(r#"{{"id":"{id}"}}"#), &name);
    }
    let kind = json(Table::Names, r#"{"reaction":"👏"}"#);
    assert_eq!(kind.as_deref(), Ok(r#"{"number_reactions":{"kinds":["👏"]}}"#));
    refused(
        csv,
        Table::Names,
        &[("ann,ben", "2 fields"), (" ann", "remove the space"), ("a\u{7}", "invalid_id: id: an id")],
    );
    let more = r#"{"id":"ann","more":1}"#;
    refused(
        json,
        Table::Names,
        &[
            ("{}", "missing field"),
            (r#"{"reaction":"a/b"}"#, "reaction: "),
            (r#"{"id":"ann","reaction":"like"}"#, "not both"),
            (r#"{"id":0}"#, "invalid_id: id"),
            (more, "unknown field"),
        ],
    );
}

#[test]
fn content_is_read_from_both_formats() {
    let item = |draft: &str, more: &str| format!(r#"{{"import_items":{{"drafts":[{{{draft}}}]{more}}}}}"#);
    for (text, expected) in [
        ("\"a, b\"", r#""text":"a, b","#),
        ("", ""),
        ("\"\"", r#""text":"","#),
        ("\\N", ""),
        ("\"\\N\"", r#""text":"\\N","#),
    ] {
        let draft = r#""author_id":"1","content_id":"7","published_at":1000,"kind":"post","#;
        let whole = item(&format!(r#"{draft}{expected}"topics":[],"broadcast":true"#), "");
        assert_eq!(csv(Table::Content, &format!("7,1,1000,{text}")), Ok(whole), "{text}");
    }
    let object = r#"{"content_id":"7","author_id":1,"kind":"note","broadcast":false,"topics":["x"],"edited_at":5}"#;
    let draft = r#""author_id":"1","content_id":"7","kind":"note","topics":["x"],"broadcast":false"#;
    assert_eq!(json(Table::Content, object), Ok(item(draft, r#","edited":[5]"#)));
}

#[test]
fn fields_of_an_item_are_those_of_a_publish() {
    // A field that one of the two lacks would be refused.
    let all = r#"{"author_id":"1","content_id":"7","published_at":5,"kind":"a","text":"t","media":[{"type":"a","url":"b"}],"topics":["t"],"ref_id":"8","extra":{"a": 1},"broadcast":false,"to":["2"],"audience":"followers","mentions":["3"]}"#;
    let draft = |text: &str| serde_json::from_str::<Draft>(text).expect("a draft");
    let item = |text: &str| match Table::Content.change(text).expect("an item") {
        Command::ImportItems(ImportItems { mut drafts, .. }) => drafts.remove(0),
        other => panic!("{other:?}"),
    };
    assert_eq!((written(&draft(all)).as_str(), written(&item(all)).as_str()), (all, all));
    let nulls = r#"{"author_id":1,"content_id":7,"published_at":null,"kind":null,"text":null,"media":null,"topics":null,"ref_id":null,"extra":null,"broadcast":null,"to":null,"audience":null,"mentions":null}"#;
    assert_eq!(written(&item(nulls)), written(&draft(nulls)));
}

#[test]
fn malformed_content_is_refused_with_a_reason() {
    refused(
        csv,
        Table::Content,
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
        json,
        Table::Content,
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
fn reactions_are_read_from_both_formats() {
    let row = |kind: &str, since: &str| {
        let request = format!(r#"{{"user":"1","kind":"{kind}","active":true{since},"sight":"all"}}"#);
        format!(r#"{{"react":{{"item":"7","requests":[{request}],"imported":true}}}}"#)
    };
    both(Table::Reactions, "7,1,like", r#"{"content_id":7,"user_id":"1","kind":"like"}"#, &row("like", ""));
    let whole = r#"{"since":5,"kind":"favorite","user_id":1,"content_id":"7"}"#;
    both(Table::Reactions, "7,1,favorite,\"5\"", whole, &row("favorite", r#","since":5"#));
    let null = json(Table::Reactions, r#"{"content_id":7,"user_id":1,"kind":"like","since":null}"#);
    assert_eq!(null, Ok(row("like", "")));
    let first = json(Table::Reactions, r#"{"content_id":7,"user_id":1,"kind":"like","since":0}"#);
    assert_eq!(first, Ok(row("like", r#","since":0"#)));
}

#[test]
fn malformed_reactions_are_refused_with_a_reason() {
    refused(
        csv,
        Table::Reactions,
        &[
            ("7", "user_id is missing"),
            ("7,1", "kind is missing"),
            (",1,like", "content_id is missing"),
            ("\u{1},1,like", "content_id: an id"),
            ("7, x,like", "user_id: expected no space"),
            ("7,1,like,soon", "since: a time"),
            ("7,1,like,1,2", "5 fields"),
        ],
    );
    refused(
        json,
        Table::Reactions,
        &[
            (r#"{"content_id":7,"user_id":1}"#, "missing field `kind`"),
            (r#"{"content_id":7,"user_id":1,"kind":"like","kind":"like"}"#, "duplicate field"),
            (r#"{"content_id":7,"user_id":1,"kind":"like","active":true}"#, "unknown field `active`"),
            (r#"{"content_id":7,"user_id":1,"kind":"like","since":"5"}"#, "since: a time"),
            (r#"{"content_id":null,"user_id":1,"kind":"like"}"#, "null"),
            (r#"[7,1,"like"]"#, "expected a JSON object"),
        ],
    );
}

#[test]
fn deletions_are_read_from_both_formats() {
    let of = |item: &str, since| line(&format!(r#"{{"delete_item":{{{item}}}}}"#), since);
    both(Table::Deletions, "7", r#"{"content_id":7}"#, &of(r#""item":"7""#, None));
    both(Table::Deletions, "7,5", r#"{"content_id":7,"deleted_at":5}"#, &of(r#""item":"7""#, Some(5)));
    both(Table::Deletions, "7,,true", r#"{"content_id":7,"purged":true}"#, &of(r#""item":"7","purge":true"#, None));
    refused(
        csv,
        Table::Deletions,
        &[(",5", "content_id is missing"), ("7,x", "deleted_at: a time"), ("7,5,maybe", "purged"), ("7,0", "0 is not")],
    );
    let text = r#"{"content_id":7,"deleted_at":"5"}"#;
    refused(json, Table::Deletions, &[(text, "invalid_time: deleted_at")]);
}

#[test]
fn profiles_are_read_from_both_formats() {
    let profile = |fields: &str| format!(r#"{{"put_profiles":{{"profiles":[["1",{{{fields}}}]]}}}}"#);
    let whole = profile(r#""nickname":"A, \"b\"","avatar":"x/y.png","extra":"{\"a\": [1, 2]}""#);
    let object = r#"{"user_id":"1","nickname":"A, \"b\"","avatar":"x/y.png","extra":{"a": [1, 2]}}"#;
    both(Table::Profiles, r#"1,"A, ""b""",x/y.png,"{""a"": [1, 2]}""#, object, &whole);
    for (record, object) in
        [("1", r#"{"user_id":1}"#), ("1,,,", r#"{"user_id":1,"nickname":null,"avatar":null,"extra":null}"#)]
    {
        both(Table::Profiles, record, object, &profile(""));
    }
    assert_eq!(csv(Table::Profiles, "1,,a"), Ok(profile(r#""avatar":"a""#)));
}

#[test]
fn malformed_profiles_are_refused_with_a_reason() {
    let long = "x".repeat(201);
    refused(
        csv,
        Table::Profiles,
        &[
            (",a", "user_id is missing"),
            ("x ,a", "user_id: expected no space"),
            (&format!("1,{long}"), "nickname: expected 1 to 200 characters"),
            (&format!("1,,{}", long.repeat(11)), "avatar: expected 1 to 2048 characters"),
            ("1,,,[]", "extra: expected a JSON object"),
            ("1,,,{", "extra: EOF"),
            (r#"1,,,"{""a"":1,""a"":2}""#, "extra: "),
            ("1,a,b,{},c", "5 fields"),
        ],
    );
    refused(
        json,
        Table::Profiles,
        &[
            (r#"{"nickname":"a"}"#, "missing field `user_id`"),
            (r#"{"user_id":1,"nickname":""}"#, "nickname: expected 1 to 200 characters"),
            (&format!(r#"{{"user_id":1,"nickname":"{long}"}}"#), "nickname: expected 1 to 200 characters"),
            (r#"{"user_id":1,"nick":"a"}"#, "unknown field `nick`"),
            (r#"{"user_id":1,"extra":[1]}"#, "object"),
            (r#"{"user_id":1,"avatar":5}"#, "string"),
        ],
    );
}
