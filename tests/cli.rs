//! The commands as a user runs them: settings, statistics, demo data, serving.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::command::{Place, repository_file};
use crate::server::{PATIENCE, Server};
use config::Config;

/// `config.toml` with every setting uncommented.
fn uncommented() -> String {
    let is_setting =
        |line: &str| line.strip_prefix('#').is_some_and(|rest| rest.starts_with(|c: char| c.is_lowercase()));
    let line = |line: &str| if is_setting(line) { line[1..].to_owned() + "\n" } else { line.to_owned() + "\n" };
    repository_file("config.toml").lines().map(line).collect()
}

/// The settings that the program prints.
fn printed(place: &Place, args: &[&str]) -> Config {
    toml::from_str(&place.run(&[&["config"], args].concat()).ok().out).expect("settings")
}

#[test]
fn the_config_file_tells_every_default() {
    let place = Place::new();
    place.file("commented.toml", repository_file("config.toml"));
    place.file("uncommented.toml", uncommented());
    for name in ["commented.toml", "uncommented.toml"] {
        assert_eq!(printed(&place, &["--config", name]), Config::default(), "{name}");
    }
    let told: toml::Table = uncommented().parse().expect("TOML");
    let all: toml::Table = Config::default().to_toml().expect("prints").parse().expect("TOML");
    assert_eq!(told, all, "a setting is left out, or there is one too much");
}

#[test]
fn settings_come_from_file_environment_and_command_line() {
    let place = Place::new();
    place.file("t.toml", "[timeline]\ninbox_limit = 300\n[storage]\ndata_dir = \"elsewhere\"\n");
    assert_eq!(printed(&place, &[]), Config::default());
    let config = printed(&place, &["--config", "t.toml"]);
    assert_eq!((config.timeline.inbox_limit, config.storage.data_dir.to_str()), (300, Some("elsewhere")));
    let place = place.with_env("TIDELINE__TIMELINE__INBOX_LIMIT", 7).with_env("TIDELINE__LOG__LEVEL", "warn");
    let config = printed(&place, &["--config", "t.toml", "--data-dir", "third"]);
    assert_eq!((config.timeline.inbox_limit, config.storage.data_dir.to_str()), (7, Some("third")));
    assert_eq!(config.log.level, "warn");
}

#[test]
fn a_config_file_is_read_only_when_named() {
    let place = Place::new();
    place.file("config.toml", "[nonsense]\n");
    place.run(&["config"]).ok();
    place.run(&["config", "--config", "config.toml"]).failed("nonsense");
}

#[test]
fn wrong_settings_are_refused_by_name() {
    let place = Place::new();
    place.file("t.toml", "[timeline]\ninbox_limt = 300\n");
    let ran = place.run(&["config", "--config", "t.toml"]).failed("tideline: ");
    assert!(ran.err.contains("inbox_limt") && ran.err.lines().count() == 1, "{}", ran.err);
    place.run(&["config", "--config", "missing.toml"]).failed("missing.toml");
    place.file("broken.toml", "\nx = [\n");
    let ran = place.run(&["config", "--config", "broken.toml"]).failed("tideline: ");
    assert!(ran.err.contains("line 2") && ran.err.lines().count() == 1, "{}", ran.err);
    place_with("TIDELINE_COLOUR", "5").run(&["config"]).failed("TIDELINE_COLOUR is not a setting");
    place_with("TIDELINE__LOG__LEVEL", "inof").run(&["stats"]).failed("log.level");
}

#[test]
fn a_key_is_made_once_and_kept_as_its_hash() {
    let place = Place::new();
    let made = |args: &[&str], setting: &str| {
        let ran = place.run(&[&["key", "new"], args].concat()).ok();
        let lines: Vec<_> = ran.out.lines().map(str::to_owned).collect();
        let [key, hash] = <[String; 2]>::try_from(lines).expect("two lines");
        assert!(ran.err.contains(&format!("\n{setting} = [\"{hash}\"]\n")) && !ran.err.contains(&key), "{}", ran.err);
        let digits = key.strip_prefix("tlk_").expect("the mark");
        assert!(digits.len() == 43 && digits.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)), "{key}");
        (key, hash)
    };
    let (key, hash) = made(&[], "keys");
    assert_ne!(key, made(&["--read"], "read_keys").0);
    made(&["--metrics"], "metrics_keys");
    assert_eq!(place.run(&["key", "new", "--read", "--metrics"]).code, Some(2));
    assert_eq!(place.run_with(&["key", "hash"], format!("{key}\n").as_bytes()).ok().out, format!("{hash}\n"));
    place.run_with(&["key", "hash"], b"too short").failed("at least 32 characters");
    place.run_with(&["key", "hash"], hash.as_bytes()).failed("it is a hash already");
}

