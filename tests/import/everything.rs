//! Imports of all tables: what a host has beside follows, content, reactions and profiles.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{lines, refused};
use crate::command::{Place, gzip};
use crate::server::Server;
use crate::server::described::reads;

/// The tables, in the order in which they are taken, with their files as CSV.
const TABLES: &[(&str, &str)] = &[
    ("settings", "user_id,approve_followers,default_audience\n4,true,\n5,t,followers\n6,,public\n7,false,followers\n"),
    ("blocks", "1,8,100\n9,1,110\n"),
    ("follows", "1,2,200\n1,3,210\n1,4,220\n1,20,230\n2,1,240\n3,2,250\n6,5,260\n"),
    ("requests", "2,4,300\n3,4,310\n6,4,320\n2,5,330\n3,6,340\n"),
    ("mutes", "1,3,400\n2,7,410\n"),
    ("hides", "user_id,since,target_id\n4,500,1\n2,510,3\n"),
    ("lists", "1,close,\"Close, very\",false\n1,apart,,true\n2,a b\n"),
    ("list-members", "1,close,5,600\n1,close,2,610\n1,apart,20,620\n2,a b,3,630\n"),
    (
        "content",
        "\
{\"content_id\":10,\"author_id\":2,\"published_at\":1000,\"text\":\"a\"}
{\"content_id\":11,\"author_id\":3,\"published_at\":1100,\"to\":[20,21],\"kind\":\"photo\"}
{\"content_id\":12,\"author_id\":5,\"published_at\":1200,\"to\":[\"2\"],\"broadcast\":false}
{\"content_id\":13,\"author_id\":9,\"published_at\":1300,\"to\":[2]}
{\"content_id\":14,\"author_id\":7,\"published_at\":1400,\"to\":[2]}
{\"content_id\":15,\"author_id\":2,\"published_at\":1500}
",
    ),
    ("reactions", "10,1,like,2000\n14,1,like,2010\n"),
    ("profiles", "7,seven\n"),
    ("markers", "1,1000-10\n2,1100-11\n1,1200-12,close\n"),
    ("suspensions", "7,700\n"),
];

/// Each table with its new lines.
fn counts() -> Vec<(&'static str, usize)> {
    let is_header = |line: &&str| line.starts_with("user_id");
    TABLES.iter().map(|(table, text)| (*table, text.lines().filter(|line| !is_header(line)).count())).collect()
}

/// The arguments of an import of all tables, in another order than that in which they are taken.
fn arguments() -> Vec<String> {
    TABLES.iter().rev().flat_map(|(table, _)| [format!("--{table}"), (*table).to_owned()]).collect()
}

/// A table of CSV as NDJSON. Without a header it has the columns that the help names.
fn ndjson(help: &str, table: &str, text: &str) -> String {
    let named = |line: &str| Some(line.trim().strip_prefix(table)?.strip_prefix(':')?.replace(['[', ']'], ""));
    let header = text.lines().next().filter(|line| line.starts_with("user_id,")).map(str::to_owned);
    let columns = header.or_else(|| help.lines().find_map(named)).unwrap();
    let columns = columns.split('(').next().unwrap().trim();
    let text = text.replace("Close, very", "Close; very");
    let object = |line: &str| {
        let fields = columns.split(',').zip(line.split(',')).filter(|(_, field)| !field.is_empty());
        let value = |(name, field): (&str, &str)| {
            let value = match (name, field) {
                ("approve_followers" | "exclusive", "t" | "true") => json!(true),
                ("approve_followers" | "exclusive", _) => json!(false),
                ("since", time) => json!(time.parse::<u64>().unwrap()),
                (_, text) => json!(text.trim_matches('"').replace("; ", ", ")),
            };
            (name.to_owned(), value)
        };
        format!("{}\n", Value::Object(fields.map(value).collect()))
    };
    text.lines().filter(|line| !line.starts_with("user_id,")).map(object).collect()
}

/// Makes the calls of the lines.
fn call_all(server: &Server) {
    let put = |path: &str, body: &str| drop(server.call("PUT", path, body).expect(200));
    put("/v1/users/4/settings", r#"{"approve_followers":true}"#);
    put("/v1/users/5/settings", r#"{"approve_followers":true,"default_audience":"followers"}"#);
    put("/v1/users/6/settings", r#"{"approve_followers":true}"#);
    put("/v1/users/7/settings", r#"{"default_audience":"followers"}"#);
    put("/v1/users/1/blocks/8", "");
    put("/v1/users/9/blocks/1", "");
    for (user, target, since) in
        [(1, 2, 200), (1, 3, 210), (1, 4, 220), (1, 20, 230), (2, 1, 240), (3, 2, 250), (6, 5, 260)]
    {
        let body = json!({"since": since, "approved": true}).to_string();
        put(&format!("/v1/users/{user}/following/{target}"), &body);
    }
    for (user, target, since) in [(2, 4, 300), (3, 4, 310), (6, 4, 320), (2, 5, 330), (3, 6, 340)] {
        put(&format!("/v1/users/{user}/following/{target}"), &json!({ "since": since }).to_string());
    }
    put("/v1/users/6/settings", "{}");
    for path in ["1/mutes/3", "2/mutes/7", "4/hidden-from/1", "2/hidden-from/3"] {
        put(&format!("/v1/users/{path}"), "");
    }
    put("/v1/users/1/lists/close", r#"{"title":"Close, very"}"#);
    put("/v1/users/1/lists/apart", r#"{"exclusive":true}"#);
    put("/v1/users/2/lists/a%20b", "");
    for path in
        ["1/lists/close/members/5", "1/lists/close/members/2", "1/lists/apart/members/20", "2/lists/a%20b/members/3"]
    {
        put(&format!("/v1/users/{path}"), "");
    }
    let (_, content) = TABLES.iter().find(|(table, _)| *table == "content").unwrap();
    for line in content.lines() {
        server.call("POST", "/v1/content", line).expect(201);
    }
    put("/v1/content/10/reactions/like/1", r#"{"since":2000}"#);
    put("/v1/content/14/reactions/like/1", r#"{"since":2010}"#);
    put("/v1/users/7", r#"{"nickname":"seven"}"#);
    for (user, path, cursor) in
        [(1, "marker", "1000-10"), (2, "marker", "1100-11"), (1, "lists/close/marker", "1200-12")]
    {
        put(&format!("/v1/users/{user}/{path}"), &json!({ "cursor": cursor }).to_string());
    }
    put("/v1/users/7/suspension", "");
}

/// Leaves out the times that only an import can give.
fn without_times(mut answer: Value) -> Value {
    if let Some(object) = answer.as_object_mut() {
        ["since", "next", "prev"].iter().for_each(|name| drop(object.remove(*name)));
        for part in object.values_mut() {
            *part = without_times(part.take());
        }
    } else if let Some(items) = answer.as_array_mut() {
        items.iter_mut().for_each(|item| *item = without_times(item.take()));
        // Lists of users are by those times.
        if items.iter().all(|item| item.get("user_id").is_some()) {
            items.sort_by_key(|item| item["user_id"].to_string());
        }
    }
    answer
}

/// All answers of the API about the users and items.
fn shown(server: &Server) -> Vec<(String, Value)> {
    let mut paths = vec!["/v1/content?ids=10,11,12,13,14,15".to_owned()];
    for user in [1, 2, 3, 4, 5, 6, 7, 8, 9, 20, 21] {
        let user = user.to_string();
        let values = [("uid", &*user), ("kind", "like"), ("targets", "1,2,3,4,5,6,7,8,9,20")];
        paths.extend(reads("/v1/users/{uid}", &values).into_iter().map(|(path, _)| path));
    }
    for (user, list) in [("1", "close"), ("1", "apart"), ("2", "a%20b")] {
        let found = reads("/v1/users/{uid}/lists/{list}", &[("uid", user), ("list", list)]);
        paths.extend(found.into_iter().map(|(path, _)| path));
    }
    paths.into_iter().map(|path| (path.clone(), without_times(server.get(&path)))).collect()
}

#[test]
fn an_import_of_everything_shows_what_the_same_calls_show() {
    let called = Server::start();
    call_all(&called);
    let expected = shown(&called);
    for is_csv in [true, false] {
        let (place, data) = (Place::new(), TempDir::new().unwrap());
        let help = place.run(&["import", "--help"]).ok().out;
        for &(table, text) in TABLES {
            let text = if is_csv || table == "content" { text.to_owned() } else { ndjson(&help, table, text) };
            place.file(table, gzip(text.as_bytes()));
        }
        let (path, arguments) = (data.path().to_str().unwrap(), arguments());
        let arguments: Vec<_> =
            ["import", "--data-dir", path].into_iter().chain(arguments.iter().map(String::as_str)).collect();
        let ran = place.run(&arguments).ok();
        let wanted: Vec<_> = counts()
            .into_iter()
            .map(|(table, count)| format!("{table} {table}: {count} new, 0 already there, 0 refused"))
            .collect();
        // The settings of user 6 are those of a user without any.
        assert_eq!(
            ran.out.replace("settings settings: 3 new, 1 already", "settings settings: 4 new, 0 already"),
            wanted.join("\n") + "\n"
        );
        place.run(&["check", "--data-dir", path]).ok();
        let imported = Server::on(data, &[]);
        for (imported, expected) in shown(&imported).iter().zip(&expected) {
            assert_eq!(imported, expected, "csv: {is_csv}");
        }
        // The times of the files, also where no call takes one.
        for (path, since) in [
            ("1/blocks", 100),
            ("9/blocks", 110),
            ("1/mutes", 400),
            ("4/hidden-from", 500),
            ("6/sent-requests", 320),
            ("6/follow-requests", 340),
            ("2/lists/a%20b/members", 630),
        ] {
            assert_eq!(imported.get(&format!("/v1/users/{path}"))["items"][0]["since"], since, "{path}");
        }
        assert_eq!(imported.get("/v1/users/7/suspension")["since"], 700);
    }
}

#[test]
fn rules_come_with_follows_requests_and_members() {
    let (place, data) = (Place::new(), TempDir::new().unwrap());
    place.file("settings", "2,true\n");
    place.file("lists", "1,close\n");
    place.file(
        "follows",
        r#"{"user_id":1,"target_id":3,"since":5,"only":["video","post"]}
{"user_id":1,"target_id":4,"since":5,"except":["repost"]}
{"user_id":1,"target_id":5,"since":5}
{"user_id":1,"target_id":5,"since":5,"only":["post"]}
{"user_id":1,"target_id":6,"only":["post"],"except":["post"]}
{"user_id":1,"target_id":6,"only":[]}
"#,
    );
    place.file("requests", r#"{"user_id":1,"target_id":2,"except":["photo"]}"#);
    place.file("list-members", r#"{"user_id":1,"list":"close","source_id":9,"only":["photo"]}"#);
    place.file("content", "{\"content_id\":10,\"author_id\":3,\"published_at\":7,\"kind\":\"photo\"}\n");
    let path = data.path().to_str().unwrap();
    let tables = ["settings", "lists", "follows", "requests", "list-members", "content"]
        .map(|table| (format!("--{table}"), table));
    let mut arguments = vec!["import", "--data-dir", path, "--allow-refused", "1"];
    arguments.extend(tables.iter().flat_map(|(option, table)| [option.as_str(), table]));
    for is_again in [false, true] {
        let ran = place.run(&arguments).ok();
        assert!(is_again || ran.out.contains("follows follows: 4 new, 1 already there, 1 refused"), "{}", ran.out);
        assert!(!is_again || ran.out.contains("follows follows: 0 new, 5 already there, 1 refused"), "{}", ran.out);
        assert!(ran.err.contains("follows:5: invalid_field: only and except: give one of the two"), "{}", ran.err);
    }
    place.run(&["check", "--data-dir", path]).ok();
    let server = Server::on(data, &[]);
    let relations = &server.get("/v1/users/1/relations?targets=2,3,4,5,6")["items"];
    let rule = |place: usize| (relations[place]["only"].clone(), relations[place]["except"].clone());
    assert_eq!(rule(0), (Value::Null, json!(["photo"])), "{relations}");
    assert_eq!(rule(1), (json!(["video", "post"]), Value::Null), "{relations}");
    assert_eq!(rule(2), (Value::Null, json!(["repost"])), "{relations}");
    assert_eq!((rule(3), rule(4)), ((Value::Null, Value::Null), (Value::Null, Value::Null)), "{relations}");
    assert_eq!(server.get("/v1/users/1/lists/close/members")["items"][0]["only"], json!(["photo"]));
    assert_eq!(server.get("/v1/users/1/timeline")["items"], json!([]), "the rule of 3 leaves out photos");
    server.call("PUT", "/v1/users/2/follow-requests/1", "").expect(200);
    let relation = &server.get("/v1/users/1/relations?targets=2")["items"][0];
    assert_eq!((&relation["relation"], &relation["except"]), (&json!("following"), &json!(["photo"])), "{relation}");
}

#[test]
fn a_second_run_over_all_tables_changes_nothing() {
    let place = Place::new();
    TABLES.iter().for_each(|(table, text)| place.file(table, text));
    let arguments = arguments();
    let arguments: Vec<_> = ["import"].into_iter().chain(arguments.iter().map(String::as_str)).collect();
    place.run(&arguments).ok();
    let dump = place.dump();
    let again = place.run(&arguments).ok();
    for (line, (table, count)) in lines(&again.out).into_iter().zip(counts()) {
        assert_eq!(line, format!("{table} {table}: 0 new, {count} already there, 0 refused"));
    }
    assert_eq!(place.dump(), dump);
    // What stands keeps its time, and a marker does not move back.
    place.file("later", "1,3,999\n2,7\n");
    place.file("back", "1,900-9\n1,1200-12\n");
    let ran = place.run(&["import", "--mutes", "later", "--markers", "back"]).ok();
    assert_eq!(
        lines(&ran.out),
        ["mutes later: 0 new, 2 already there, 0 refused", "markers back: 1 new, 1 already there, 0 refused"]
    );
    assert!(place.dump().contains("at: 400, "), "{}", place.dump());
}

#[test]
fn a_block_ends_follows_and_requests_and_refuses_later_ones() {
    let place = Place::new();
    place.file("f", "1,2,10\n2,1,11\n1,3,12\n");
    place.file("q", "3,2,13\n");
    place.file("b", "1,2,20\n2,3,21\n");
    place.run(&["import", "--follows", "f", "--requests", "q"]).ok();
    place.run(&["import", "--blocks", "b"]).ok();
    place.run(&["check"]).ok();
    let dump = place.dump();
    assert!(!dump.contains("at: 10, ") && !dump.contains("at: 11, ") && !dump.contains("at: 13, "), "{dump}");
    assert!(dump.contains("at: 12, "), "{dump}");
    let ran = place.run(&["import", "--follows", "f", "--requests", "q"]).failed("3 lines were refused");
    assert_eq!(refused(&ran.err, "f").iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 2]);
    assert!(refused(&ran.err, "q")[0].1.starts_with("blocked: "), "{}", ran.err);
    assert_eq!(place.dump(), dump);
}

#[test]
fn requests_count_to_the_limit_and_wait_whatever_the_target_has_set() {
    let place = Place::new().with_env("TIDELINE__GRAPH__FOLLOW_LIMIT", 2);
    place.file("f", "1,2,10\n");
    place.file("q", "1,3,20\n1,4,21\n1,2,22\n1,3,23\n");
    let ran = place.run(&["import", "--requests", "q", "--follows", "f"]).failed("1 line was refused");
    assert_eq!(lines(&ran.out)[1], "requests q: 1 new, 2 already there, 1 refused");
    assert_eq!(refused(&ran.err, "q")[0].0, 2);
    // The follow is made, and its request ends.
    place.file("g", "1,3,30\n");
    place.run(&["import", "--follows", "g"]).ok();
    let dump = place.dump();
    assert!(dump.contains("at: 30, ") && !dump.contains("at: 20, "), "{dump}");
    place.run(&["check"]).ok();
}

#[test]
fn refused_lines_of_all_tables_are_named() {
    let place = Place::new();
    place.file("content", "10,2,1000\n");
    let ahead = u64::MAX >> 1;
    let cases = [
        (
            "mutes",
            "1,1\n1,2,x\n1\n".to_owned() + &format!("1,2,{ahead}\n"),
            "self_mute invalid_time missing_field time_ahead",
        ),
        ("hides", "1,1\n1,\u{1}\n".to_owned(), "self_hide invalid_id"),
        ("blocks", format!("1,1\n1,2,{ahead}\n"), "self_block time_ahead"),
        ("requests", format!("1,1\n1,2,{ahead}\n"), "self_follow time_ahead"),
        ("settings", "1,yes\n1,true,all\n".to_owned(), "invalid_field invalid_field"),
        (
            "lists",
            format!("1\n1,{}\n1,a,{}\n", "x".repeat(65), "x".repeat(201)),
            "missing_field invalid_field invalid_field",
        ),
        ("list-members", format!("1,none,2\n1,a\n1,a,2,{ahead}\n"), "list_not_found missing_field list_not_found"),
        (
            "markers",
            format!("1,soon\n1,5-none\n1,{ahead}-10\n1,5-10,none\n"),
            "invalid_field unknown_cursor time_ahead list_not_found",
        ),
        ("suspensions", format!("1,{ahead}\n,5\n"), "time_ahead missing_field"),
        (
            "reactions",
            "10,1,love\n99,1,like\n10,\u{1},like\n10,1\n10,1,like,x\n".to_owned(),
            "invalid_kind content_not_found invalid_id missing_field invalid_time",
        ),
        (
            "profiles",
            format!("1,{}\n1,second,,[]\n\u{1},a\n1,a,b,{{}},c\n\"1\n", "x".repeat(201)),
            "invalid_field invalid_field invalid_id invalid_line invalid_line",
        ),
    ];
    let mut arguments = vec!["import".to_owned(), "--content".to_owned(), "content".to_owned()];
    for (table, text, _) in &cases {
        place.file(table, text);
        arguments.extend([format!("--{table}"), (*table).to_owned()]);
    }
    let ran = place.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let ran = ran.failed("lines were refused");
    for (table, text, kinds) in &cases {
        let found = refused(&ran.err, table);
        let kinds: Vec<_> = kinds.split(' ').collect();
        let named: Vec<_> = found.iter().map(|(_, reason)| reason.split(':').next().unwrap()).collect();
        assert_eq!(named, kinds, "{table}: {}", ran.err);
        assert_eq!(found.len(), text.lines().count(), "{table}");
    }
    let kinds = "kind: expected one of reactions.kinds (\"like\", \"favorite\"), not \"love\"";
    assert_eq!(refused(&ran.err, "reactions")[0].1, format!("invalid_kind: {kinds}"));
    place.run(&["check"]).ok();
    let whole = Place::new();
    whole.file("content", "10,2,1000\n");
    whole.run(&["import", "--content", "content"]).ok();
    assert_eq!(place.dump(), whole.dump(), "a refused line changes nothing");
}

#[test]
fn reactions_to_items_of_suspended_authors_are_taken() {
    let place = Place::new();
    place.file("c", "10,2,1000\n");
    place.file("s", "2,5\n");
    place.file("r", "10,1,like,7\n");
    place.run(&["import", "--suspensions", "s", "--content", "c"]).ok();
    let ran = place.run(&["import", "--reactions", "r"]).ok();
    assert_eq!(ran.out, "reactions r: 1 new, 0 already there, 0 refused\n");
    place.run(&["check"]).ok();
}
