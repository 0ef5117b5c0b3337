use serde_json::json;

use super::*;

/// Commands of each kind, with every field and with as few as possible. Logs have such lines, so none may change: a new
/// field gets a further line. Replays vary them (tests/promises/replay.rs).
const GOLDEN: &str = include_str!("golden.ndjson");

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
    for line in GOLDEN.lines() {
        assert_eq!(written(&read(line)), line);
    }
}

#[test]
fn every_kind_and_every_field_has_a_golden_line() {
    let kinds = accepted(r#"{"?":{}}"#);
    assert!(kinds.len() > 11, "{kinds:?}");
    for kind in &kinds {
        let beginning = format!("{{\"{kind}\":");
        let lines: String = GOLDEN.lines().filter(|line| line.starts_with(&beginning)).collect();
        for field in accepted(&format!("{beginning}{{\"?\":1}}}}")) {
            assert!(lines.contains(&format!("\"{field}\":")), "{kind} has {field}");
        }
    }
    for (kind, inner) in [
        ("publish_items", r#"{"new_items":[{"?":1}]}"#),
        ("edit_item", r#"{"edit":{"?":1}}"#),
        ("react", r#"{"requests":[{"?":1}]}"#),
        ("put_profiles", r#"{"profiles":[["1",{"?":1}]]}"#),
        ("put_list", r#"{"settings":{"?":1}}"#),
        ("put_settings", r#"{"settings":{"?":1}}"#),
        ("erase_rows", r#"{"part":{"?":1}}"#),
    ] {
        let beginning = format!("{{\"{kind}\":");
        let lines: String = GOLDEN.lines().filter(|line| line.starts_with(&beginning)).collect();
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
    for line in GOLDEN.lines() {
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
    let new_item = json!({
        "author_id": &name, "content_id": u64::MAX >> 1, "ref_id": &name, "published_at": u64::MAX >> 1,
        "kind": "a".repeat(32), "text": &long, "topics": vec!["🌊".repeat(64); 10],
    });
    let text = new_item.to_string().replacen('{', &format!("{{\"extra\":{deep},"), 1);
    let new_item: NewContent = serde_json::from_str(&text).expect("a new_item");
    let place: Position<ExternalId> = format!("9223372036854775807-{name}").parse().expect("a place");
    let user: ExternalId = name.parse().expect("an id");
    let profile = Profile { nickname: Some(long.clone()), avatar: Some(long), extra: Some(deep) };
    for command in [
        Command::from(PublishItems { new_items: vec![new_item; 3], on_live_items: None }),
        MoveMarker { user: user.clone(), place, visibility: Visibility::User, list: None }.into(),
        PutProfiles { profiles: vec![(user, profile)] }.into(),
    ] {
        let json = written(&command);
        assert_eq!(format!("{:?}", read(&json)), format!("{command:?}"));
        assert_eq!(written(&read(&json)), json);
    }
}