#[test]
fn no_output_has_a_key_or_a_secret() {
    let secrets = ["one-0123456789-0123456789-0123456789", "two-0123456789-0123456789-0123456789"];
    let place = Place::new();
    place.file("t.toml", format!("[auth]\nkeys = [\"{}\"]\njwt_secrets = [\"{}\"]\n", secrets[0], secrets[1]));
    let ran = place.run(&["config", "--config", "t.toml"]).ok();
    assert!(ran.out.contains("keys = [\"sha256:") && ran.out.contains("jwt_secrets = [\"***\"]"), "{}", ran.out);
    let mut told = vec![ran.out];
    for (name, value) in [
        ("TIDELINE__AUTH__KEYS", format!("{},short-secret", secrets[0])),
        ("TIDELINE__AUTH__JWT_SECRETS", format!("{},short-secret", secrets[0])),
        ("TIDELINE__AUTH__JWT_PUBLIC_KEY", secrets[0].to_owned()),
    ] {
        let setting = name.strip_prefix("TIDELINE__AUTH__").expect("a name").to_lowercase();
        told.push(place_with(name, &value).run(&["serve"]).failed(&format!("auth.{setting}")).err);
    }
    for (text, line) in [
        (format!("[auth]\nkeys = \"{}\"\n", secrets[0]), "line 2"),
        (format!("[auth]\nkeys = [\"{}\"\nx", secrets[0]), "line 3"),
        (format!("[auth]\njwt_secrets = [\"short-secret\"]\nkeys = [\"{}\"]\n", secrets[1]), "line 2"),
    ] {
        place.file("t.toml", text);
        told.push(place.run(&["serve", "--config", "t.toml"]).failed(line).err);
    }
    place.file("keys", format!("{}\nshort-secret\n", secrets[0]));
    let refused =
        place_with("TIDELINE__AUTH__READ_KEYS_FILE", place.path("keys").to_str().expect("text")).run(&["serve"]);
    told.push(refused.failed("auth.read_keys_file").err);
    for told in told {
        assert!(!secrets.iter().any(|secret| told.contains(secret)) && !told.contains("short-secret"), "{told}");
    }
}

fn place_with(name: &'static str, value: &str) -> Place {
    Place::new().with_env(name, value)
}

#[test]
fn wrong_usage_is_exit_code_2() {
    let place = Place::new();
    for args in [
        &[][..],
        &["import"],
        &["publish"],
        &["serve", "--listen", "nowhere"],
        &["demo", "--out", "x", "--dir", "y"],
        &["config", "--x"],
        &["demo", "--out", "x", "--listen", "127.0.0.1:0"],
    ] {
        let ran = place.run(args);
        assert_eq!(ran.code, Some(2), "{args:?}: {ran:?}");
    }
    let ran = place.run(&["--help"]).ok();
    for command in ["serve", "import", "config", "stats", "check", "openapi", "demo"] {
        assert!(ran.out.contains(&format!("\n  {command} ")), "{}", ran.out);
    }
}

#[test]
fn a_directory_of_something_else_is_not_taken_over() {
    let place = Place::new();
    let data = place.data();
    std::fs::create_dir_all(data.join("db")).expect("makes");
    place.file("data/db/notes.txt", "x");
    place.file("data/letter.txt", "x");
    place.file("f", "1,2\n");
    for command in
        [&["serve", "--listen", "127.0.0.1:0"][..], &["import", "--follows", "f"], &["check"], &["compact"], &["stats"]]
    {
        let ran = place.run(command).failed("is not empty and has no FORMAT file");
        assert!(ran.err.contains("db, letter.txt") && ran.err.contains("--data-dir"), "{ran:?}");
    }
    let mut names: Vec<_> =
        std::fs::read_dir(&data).expect("listed").map(|entry| entry.expect("listed").file_name()).collect();
    names.sort();
    assert_eq!(names, ["db", "letter.txt"]);
}

