use serde_json::json;

use super::*;

/// Commands of each kind, with every field and with as few as possible. Logs have such lines, so none may change: a new
/// field gets a further line.
const GOLDEN: &[&str] = &[
    r#"{"publish_items":{"drafts":[{"author_id":"1","content_id":"9223372036854775807","published_at":9223372036854775807,"kind":"repost","text":"é 🌊\n\u0000\"\\","media":[ {"url" : "\u00e9\/", "type":"image","w":1.50} ],"topics":["t","é 🌊"],"ref_id":"a/b","extra":{ "b":1e2,"a":12345678901234567890123 },"broadcast":false,"to":["2","b"],"audience":"followers"}]}}"#,
    r#"{"publish_items":{"drafts":[{"author_id":"ann"},{"author_id":"01"}]}}"#,
    r#"{"publish_items":{"drafts":[{"author_id":"1","kind":"comment","ref_id":"7","broadcast":false,"to":["2","c"]}],"on_live_items":"all"}}"#,
    r#"{"edit_item":{"item":"7","edit":{"text":"t","media":[{"type":"","url":""}],"extra":{"a":{"a":[null]}}}}}"#,
    r#"{"edit_item":{"item":"7","edit":{"text":null,"media":null,"extra":null}}}"#,
    r#"{"edit_item":{"item":"7","edit":{}}}"#,
    r#"{"delete_item":{"item":"7"}}"#,
    r#"{"delete_item":{"item":"7","purge":true}}"#,
    r#"{"restore_item":{"item":"7"}}"#,
    r#"{"relate":{"user":"1","follow":[["2",9007199254740993],["b",null]],"unfollow":["3","c"]}}"#,
    r#"{"relate":{"user":"1","follow":[],"unfollow":[]}}"#,
    r#"{"relate":{"user":"1","follow":[["2",null]],"unfollow":[],"rule":{"only":["post","a_1"]}}}"#,
    r#"{"relate":{"user":"1","follow":[["2",null]],"unfollow":[],"rule":"all"}}"#,
    r#"{"relate":{"user":"1","follow":[["2",null]],"unfollow":[],"approved":true}}"#,
    r#"{"set_restriction":{"user":"1","target":"2","restriction":"mute","raised":true}}"#,
    r#"{"set_restriction":{"user":"1","target":"2","restriction":"hide","raised":false}}"#,
    r#"{"set_restriction":{"user":"1","target":"2","restriction":"block","raised":true}}"#,
    r#"{"react":{"item":"7","requests":[{"user":"1","kind":"like","active":true,"since":18446744073709551615,"visibility":"own"},{"user":"1","kind":"favorite","active":false,"visibility":"all"}]}}"#,
    r#"{"react":{"item":"7","requests":[]}}"#,
    r#"{"move_marker":{"user":"1","place":"1689089522000-32850","visibility":"own"}}"#,
    r#"{"move_marker":{"user":"1","place":"0--5-a","visibility":"all"}}"#,
    r#"{"put_profiles":{"profiles":[["1",{"nickname":"é\t","avatar":"u","extra":"{\"a\": 1.50}"}],["b",{}]]}}"#,
    r#"{"put_profiles":{"profiles":[]}}"#,
    r#"{"answer_request":{"user":"1","from":"a","approved":true}}"#,
    r#"{"answer_request":{"user":"1","from":"2","approved":false}}"#,
    r#"{"put_settings":{"user":"1","settings":{"approve_followers":true}}}"#,
    r#"{"put_settings":{"user":"1","settings":{"approve_followers":false,"default_audience":"followers"}}}"#,
    r#"{"give_numbers":{"ids":["1","a"]}}"#,
    r#"{"number_reactions":{"kinds":["like","é"]}}"#,
    r#"{"import_items":{"drafts":[{"author_id":"1","content_id":"7","published_at":5}]}}"#,
    r#"{"import_follows":{"user":"1","follows":[["2",5],["b",null]]}}"#,
    r#"{"import_follows":{"user":"a","follows":[]}}"#,
    r#"{"set_suspension":{"user":"a","suspended":true}}"#,
    r#"{"move_marker":{"user":"1","place":"5-a","visibility":"own","list":"é"}}"#,
    r#"{"move_notice_marker":{"user":"1","place":"1689089522000-4-1-3-a-b-7","visibility":"own"}}"#,
    r#"{"publish_items":{"drafts":[{"author_id":"1","mentions":["2","b"]}]}}"#,
    r#"{"put_list":{"user":"a","list":"é","settings":{"title":"\"","exclusive":true}}}"#,
    r#"{"put_list":{"user":"1","list":" ","settings":{"exclusive":false}}}"#,
    r#"{"delete_list":{"user":"1","list":"é"}}"#,
    r#"{"change_members":{"user":"a","list":"é","add":["2","b"],"remove":["c"]}}"#,
    r#"{"take_off":{"item":"7","source":"a"}}"#,
    r#"{"change_members":{"user":"a","list":"é","add":["2"],"remove":[],"rule":{"except":["repost"]}}}"#,
    r#"{"publish_items":{"drafts":[{"author_id":"1","kind":"comment","ref_id":"7","broadcast":false,"to":["2","b"],"audience":"followers"}],"on_live_items":"own"}}"#,
    r#"{"react":{"item":"7","requests":[],"imported":true}}"#,
    r#"{"import_line":{"change":{"set_restriction":{"user":"1","target":"b","restriction":"block","raised":true}},"since":5}}"#,
    r#"{"import_line":{"change":{"set_restriction":{"user":"1","target":"b","restriction":"mute","raised":true}}}}"#,
    r#"{"import_follows":{"user":"1","follows":[["b",5]],"awaited":true}}"#,
    r#"{"import_line":{"change":{"put_list":{"user":"1","list":"é","settings":{"title":"t","exclusive":true}}}}}"#,
    r#"{"import_line":{"change":{"change_members":{"user":"1","list":"é","add":["b"],"remove":[]}},"since":5}}"#,
    r#"{"import_line":{"change":{"move_marker":{"user":"1","place":"5-a","visibility":"all","list":"é"}}}}"#,
    r#"{"import_line":{"change":{"move_notice_marker":{"user":"1","place":"1689089522000-4-1-3-a-b-7","visibility":"all"}}}}"#,
    r#"{"import_line":{"change":{"put_settings":{"user":"1","settings":{"approve_followers":true}}}}}"#,
    r#"{"import_line":{"change":{"set_suspension":{"user":"1","suspended":true}},"since":5}}"#,
    r#"{"import_follows":{"user":"1","follows":[["2",5],["b",null]],"rules":["all",{"only":["post"]}]}}"#,
    r#"{"erase_user":{"user":"a"}}"#,
    r#"{"erase_rows":{"user":7,"part":{"table":"content","keys":[[0,0,0,0,0,0,0,1],[255]]}}}"#,
    r#"{"erase_rows":{"user":7,"part":{"table":"events","keys":[]}}}"#,
    r#"{"end_erasure":{"user":7}}"#,
    r#"{"import_follows":{"user":"1","follows":[["b",null]],"rules":[{"except":["a"]}],"awaited":true}}"#,
    r#"{"import_line":{"change":{"change_members":{"user":"1","list":"é","add":["b"],"remove":[],"rule":{"only":["post","a"]}}}}}"#,
    r#"{"import_items":{"drafts":[{"author_id":"1","content_id":"7","published_at":5}],"edited":[6]}}"#,
    r#"{"import_line":{"change":{"delete_item":{"item":"a"}},"since":5}}"#,
    r#"{"import_line":{"change":{"delete_item":{"item":"7","purge":true}}}}"#,
    r#"{"keep_receiver":{"receiver":"push","node":"a","position":"00000000000000ab-7"}}"#,
    r#"{"keep_receiver":{"receiver":"push","position":"00000000000000ab-7"}}"#,
];

