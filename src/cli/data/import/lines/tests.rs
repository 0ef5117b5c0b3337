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

fn number(raw: u64) -> HostId {
    HostId::Number(raw)
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

/// Both forms of a line give a row.
fn both<L: DeserializeOwned>(table: Table, row: Rows<L, Line>, record: &str, object: &str, expected: &Line) {
    assert_eq!(csv(table, row, record).as_ref(), Ok(expected), "{record}");
    assert_eq!(json(row, object).as_ref(), Ok(expected), "{object}");
}

fn posts(is_only: bool) -> RuleDraft {
    RuleDraft::named(is_only, vec!["post".to_owned()]).expect("a kind")
}

#[test]
fn follows_are_read_from_both_formats() {
    let ruled = |since, rule| Ok(Follow { user: number(1), target: number(2), since, rule });
    let follow = |since| ruled(since, RuleDraft::All);
    assert_eq!(csv(Table::Follows, Following::row, "1,2"), follow(None));
    for none in ["", "\"\"", "\\N"] {
        assert_eq!(csv(Table::Follows, Following::row, &format!("1,2,{none}")), follow(None), "{none}");
    }
    assert_eq!(csv(Table::Follows, Following::row, "\"1\",\"2\",\"3\""), follow(Some(3)));
    assert_eq!(json(Following::row, r#"{"user_id":1,"target_id":"2"}"#), follow(None));
    let null = json(Following::row, r#"{"user_id":1,"target_id":2,"since":null}"#);
    assert_eq!(null, follow(None));
    assert_eq!(json(Following::row, r#" {"since":0,"user_id":1,"target_id":2} "#), follow(Some(0)));
    for is_only in [true, false] {
        let field = if is_only { "only" } else { "except" };
        let object = format!(r#"{{"user_id":1,"target_id":2,"{field}":["post","video"]}}"#);
        let rule = RuleDraft::named(is_only, ["post", "video"].map(str::to_owned).into()).expect("names");
        assert_eq!(json(Following::row, &object), ruled(None, rule));
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
fn pairs_are_read_from_both_formats() {
    let [mute, hide, block]: [Rows<Pair, Line>; 3] =
        [|pair| pair.row(Barrier::Mute), |pair| pair.row(Barrier::Hide), |pair| pair.row(Barrier::Block)];
    let barrier = |barrier, since| Line::Barrier { user: number(1), target: number(2), barrier, since };
    let (bare, whole) = (r#"{"user_id":1,"target_id":"2"}"#, r#"{"since":5,"user_id":1,"target_id":"2"}"#);
    both(Table::Mutes, mute, "1,2", bare, &barrier(Barrier::Mute, None));
    both(Table::Mutes, mute, "1,2,5", whole, &barrier(Barrier::Mute, Some(5)));
    both(Table::Hides, hide, "1,2,5", whole, &barrier(Barrier::Hide, Some(5)));
    both(Table::Blocks, block, "1,2,", bare, &barrier(Barrier::Block, None));
    let asked = |rule| Line::Request { user: number(1), target: number(2), since: Some(5), rule };
    both(Table::Requests, Following::request, "1,2,5", whole, &asked(None));
    let ruled = json(Following::request, r#"{"since":5,"user_id":1,"target_id":"2","only":["post"]}"#);
    assert_eq!(ruled, Ok(asked(Some(posts(true)))));
    refused(
        of_csv(Table::Mutes, mute),
        &[("1", "target_id is missing"), ("1,2,x", "since: a time"), (",2", "user_id")],
    );
    let unknown = r#"{"user_id":1,"target_id":2,"until":3}"#;
    refused(of_json(block), &[(unknown, "unknown field `until`"), ("[1,2]", "expected a JSON object")]);
}

#[test]
fn settings_and_suspensions_are_read_from_both_formats() {
    let of = |approve_followers, default_audience| Line::Settings {
        user: number(1),
        settings: UserSettings { approve_followers, default_audience },
    };
    both(Table::Settings, Settings::row, "1", r#"{"user_id":1}"#, &of(false, Audience::Public));
    let whole = r#"{"user_id":1,"approve_followers":true,"default_audience":"followers"}"#;
    for yes in ["true", "t", "1"] {
        both(Table::Settings, Settings::row, &format!("1,{yes},followers"), whole, &of(true, Audience::Followers));
    }
    both(
        Table::Settings,
        Settings::row,
        "1,f",
        r#"{"user_id":1,"approve_followers":null}"#,
        &of(false, Audience::Public),
    );
    both(
        Table::Suspensions,
        Suspension::row,
        "1",
        r#"{"user_id":1}"#,
        &Line::Suspension { user: number(1), since: None },
    );
    let since = Line::Suspension { user: number(1), since: Some(7) };
    both(Table::Suspensions, Suspension::row, "1,7", r#"{"user_id":1,"since":7}"#, &since);
    let wrong = [
        ("1,yes", "approve_followers: expected true or false"),
        ("1,,all", "default_audience: expected public or followers"),
    ];
    refused(of_csv(Table::Settings, Settings::row), &wrong);
    refused(of_csv(Table::Suspensions, Suspension::row), &[("1,2,3", "3 fields"), ("1,x", "since: a time")]);
}

#[test]
fn lists_their_members_and_markers_are_read_from_both_formats() {
    let list = |title: Option<&str>, exclusive| Line::List {
        user: number(1),
        list: "a b".to_owned(),
        settings: ListSettings { title: title.map(str::to_owned), exclusive },
    };
    both(Table::Lists, List::row, "1,a b", r#"{"user_id":1,"list":"a b"}"#, &list(None, false));
    let whole = r#"{"user_id":1,"list":"a b","title":"A","exclusive":true}"#;
    both(Table::Lists, List::row, "1,a b,A,true", whole, &list(Some("A"), true));
    let member = |since, rule| Line::Member {
        user: number(1),
        list: "a b".to_owned(),
        source: HostId::Name("x".into()),
        since,
        rule,
    };
    both(
        Table::ListMembers,
        Member::row,
        "1,a b,x",
        r#"{"user_id":1,"list":"a b","source_id":"x"}"#,
        &member(None, None),
    );
    both(
        Table::ListMembers,
        Member::row,
        "1,a b,x,5",
        r#"{"user_id":1,"list":"a b","source_id":"x","since":5}"#,
        &member(Some(5), None),
    );
    let ruled = r#"{"user_id":1,"list":"a b","source_id":"x","except":["post"]}"#;
    assert_eq!(json(Member::row, ruled), Ok(member(None, Some(posts(false)))));
    let marker = |list: Option<&str>| Line::Marker {
        user: number(1),
        place: "5-x".parse().expect("a cursor"),
        list: list.map(str::to_owned),
    };
    both(Table::Markers, Marker::row, "1,5-x", r#"{"user_id":1,"cursor":"5-x"}"#, &marker(None));
    both(
        Table::Markers,
        Marker::row,
        "1,5-x,a b",
        r#"{"user_id":1,"cursor":"5-x","list":"a b"}"#,
        &marker(Some("a b")),
    );
    let of_notices = Line::NoticeMarker { user: number(1), place: "5-1-0-1-x-".parse().expect("a cursor") };
    let whole = r#"{"user_id":1,"cursor":"5-1-0-1-x-","notices":true}"#;
    both(Table::Markers, Marker::row, "1,5-1-0-1-x-,,true", whole, &of_notices);
    let both_of_them = ("1,5-1-0-1-x-,a,true", "list and notices: give one");
    refused(of_csv(Table::Markers, Marker::row), &[("1,5-x,,true", "cursor: a cursor is"), both_of_them]);
    let long = "x".repeat(201);
    refused(
        of_csv(Table::Lists, List::row),
        &[("1", "list is missing"), (&format!("1,{long}"), "list: expected 1 to 64")],
    );
    refused(of_csv(Table::Lists, List::row), &[(&format!("1,a,{long}"), "title: expected 1 to 200 characters")]);
    refused(
        of_csv(Table::ListMembers, Member::row),
        &[("1,a", "source_id is missing"), ("1,a, x", "source_id: expected no space")],
    );
    refused(of_csv(Table::Markers, Marker::row), &[("1,5", "cursor: a cursor is"), ("1", "cursor is missing")]);
    refused(
        of_json(Marker::row),
        &[(r#"{"user_id":1,"cursor":"5-1","list":""}"#, "list: expected 1 to 64"), (r#"{"user_id":1}"#, "cursor")],
    );
    let wrong = r#"{"user_id":1,"list":"a","source_id":0}"#;
    refused(of_json(Member::row), &[(wrong, "invalid_id: source_id: an id is")]);
}

#[test]
fn names_are_read_from_both_formats() {
    for id in ["ann", "7", "b/é 🌊"] {
        let name = || Ok(ImportedName::Id(id.parse().expect("an id")));
        assert_eq!(csv(Table::Names, Name::row, id), name());
        assert_eq!(json(Name::row, &format!(r#"{{"id":"{id}"}}"#)), name());
    }
    let kind = json(Name::row, r#"{"reaction":"👏"}"#);
    assert_eq!(kind, Ok(ImportedName::Reaction("👏".to_owned())));
    refused(
        of_csv(Table::Names, Name::row),
        &[("ann,ben", "2 fields"), (" ann", "remove the space"), ("a\u{7}", "invalid_id: id: an id")],
    );
    let more = r#"{"id":"ann","more":1}"#;
    refused(
        of_json(Name::row),
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
    let ImportedItem { draft, edited_at } = csv(Table::Content, Item::row, "7,1,1000,\"a, b\"").expect("row");
    assert_eq!((draft.content_id, draft.author_id), (Some(number(7)), number(1)));
    assert_eq!((draft.published_at, draft.text.as_deref()), (Some(Time(1000)), Some("a, b")));
    assert!(draft.broadcast && edited_at.is_none());
    for (text, expected) in [("", None), ("\"\"", Some("")), ("\\N", None), ("\"\\N\"", Some("\\N"))] {
        let item: ImportedItem = csv(Table::Content, Item::row, &format!("7,1,1000,{text}")).expect("row");
        assert_eq!(item.draft.text.as_deref(), expected, "{text}");
    }
    let object = r#"{"content_id":"7","author_id":1,"kind":"note","broadcast":false,"topics":["x"],"edited_at":5}"#;
    let ImportedItem { draft, edited_at } = json(Item::row, object).expect("object");
    assert_eq!((draft.kind.into_string().as_str(), draft.broadcast, draft.published_at), ("note", false, None));
    assert_eq!((draft.topics.into_vec(), edited_at), (vec!["x".to_owned()], Some(5)));
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
fn reactions_are_read_from_both_formats() {
    let (like, favorite) = ("like", "favorite");
    let row = |kind: &str, since| Ok(Reacting { content: number(7), user: number(1), kind: kind.to_owned(), since });
    assert_eq!(csv(Table::Reactions, Reaction::row, "7,1,like"), row(like, None));
    assert_eq!(csv(Table::Reactions, Reaction::row, "7,1,favorite,\"5\""), row(favorite, Some(5)));
    assert_eq!(json(Reaction::row, r#"{"content_id":7,"user_id":"1","kind":"like"}"#), row(like, None));
    let since = json(Reaction::row, r#"{"since":0,"kind":"favorite","user_id":1,"content_id":"7"}"#);
    assert_eq!(since, row(favorite, Some(0)));
    let null = json(Reaction::row, r#"{"content_id":7,"user_id":1,"kind":"like","since":null}"#);
    assert_eq!(null, row(like, None));
}

#[test]
fn malformed_reactions_are_refused_with_a_reason() {
    refused(
        of_csv(Table::Reactions, Reaction::row),
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
        of_json(Reaction::row),
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
    let of = |since, purged| Line::Deletion { item: number(7), since, purged };
    both(Table::Deletions, Deletion::row, "7", r#"{"content_id":7}"#, &of(None, false));
    both(Table::Deletions, Deletion::row, "7,5", r#"{"content_id":7,"deleted_at":5}"#, &of(Some(5), false));
    both(Table::Deletions, Deletion::row, "7,,true", r#"{"content_id":7,"purged":true}"#, &of(None, true));
    refused(
        of_csv(Table::Deletions, Deletion::row),
        &[(",5", "content_id is missing"), ("7,x", "deleted_at: a time"), ("7,5,maybe", "purged"), ("7,0", "0 is not")],
    );
    let text = r#"{"content_id":7,"deleted_at":"5"}"#;
    refused(of_json(Deletion::row), &[(text, "invalid_time: deleted_at")]);
}

#[test]
fn profiles_are_read_from_both_formats() {
    let profile = |nickname: Option<&str>, avatar: Option<&str>, extra: Option<&str>| {
        let own = |text: Option<&str>| text.map(str::to_owned);
        Ok((number(1), Profile { nickname: own(nickname), avatar: own(avatar), extra: own(extra) }))
    };
    let whole = profile(Some("A, \"b\""), Some("x/y.png"), Some(r#"{"a": [1, 2]}"#));
    assert_eq!(csv(Table::Profiles, UserProfile::row, r#"1,"A, ""b""",x/y.png,"{""a"": [1, 2]}""#), whole);
    let object = r#"{"user_id":"1","nickname":"A, \"b\"","avatar":"x/y.png","extra":{"a": [1, 2]}}"#;
    assert_eq!(json(UserProfile::row, object), whole);
    for (record, object) in
        [("1", r#"{"user_id":1}"#), ("1,,,", r#"{"user_id":1,"nickname":null,"avatar":null,"extra":null}"#)]
    {
        assert_eq!(csv(Table::Profiles, UserProfile::row, record), profile(None, None, None));
        assert_eq!(json(UserProfile::row, object), profile(None, None, None));
    }
    assert_eq!(csv(Table::Profiles, UserProfile::row, "1,,a"), profile(None, Some("a"), None));
}

#[test]
fn malformed_profiles_are_refused_with_a_reason() {
    let long = "x".repeat(201);
    refused(
        of_csv(Table::Profiles, UserProfile::row),
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
        of_json(UserProfile::row),
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