/// The names of all commands, by the help of the program.
fn commands(place: &Place) -> Vec<String> {
    let help = place.run(&["--help"]).ok().out;
    let (_, list) = help.split_once("\nCommands:\n").expect("a list of commands");
    let names = list.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn completions_and_manual_pages_name_every_command() {
    let place = Place::new();
    let commands = commands(&place);
    assert!(commands.len() > 10 && commands.contains(&"serve".to_owned()), "{commands:?}");
    for (shell, begins) in [("bash", "_tideline() {"), ("zsh", "#compdef tideline"), ("fish", "# Print an optspec")] {
        let script = place.run(&["completions", shell]).ok().out;
        assert!(script.starts_with(begins), "{shell}: {script}");
        // A word of its own, or a part of the name of a function.
        let missing = |name: &&String| !script.split(|c: char| !c.is_alphanumeric()).any(|word| word == *name);
        assert_eq!(commands.iter().find(missing), None, "{shell}");
        assert!(script.contains("data-dir"), "{shell}");
    }
    let page = place.run(&["man"]).ok().out;
    place.run(&["man", "made/pages"]).ok();
    let read = |name: &str| std::fs::read_to_string(place.path("made/pages").join(name)).expect(name);
    assert_eq!(read("tideline.1"), page);
    for name in &commands {
        assert!(page.contains(&format!("tideline\\-{name}(1)")), "{name}: {page}");
        assert!(read(&format!("tideline-{name}.1")).contains(".SH DESCRIPTION"), "{name}");
    }
    place.file("taken", "");
    place.run(&["man", "taken"]).failed("tideline: cannot write to taken: ");
}

#[test]
fn health_is_the_answer_of_the_server() {
    let place = Place::new();
    let server = serve(&place, "127.0.0.1:0");
    let url = format!("http://{}", server.address);
    let ready = format!("{url} is ready\n");
    assert_eq!(place.health(&["health", "--url", &url]).ok().out, ready);
    assert_eq!(place.health(&["health", "--url", &format!("{url}/")]).ok().out, ready);
    let by_settings = Place::new().with_env("TIDELINE__SERVER__LISTEN", server.address);
    assert_eq!(by_settings.health(&["health"]).ok().out, ready);
    place.file("t.toml", format!("[server]\nlisten = \"0.0.0.0:{}\"\n", server.address.port()));
    assert_eq!(place.health(&["health", "--config", "t.toml"]).ok().out, ready);
    assert_eq!(server.end("TERM").code(), Some(0));

    let ran = by_settings.health(&["health"]).failed(&format!("tideline: no answer from {url}: "));
    assert!(ran.err.lines().count() == 1 && ran.err.contains("Connection refused"), "{ran:?}");
    place_with("TIDELINE__SERVER__LISTEN", ":0").run(&["health"]).failed("Name it with --url");
}

/// A server that never answers, and one that answers that it is not ready.
#[test]
fn health_is_bad_without_an_answer_of_200() {
    let place = Place::new();
    let other = std::net::TcpListener::bind("127.0.0.1:0").expect("binds");
    let url = format!("http://{}", other.local_addr().expect("bound"));
    let began = Instant::now();
    let words = format!("tideline: no answer from {url}: the server has said nothing for 3s\n");
    place.run(&["health", "--url", &url]).failed(&words);
    assert!(began.elapsed() < PATIENCE);
    std::thread::spawn(move || {
        // Also those of runs that have waited too long and are gone, such as the one above.
        for stream in other.incoming() {
            let mut stream = stream.expect("accepted");
            let _ = stream.read(&mut [0; 4096]);
            let body = r#"{"detail":"the storage engine has stopped"}"#;
            let length = body.len();
            let _ = write!(stream, "HTTP/1.1 503 Service Unavailable\r\ncontent-length: {length}\r\n\r\n{body}");
        }
    });
    let words = "is not ready: 503 Service Unavailable: the storage engine has stopped\n";
    place.health(&["health", "--url", &url]).failed(words);
}

/// Runs a command as another user than the owner of the data if this process may, else as the owner.
fn run_as_other(place: &Place, args: &[&str], uid: u32) -> (Option<i32>, String) {
    let program = place.path("tideline");
    if !program.exists() {
        std::fs::copy(env!("CARGO_BIN_EXE_tideline"), &program).expect("copies");
    }
    let mut command = Command::new(program);
    command.args(args).current_dir(place.path("")).env_clear().uid(uid);
    let ended = command.output().expect("runs");
    (ended.status.code(), String::from_utf8(ended.stderr).expect("text"))
}

#[test]
fn all_commands_refuse_a_directory_without_permission_alike() {
    let place = Place::new();
    let mode = |path: &str, mode: u32| {
        std::fs::set_permissions(place.path(path), std::fs::Permissions::from_mode(mode)).expect("sets");
    };
    mode("", 0o755);
    place.file("f", "1,2\n");
    place.run(&["import", "--follows", "f"]).ok();
    let owner = place.data().metadata().expect("there").uid();
    // Only root may start programs as others.
    let (uid, advice) = match owner {
        0 => (65534, "Give the data directory to it as root: chown -R 65534 data\n".to_owned()),
        owner => (owner, "Give the permission: chmod -R u+rwX data\n".to_owned()),
    };
    let commands = [&["serve", "--listen", "127.0.0.1:0"][..], &["import", "--follows", "f"], &["check"], &["stats"]];
    let refused = |args: &[&str], words: &str| {
        let (code, said) = run_as_other(&place, args, uid);
        let begins = said.starts_with("tideline: data directory data: ");
        let knows = said.contains(&format!("Permission denied (os error 13). This process runs as uid {uid} and "));
        assert!(code == Some(1) && begins && knows && said.ends_with(words), "{args:?}: {said}");
        assert!(owner != 0 || said.contains(" all of data, which belongs to uid 0. "), "{args:?}: {said}");
    };
    for (data, lock) in [(if owner == 0 { 0o700 } else { 0 }, 0o644), (0o755, if owner == 0 { 0o644 } else { 0 })] {
        mode("data", 0o755);
        mode("data/LOCK", lock);
        mode("data", data);
        commands.iter().for_each(|args| refused(args, &advice));
    }
    // Missing rights to the engine's own files are reported in the same way.
    if owner == 0 {
        for path in ["data", "data/LOCK"] {
            std::os::unix::fs::chown(place.path(path), Some(uid), None).expect("changes");
        }
        for args in &commands {
            let (code, said) = run_as_other(&place, args, uid);
            assert!(
                code == Some(1) && said.contains("Permission denied") && said.ends_with(&advice),
                "{args:?}: {said}"
            );
        }
    }
    mode("data", 0o755);
    if owner == 0 {
        let (code, said) = run_as_other(&place, &["serve", "--data-dir", "new/one"], uid);
        let above = "may not write to .. Make the directory as root: install -d -o 65534 -m 700 new/one\n";
        assert!(code == Some(1) && said.ends_with(above), "{said}");
    }
}

#[test]
fn damaged_files_come_with_what_to_do() {
    let place = Place::new();
    place.file("f", "1,2\n");
    place.run(&["import", "--follows", "f"]).ok();
    let files = |place: &Place| -> Vec<_> {
        let listed = std::fs::read_dir(place.data().join("db")).expect("listed");
        listed.map(|entry| entry.expect("listed").path()).collect()
    };
    let is = |path: &std::path::Path, words: &str| {
        path.file_name().is_some_and(|name| name.to_string_lossy().contains(words))
    };
    let restore = "Make a copy of the directory, then restore a backup.\n";
    // A missing table file, one with other bytes, and then a list of files with other bytes.
    let tables = files(&place).into_iter().filter(|path| is(path, ".sst"));
    let tables = tables.map(|path| (std::fs::read(&path).expect("reads"), path));
    // A start makes the table of inboxes anew. The files tell their table.
    let is_of_inboxes = |bytes: &[u8]| bytes.windows(7).any(|word| word == b"inboxes");
    let (kept, tables): (Vec<_>, Vec<_>) = tables.filter(|(bytes, _)| !is_of_inboxes(bytes)).unzip();
    std::fs::remove_file(&tables[0]).expect("removes");
    for command in [&["check"][..], &["stats"], &["serve", "--listen", "127.0.0.1:0"]] {
        let ran = place.run(command).failed("the storage engine cannot open db/: ");
        assert!(ran.err.ends_with(restore), "{}", ran.err);
    }
    for (path, bytes) in tables.iter().zip(&kept) {
        let bytes: Vec<_> = bytes.iter().enumerate().map(|(at, b)| if at < 40 { b ^ 0x55 } else { *b }).collect();
        std::fs::write(path, bytes).expect("writes");
    }
    let ran = place.run(&["check"]);
    assert!(ran.code == Some(1) && ran.err.contains("Corruption") && ran.err.ends_with(restore), "{ran:?}");
    for (path, bytes) in tables.iter().zip(&kept) {
        std::fs::write(path, bytes).expect("writes");
    }
    for path in files(&place).into_iter().filter(|path| is(path, "MANIFEST")) {
        let mut bytes = std::fs::read(&path).expect("reads");
        bytes[20] ^= 1;
        std::fs::write(&path, bytes).expect("writes");
    }
    let ran = place.run(&["check"]).failed("the storage engine cannot open db/: Corruption: ");
    assert!(ran.err.ends_with(restore), "{}", ran.err);
}

#[test]
fn a_compaction_says_what_is_left() {
    let place = Place::new();
    place.file("f", "1,2\n");
    place.file("c", "10,2,1000\n");
    place.run(&["import", "--follows", "f", "--content", "c"]).ok();
    let ran = place.run(&["compact"]).ok();
    assert!(ran.out.contains("\ninboxes: 1 user, 1 entry, the largest has 1 (limit 1000, slack 250)\n"), "{}", ran.out);
}

#[test]
fn stats_count_rows_without_changing_anything() {
    let place = Place::new();
    for command in ["stats", "check"] {
        place.run(&[command]).failed("tideline: there is no data directory at data");
    }
    assert!(!place.data().exists());
    place.file("f", "1,2\n3,2\n4,2\n");
    place.file("c", "10,2,1000\n");
    place.run(&["import", "--follows", "f", "--content", "c"]).ok();
    let ran = place.run(&["stats"]).ok();
    assert!(ran.out.lines().any(|line| line.starts_with("inboxes ")), "{}", ran.out);
    assert!(ran.out.ends_with("jobs waiting: 0 (0 fan_out, 0 settle, 0 rebuild)\n"), "{}", ran.out);
    let stats: serde_json::Value = serde_json::from_str(&place.run(&["stats", "--json"]).ok().out).expect("JSON");
    assert_eq!(stats["jobs"], serde_json::json!({"waiting": 0, "fan_out": 0, "settle": 0, "rebuild": 0}));
    let rows = |name: &str| stats["tables"][name]["rows_estimate"].clone();
    assert_eq!((rows("inboxes"), rows("content")), (3.into(), 1.into()));
}

#[test]
fn demo_data_imports_and_checks() {
    let place = Place::new();
    let demo = ["demo", "--users", "200", "--posts", "1000", "--seed", "5", "--until", "1700000000000"];
    place.run(&[&demo[..], &["--out", "made"]].concat()).ok();
    place.run(&[&demo[..], &["--out", "again"]].concat()).ok();
    for name in ["follows.csv", "content.ndjson", "reactions.csv", "profiles.ndjson"] {
        let read = |dir: &str| std::fs::read(place.path(dir).join(name)).expect(name);
        assert_eq!(read("made"), read("again"), "{name}");
    }
    let mine = std::fs::read(place.path("made").join("content.ndjson")).expect("reads");
    let again = ["demo", "--users", "200", "--posts", "10", "--seed", "6", "--out", "made"];
    place.run(&again).failed("tideline: made/follows.csv exists already. Choose another directory with --out");
    assert_eq!(std::fs::read(place.path("made").join("content.ndjson")).expect("reads"), mine);
    let content = ["--follows", "made/follows.csv", "--content", "made/content.ndjson"];
    let rest = ["--reactions", "made/reactions.csv", "--profiles", "made/profiles.ndjson"];
    let ran = place.run(&[&["import"][..], &content, &rest].concat()).ok();
    assert!(ran.err.lines().all(|line| line.contains("a new data directory was made")), "{}", ran.err);
    assert!(ran.out.contains("content made/content.ndjson: 1000 new, 0 already there, 0 refused"), "{}", ran.out);
    assert!(ran.out.contains("profiles made/profiles.ndjson: 200 new, 0 already there, 0 refused"), "{}", ran.out);
    let ran = place.run(&["check"]).ok();
    assert_eq!(ran.out, "200 users checked, 0 disagreements\n");
    let ahead = ["demo", "--out", "ahead", "--until", "4000000000000"];
    place.run(&ahead).failed("tideline: --until 4000000000000 lies after the clock (");
}

#[test]
fn a_demo_is_made_once_and_lives_while_it_is_served() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("mine")).expect("makes");
    for name in ["letter", "unfinished"] {
        place.file(&format!("mine/{name}"), "mine");
        place
            .run(&["demo", "--dir", "mine"])
            .failed("tideline: mine has other files, and no community of tideline demo");
    }
    // As an interrupted run leaves it.
    std::fs::create_dir_all(place.path("made/db")).expect("makes");
    place.file("made/unfinished", "tideline demo makes a community here\n");
    place.file("made/follows.csv", "half");
    let mut posts = 0;
    for start in ["first", "second"] {
        let sizes = ["--users", "50", "--posts", "100", "--listen", "127.0.0.1:0"];
        let mut command = place.command(&[&["demo", "--dir", "made"][..], &sizes].concat());
        command.stderr(Stdio::null());
        let server = Server::launch(command).expect("starts");
        place.run(&["demo", "--dir", "made"]).failed("tideline: made is in use by another tideline demo");
        let count = || server.get("/v1/users/5")["counts"]["content"].as_u64().expect("a count");
        assert!(count() >= posts, "{start}: posts are lost");
        assert_eq!(server.get("/v1/users/1/mutes")["items"][0]["user_id"], "4", "{start}");
        let newest = || server.get("/v1/users/1/timeline?limit=1")["items"][0].clone();
        let first = newest();
        posts = count();
        let began = Instant::now();
        // Two neighbours may have the same text.
        while count() == posts || newest()["text"] == first["text"] {
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "{start}: the clock or the reader's timeline stands still"
            );
            std::thread::sleep(Duration::from_millis(100));
        }
        let newest = newest();
        assert!(newest["author_id"] != "5" && newest["content_id"] != first["content_id"], "{start}: {newest}");
        assert_eq!(server.get("/v1/users/1/hidden-from")["items"][0]["user_id"], "11", "{start}");
        assert_eq!(server.get("/v1/users/1/blocks")["items"][0]["user_id"], "12", "{start}");
        let of_reader = |path: &str| server.get(&format!("/v1/users/1/{path}"))["items"].clone();
        assert_eq!(of_reader("sent-requests")[0]["user_id"], "13", "{start}");
        assert_eq!(of_reader("lists")[0]["list"], "neighbours", "{start}");
        assert_eq!(of_reader("lists/neighbours/members").as_array().map(Vec::len), Some(3), "{start}");
        assert_eq!(server.get("/v1/users/14/suspension")["suspended"], true, "{start}");
        let group = server.get("/v1/users/51/content?viewer=1&limit=100");
        assert!(group["items"].as_array().is_some_and(|items| items.len() >= 3), "{start}: {group}");
        assert_eq!(server.get("/v1/users/51/follow-requests")["items"].as_array().map(Vec::len), Some(2), "{start}");
        posts = count();
        assert_eq!(server.end("TERM").code(), Some(0), "{start}");
    }
    assert!(!place.path("made/unfinished").exists());
}