fn read(json: &str) -> Command {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

fn written(command: &Command) -> String {
    serde_json::to_string(command).expect("writes")
}

/// The names that are accepted in the place of `?`, from the error.
fn accepted(json: &str) -> Vec<String> {
    let error = serde_json::from_str::<Command>(json).expect_err(json).to_string();
    let names = error.split_once("expected").expect(json).1.split('`').skip(1).step_by(2);
    names.map(str::to_owned).collect()
}

#[test]
fn golden_lines_come_back_unchanged() {
    for &line in GOLDEN {
        assert_eq!(written(&read(line)), line);
    }
}

#[test]
fn every_kind_and_every_field_has_a_golden_line() {
    let kinds = accepted(r#"{"?":{}}"#);
    assert!(kinds.len() > 11, "{kinds:?}");
    for kind in &kinds {
        let beginning = format!("{{\"{kind}\":");
        let lines: String = GOLDEN.iter().copied().filter(|line| line.starts_with(&beginning)).collect();
        for field in accepted(&format!("{beginning}{{\"?\":1}}}}")) {
            assert!(lines.contains(&format!("\"{field}\":")), "{kind} has {field}");
        }
    }
    for (kind, inner) in [
        ("publish_items", r#"{"drafts":[{"?":1}]}"#),
        ("edit_item", r#"{"edit":{"?":1}}"#),
        ("react", r#"{"requests":[{"?":1}]}"#),
        ("put_profiles", r#"{"profiles":[["1",{"?":1}]]}"#),
        ("put_list", r#"{"settings":{"?":1}}"#),
        ("put_settings", r#"{"settings":{"?":1}}"#),
        ("erase_rows", r#"{"part":{"?":1}}"#),
    ] {
        let beginning = format!("{{\"{kind}\":");
        let lines: String = GOLDEN.iter().copied().filter(|line| line.starts_with(&beginning)).collect();
        for field in accepted(&format!("{beginning}{inner}}}")) {
            assert!(lines.contains(&format!("\"{field}\":")), "{kind} has {field}");
        }
    }
}

#[test]
fn unknown_names_are_refused() {
    // A later version may have them; what they mean is not known here.
    for line in [
        r#"{"unheard_of":{}}"#,
        r#"{"delete_item":{"item":"7","more":1}}"#,
        r#"{"delete_item":{"item":"7"},"more":1}"#,
        r#"{"edit_item":{"item":"7","edit":{"more":1}}}"#,
        r#"{"set_restriction":{"user":"1","target":"2","restriction":"more","raised":true}}"#,
        r#"{"put_profiles":{"profiles":[["1",{"more":1}]]}}"#,
    ] {
        assert!(serde_json::from_str::<Command>(line).is_err(), "{line}");
    }
    for &line in GOLDEN {
        for part in ["\"author_id\":", "\"visibility\":"] {
            let more = line.replace(part, &format!("\"more\":1,{part}"));
            assert!(more == line || serde_json::from_str::<Command>(&more).is_err(), "{more}");
        }
    }
}

#[test]
fn the_largest_of_all_that_hosts_may_send_is_read_again() {
    let name = "é".repeat(64);
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(31), "]".repeat(31));
    let long: String = (0..0x11_0000).step_by(41).filter_map(char::from_u32).collect();
    let draft = json!({
        "author_id": &name, "content_id": u64::MAX >> 1, "ref_id": &name, "published_at": u64::MAX >> 1,
        "kind": "a".repeat(32), "text": &long, "topics": vec!["🌊".repeat(64); 10],
    });
    let text = draft.to_string().replacen('{', &format!("{{\"extra\":{deep},"), 1);
    let draft: Draft = serde_json::from_str(&text).expect("a draft");
    let place: Position<HostId> = format!("9223372036854775807-{name}").parse().expect("a place");
    let user: HostId = name.parse().expect("an id");
    let profile = Profile { nickname: Some(long.clone()), avatar: Some(long), extra: Some(deep) };
    for command in [
        Command::from(PublishItems { drafts: vec![draft; 3], on_live_items: None }),
        MoveMarker { user: user.clone(), place, visibility: Visibility::User, list: None }.into(),
        PutProfiles { profiles: vec![(user, profile)] }.into(),
    ] {
        let json = written(&command);
        assert_eq!(format!("{:?}", read(&json)), format!("{command:?}"));
        assert_eq!(written(&read(&json)), json);
    }
}