fn serve(place: &Place, listen: &str) -> Server {
    let mut command = place.command(&["serve", "--listen", listen]);
    command.stderr(Stdio::inherit());
    Server::launch(command).expect("starts")
}

#[test]
fn serving_stops_in_order_and_holds_its_directory() {
    for signal in ["TERM", "INT"] {
        let place = Place::new();
        place.file("f", "1,2\n");
        let server = serve(&place, "127.0.0.1:0");
        assert!(server.address.ip().is_loopback() && server.address.port() != 0, "{}", server.address);
        assert_eq!(server.get("/healthz")["status"], "ok");
        for args in [&["stats"][..], &["check"], &["import", "--follows", "f"], &["serve", "--listen", "127.0.0.1:0"]] {
            let ran = place.run(args).failed("tideline: ");
            assert!(ran.err.contains("is in use by process "), "{}", ran.err);
        }
        assert_eq!(server.end(signal).code(), Some(0), "{signal}");
        place.run(&["stats"]).ok();
    }
}

#[test]
fn the_log_says_when_a_server_has_stopped() {
    let place = Place::new();
    let mut child = place.command(&["serve", "--listen", "127.0.0.1:0"]).spawn().expect("starts");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut line).expect("a line");
    let address = line.trim_end().strip_prefix("listening on http://").expect("ready");
    let other = Place::new();
    let words =
        format!("tideline: cannot listen on {address}: Address already in use (os error 98). Choose another port");
    other.run(&["serve", "--listen", address]).failed(&words);
    crate::server::signal(&child, "TERM");
    let ended = child.wait_with_output().expect("ends");
    let log = String::from_utf8(ended.stderr).expect("text");
    let said: Vec<_> = log.lines().filter_map(|line| line.rsplit_once(": ")).map(|(_, said)| said).collect();
    assert_eq!(said.last_chunk(), Some(&["stopping", "stopped"]), "{log}");
}

#[test]
fn a_port_alone_is_no_address() {
    let place = Place::new();
    let ran = place.run(&["serve", "--listen", ":8080"]);
    assert!(ran.code == Some(2) && ran.err.contains("0.0.0.0:8080 for all IPv4 addresses"), "{ran:?}");
    place_with("TIDELINE__SERVER__LISTEN", ":8080").run(&["serve"]).failed("0.0.0.0:8080 for all IPv4 addresses");
    let address = serve(&place, ":0").address;
    assert!(address.ip().is_loopback() && address.port() != 0, "{address}");
}

/// The bytes of the files of a directory that have a certain ending; 0 if there is no such directory.
fn files(dir: &std::path::Path, ending: &str) -> u64 {
    let files = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let chosen = files.filter(|file| file.path().extension().is_some_and(|found| found == ending));
    chosen.filter_map(|file| Some(file.metadata().ok()?.len())).sum()
}

#[test]
fn an_import_asked_to_stop_says_how_far_it_came() {
    for signal in ["INT", "TERM"] {
        let place = Place::new();
        let mut child = place.command(&["import", "--follows", "-"]).stdin(Stdio::piped()).spawn().expect("starts");
        let mut stdin = child.stdin.take().expect("piped");
        // A whole batch is taken, which a stop does not break off, and the rest of the next is waited for.
        let lines: String = (1..=1500).map(|n| format!("{n},{}\n", n + 1)).collect();
        stdin.write_all(lines.as_bytes()).expect("writes");
        // A batch has more than 200 KB, and a server that has just started far less.
        crate::server::wait_until("nothing is stored", || files(&place.data().join("db"), "log") > 100_000);
        crate::server::signal(&child, signal);
        let ended = child.wait_with_output().expect("ends");
        drop(stdin);
        let (out, err) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
        assert_eq!(ended.status.code(), Some(1), "{out}{err}");
        assert_eq!(out, "follows -: 1000 new, 0 already there, 0 refused\n", "{err}");
        assert!(err.contains("tideline: interrupted. The lines imported so far are kept"), "{err}");
        place.file("f", lines);
        let again = place.run(&["import", "--follows", "f"]).ok();
        assert_eq!(again.out, "follows f: 500 new, 1000 already there, 0 refused\n");
        place.run(&["check"]).ok();
    }
}

#[test]
fn asked_to_stop_while_it_opens_it_stops_in_order() {
    for signal in ["TERM", "INT"] {
        let place = Place::new();
        let mut child = place.command(&["serve", "--listen", "127.0.0.1:0"]).spawn().expect("starts");
        let began = Instant::now();
        // The first visible sign that the directory is being opened.
        while !place.data().join("LOCK").exists() && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_micros(100));
        }
        crate::server::signal(&child, signal);
        assert_eq!(child.wait().expect("ends").code(), Some(0), "{signal}");
        let mut said = String::new();
        child.stdout.as_mut().expect("piped").read_to_string(&mut said).expect("reads");
        assert!(said.is_empty() || said.starts_with("listening on "), "{said}");
        assert_eq!(serve(&place, "127.0.0.1:0").end("TERM").code(), Some(0), "it opens again");
    }
}
