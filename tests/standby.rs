//! A standby of the built program: what it answers, who may call what, and what a promotion and a switch do to readers.

use std::fs;
use std::io::Read;
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::server::{Server, command, free_address, program, run, wait, wait_until};

const KEY: &str = "a-full-key-for-the-tests-of-standbys-1";
const READ_KEY: &str = "a-read-key-for-the-tests-of-standbys-1";

fn url(server: &Server) -> String {
    format!("http://{}", server.address)
}

/// A standby of a server at an address of its own, on a directory.
fn follow(origin: &Server, data: &TempDir, listen: SocketAddr, env: &[(&str, &str)]) -> Command {
    let mut command = program();
    command.args(["standby", "--from", &url(origin), "--listen", &listen.to_string(), "--name", "b", "--data-dir"]);
    command.arg(data.path()).envs(env.iter().copied());
    command
}

fn standby_of(origin: &Server, data: &TempDir) -> Server {
    let standby = Server::launch(follow(origin, data, free_address(), &[])).expect("starts");
    caught_up(origin);
    ready(&standby);
    standby
}

/// Waits until the standby knows that it has all.
fn ready(standby: &Server) {
    wait_until("it is not ready", || standby.call("GET", "/standbyz", "").status == 200);
}

/// Waits until the standby has all.
fn caught_up(origin: &Server) {
    wait_until("the standby does not catch up", || {
        let stats = origin.get("/v1/admin/stats");
        let known = &stats["standbys"][0];
        known["following_since"].is_u64() && known["behind_rows"] == 0
    });
}

fn promote(args: &[&str]) -> (bool, String) {
    let done = program().arg("promote").args(args).output().expect("runs");
    let told = [done.stdout, done.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    (done.status.success(), told)
}

fn publish(server: &Server, id: u64) {
    server.publish(id, 200, id);
}

fn page(server: &Server) -> Vec<u64> {
    server.ids("/v1/users/200/content")
}

fn position(server: &Server) -> String {
    server.get("/v1/changes?after=newest")["position"].as_str().expect("a position").to_owned()
}

#[test]
fn a_standby_follows_and_is_promoted() {
    let origin = Server::start();
    publish(&origin, 1);
    let data = TempDir::new().expect("temp dir");
    let standby = standby_of(&origin, &data);
    publish(&origin, 2);
    caught_up(&origin);
    let ready = standby.call("GET", "/standbyz", "").expect(200);
    assert_eq!((&ready["status"], &ready["behind_rows"]), (&json!("standby"), &json!(0)), "{ready}");
    standby.call("GET", "/healthz", "").expect(200);
    let refused = ["/readyz", "/v1/users/200/content", "/", "/nothing"].map(|path| ("GET", path));
    for (method, path) in refused.into_iter().chain([("POST", "/v1/content")]) {
        standby.call(method, path, "").problem(path, 503, "standby");
    }
    let figures = standby.call("GET", "/metrics", "");
    let figures = figures.text();
    for line in ["tideline_standby_state{state=\"following\"} 1", "tideline_standby_copies_total 1"] {
        assert!(figures.contains(line), "{line}: {figures}");
    }
    assert!(origin.figure("tideline_standby_following{standby=\"b\"}") > 0.5);
    let health = program().args(["health", "--url", &url(&standby)]).output().expect("runs");
    let told = String::from_utf8_lossy(&health.stderr).into_owned();
    assert!(!health.status.success() && told.contains("ready to take over"), "{told}");
    // Its directory is no other's.
    for command in ["serve", "check", "compact", "stats"] {
        let mut other = program();
        other.arg(command).arg("--data-dir").arg(data.path());
        if command == "serve" {
            other.args(["--listen", "127.0.0.1:0"]);
        }
        let told = String::from_utf8_lossy(&other.output().expect("runs").stderr).into_owned();
        assert!(told.contains("is a standby"), "{command}: {told}");
    }
    // While the server serves, it is not left behind by mistake.
    let (done, told) = promote(&["--url", &url(&standby)]);
    assert!(!done && told.contains("answers, and takes changes"), "{told}");
    let before = position(&origin);
    drop(origin);
    let (done, told) = promote(&["--url", &url(&standby)]);
    assert!(done && told.contains("changes that it had not received are lost"), "{told}");
    let (done, told) = promote(&["--url", &url(&standby)]);
    assert!(!done && told.contains("is no standby: it serves"), "{told}");
    assert_eq!(page(&standby), [2, 1]);
    publish(&standby, 3);
    assert_eq!(page(&standby), [3, 2, 1]);
    // As after a restore.
    standby.call("GET", &format!("/v1/changes?after={before}"), "").problem("changes", 410, "changes_gone");
    assert_eq!(standby.end_of_promoted("TERM").code(), Some(0));
    // A start by the same command serves.
    let other = Server::start();
    let again = Server::launch(follow(&other, &data, free_address(), &[])).expect("starts");
    assert_eq!(page(&again), [3, 2, 1]);
    assert_eq!(again.end("TERM").code(), Some(0));
    run(&["check"], &data, &[]);
    // Also after a restore in the place of its data.
    let backup = data.path().join("b.tar");
    let backup = backup.to_str().expect("text");
    run(&["backup", "--to", backup], &data, &[]);
    let serves = |ids: &[u64]| {
        let again = Server::launch(follow(&other, &data, free_address(), &[])).expect("starts");
        assert_eq!(page(&again), ids);
        publish(&again, 4);
        assert_eq!(again.end("TERM").code(), Some(0));
    };
    serves(&[3, 2, 1]);
    run(&["restore", "--replace", "--from", backup], &data, &[]);
    serves(&[3, 2, 1]);
    // The directory of a standby becomes that of a server, which only `serve` takes.
    fs::write(data.path().join("STANDBY"), "standby of http://a:1\n").expect("writes");
    run(&["restore", "--replace", "--from", backup], &data, &[]);
    let refused = follow(&other, &data, free_address(), &[]).output().expect("runs");
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(told.contains("is not the directory of a standby"), "{told}");
}

#[test]
fn an_erasure_comes_to_a_standby_and_goes_on_there() {
    let origin = Server::start();
    // Enough that the erasure is under way when the standby takes over.
    for part in [1..=900_u64, 901..=1500] {
        let items: Vec<_> = part.map(|id| json!({"content_id": id, "author_id": 200, "mentions": [7]})).collect();
        origin.call("POST", "/v1/content/batch", json!({"items": items}).to_string()).expect(201);
    }
    origin.call("PUT", "/v1/users/7/following/200", "").expect(200);
    let data = TempDir::new().expect("temp dir");
    let standby = standby_of(&origin, &data);
    origin.call("DELETE", "/v1/users/200", "").expect(202);
    assert_eq!(page(&origin), Vec::<u64>::new());
    let (done, told) = promote(&["--switch", "--url", &url(&standby)]);
    assert!(done, "{told}");
    for path in ["/v1/users/200/content", "/v1/users/7/timeline", "/v1/users/7/following"] {
        assert_eq!(standby.get(path)["items"], json!([]), "{path}");
    }
    wait_until("the user is not erased", || standby.get("/v1/admin/erasures")["items"][0]["state"] == "over");
    assert_eq!(standby.get("/v1/users/7/notices")["items"], json!([]));
    assert_eq!(standby.end_of_promoted("TERM").code(), Some(0));
    let checked = program().args(["check", "--data-dir"]).arg(data.path()).output().expect("runs");
    assert!(checked.status.success(), "{checked:?}");
}

#[test]
fn a_switch_loses_nothing_and_the_history_goes_on() {
    let origin = Server::start();
    publish(&origin, 1);
    let data = TempDir::new().expect("temp dir");
    let standby = standby_of(&origin, &data);
    let before = position(&origin);
    publish(&origin, 2);
    let (done, told) = promote(&["--switch", "--url", &url(&standby)]);
    assert!(done && told.contains("nothing is lost"), "{told}");
    assert_eq!(page(&standby), [2, 1]);
    publish(&standby, 3);
    assert_eq!(standby.ids(&format!("/v1/changes?after={before}")), [2, 3]);
    // The server before refuses all, and its directory is that of a standby now.
    for (method, path) in [("GET", "/v1/users/200/content"), ("POST", "/v1/content"), ("GET", "/readyz")] {
        origin.call(method, path, json!({"author_id": 1}).to_string()).problem(path, 503, "handing_over");
    }
    let (status, old) = origin.stop("TERM");
    assert_eq!(status.code(), Some(0));
    let mut command = program();
    command.args(["standby", "--from", &url(&standby), "--listen", &free_address().to_string(), "--name", "a"]);
    command.arg("--data-dir").arg(old.path());
    let back = Server::launch(command).expect("starts");
    caught_up(&standby);
    assert!(back.figure("tideline_standby_copies_total") < 0.5);
    let (done, told) = promote(&["--switch", "--url", &url(&back)]);
    assert!(done, "{told}");
    assert_eq!(page(&back), [3, 2, 1]);
}

#[test]
fn only_full_keys_follow_and_promote() {
    let keys = [("TIDELINE__AUTH__KEYS", KEY), ("TIDELINE__AUTH__READ_KEYS", READ_KEY)];
    let origin = Server::with(&keys);
    let with = |server: &Server, key: &str, method: &str, path: &str| {
        server.call_as(method, path, "", &[("authorization", &format!("Bearer {key}"))]).status
    };
    for (method, path) in [
        ("POST", "/v1/admin/standby/copies"),
        ("GET", "/v1/admin/standby/log?standby=b&log=00&after=0"),
        ("PUT", "/v1/admin/standby/progress"),
        ("POST", "/v1/admin/standby/seal"),
        ("DELETE", "/v1/admin/standby/seal"),
        ("POST", "/v1/admin/standby/handover"),
    ] {
        assert_eq!(origin.call(method, path, "").status, 401, "{method} {path}");
        assert_eq!(with(&origin, READ_KEY, method, path), 403, "{method} {path}");
    }
    assert_eq!(with(&origin, KEY, "GET", "/v1/admin/standby/log?standby=b&log=00&after=0"), 410);
    assert_eq!(with(&origin, KEY, "DELETE", "/v1/admin/standby/seal"), 409);
    let data = TempDir::new().expect("temp dir");
    let mut env = keys.to_vec();
    env.push(("TIDELINE_KEY", KEY));
    let standby = Server::launch(follow(&origin, &data, free_address(), &env)).expect("starts");
    ready(&standby);
    assert_eq!(standby.call("GET", "/metrics", "").status, 401);
    assert_eq!(with(&standby, READ_KEY, "GET", "/metrics"), 200);
    assert_eq!(standby.call("POST", "/v1/admin/promote", "").status, 401);
    assert_eq!(with(&standby, READ_KEY, "POST", "/v1/admin/promote"), 403);
}

/// A web page can make a browser send requests to the loopback address.
#[test]
fn no_page_of_another_origin_promotes() {
    let data = TempDir::new().expect("temp dir");
    let origin = Server::start();
    let standby = standby_of(&origin, &data);
    let from = |header: (&str, &str)| standby.call_as("POST", "/v1/admin/promote?force=true", "", &[header]);
    from(("origin", "https://evil.example")).problem("another origin", 403, "cross_origin");
    from(("sec-fetch-site", "cross-site")).problem("another site", 403, "cross_origin");
    from(("host", "evil.example")).problem("another host", 421, "misdirected_request");
    assert_eq!(standby.call("GET", "/standbyz", "").status, 200, "it follows");
}

#[test]
fn a_standby_reads_its_keys_again_and_keeps_them_when_it_takes_over() {
    let (data, keys) = (TempDir::new().expect("temp dir"), TempDir::new().expect("temp dir"));
    let file = keys.path().join("config.toml");
    let write = |key: &str| std::fs::write(&file, format!("[auth]\nkeys = [\"{key}\"]\n")).expect("writes");
    let origin = Server::start();
    write(KEY);
    let mut command = follow(&origin, &data, free_address(), &[]);
    command.arg("--config").arg(&file);
    let standby = Server::launch(command).expect("starts");
    let status = |key: &str, method: &str, path: &str| {
        standby.call_as(method, path, "", &[("authorization", &format!("Bearer {key}"))]).status
    };
    wait_until("it is ready", || status(KEY, "GET", "/standbyz") == 200);
    let other = "another-full-key-for-the-tests-of-standbys";
    write(other);
    standby.signal("HUP");
    wait_until("the key is read", || status(other, "GET", "/metrics") == 200);
    assert_eq!(status(KEY, "GET", "/metrics"), 403);
    drop(origin);
    assert_eq!(status(other, "POST", "/v1/admin/promote"), 200);
    wait_until("it serves", || {
        // Until then a connection may end at any time.
        let with_key = [("authorization", &*format!("Bearer {other}"))];
        standby.attempt_as("GET", "/v1/changes", "", &with_key).is_ok_and(|answer| answer.status == 200)
    });
    assert_eq!(status(KEY, "GET", "/v1/changes"), 403);
}

#[test]
fn a_server_that_is_sealed_takes_no_changes_until_it_is_told() {
    let origin = Server::start();
    publish(&origin, 1);
    let named = json!({"standby": "b"}).to_string();
    let sealed = origin.call("POST", "/v1/admin/standby/seal", &named).expect(200);
    let (ticket, row) = (sealed["ticket"].clone(), sealed["row"].clone());
    let refused = origin.call("POST", "/v1/content", json!({"author_id": 200, "content_id": 2}).to_string());
    refused.problem("a publish", 503, "handing_over");
    assert_eq!(page(&origin), [1], "reads go on");
    origin.call("GET", "/readyz", "").expect(200);
    let over = |ticket: &Value, row: &Value| {
        let body = json!({"ticket": ticket, "url": "http://b", "row": row}).to_string();
        origin.call("POST", "/v1/admin/standby/handover", body).status
    };
    assert_eq!(over(&ticket, &json!(0)), 409, "it is not at the last row");
    // Another one of the same name.
    let second = origin.call("POST", "/v1/admin/standby/seal", &named).expect(200)["ticket"].clone();
    assert_eq!(over(&ticket, &row), 409, "its seal has ended");
    origin.call("POST", "/v1/admin/standby/seal", json!({"standby": "c"}).to_string()).problem(
        "c",
        503,
        "handing_over",
    );
    assert_eq!(origin.call("DELETE", "/v1/admin/standby/seal?standby=c", "").status, 409, "c has not sealed it");
    assert_eq!(origin.call("DELETE", "/v1/admin/standby/seal?standby=b", "").status, 204);
    publish(&origin, 2);
    assert_eq!(page(&origin), [2, 1]);
    assert_eq!(over(&second, &row), 409, "there are changes since");
    let sealed = origin.call("POST", "/v1/admin/standby/seal", &named).expect(200);
    assert_eq!([(); 2].map(|()| over(&sealed["ticket"], &sealed["row"])), [200; 2], "also if the answer was lost");
    assert_eq!(origin.call("DELETE", "/v1/admin/standby/seal", "").status, 409, "it is over");
    assert!(origin.data().path().join("STANDBY").exists());
}

/// A new copy takes the place of the one before, and a promotion is made, over an end of the process at each step.
#[test]
fn each_step_of_a_standby_can_be_repeated() {
    let origin = Server::start();
    publish(&origin, 1);
    for place in ["swap.moved", "swap.placed", "promotion.recorded"] {
        let data = TempDir::new().expect("temp dir");
        assert_eq!(standby_of(&origin, &data).end("TERM").code(), Some(0));
        let armed = [("FAILPOINTS", format!("{place}=return(abort)"))];
        let aborted = if place == "promotion.recorded" {
            program().args(["promote", "--data-dir"]).arg(data.path()).envs(armed).output().expect("runs").status
        } else {
            // As if the server had been restored.
            let named = data.path().join("STANDBY");
            std::fs::write(&named, format!("standby of {}\nlog {:016x}\n", url(&origin), 7)).expect("writes");
            let mut command = follow(&origin, &data, free_address(), &[]);
            let mut child = command.envs(armed).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
            wait(&mut child)
        };
        assert_eq!(aborted.signal(), Some(6), "{place}");
        // The new copy has not been followed yet.
        let (done, told) = promote(&["--accept-loss", "--data-dir", data.path().to_str().expect("text")]);
        assert!(done, "{place}: {told}");
        let promoted = Server::on(data, &[]);
        assert_eq!(page(&promoted), [1], "{place}");
        assert_eq!(promoted.end("TERM").code(), Some(0));
    }
}

#[test]
fn a_standby_that_is_not_there_yet_cannot_take_over() {
    let data = TempDir::new().expect("temp dir");
    let listen = free_address();
    let mut command = program();
    command.args(["standby", "--from", "http://127.0.0.1:1", "--listen", &listen.to_string(), "--data-dir"]);
    let standby = Server::launch({
        command.arg(data.path());
        command
    })
    .expect("starts");
    let told = standby.call("GET", "/readyz", "").problem("/readyz", 503, "standby");
    assert!(told["detail"].as_str().expect("text").contains("has no whole copy yet"), "{told}");
    let (done, told) = promote(&["--url", &url(&standby)]);
    assert!(!done && told.contains("has no whole copy"), "{told}");
    standby.call("GET", "/healthz", "").expect(200);
    assert_eq!(standby.end("TERM").code(), Some(0));
    let used = TempDir::new().expect("temp dir");
    std::fs::write(used.path().join("thesis.tex"), "x").expect("writes");
    let other =
        program().args(["standby", "--from", "http://a:1", "--data-dir"]).arg(used.path()).output().expect("runs");
    assert!(String::from_utf8_lossy(&other.stderr).contains("is not the directory of a standby"), "{other:?}");
}

/// Batches name tables by numbers, and a log goes on only where nothing was lost.
#[test]
fn a_standby_of_another_log_makes_a_new_copy() {
    let (listen, data, followed) = (free_address().to_string(), TempDir::new(), TempDir::new());
    let (data, followed) = (data.expect("temp dir"), followed.expect("temp dir"));
    let start = || Server::launch(command(&data, &listen, &[])).expect("starts");
    let mut origin = start();
    publish(&origin, 1);
    let standby = standby_of(&origin, &followed);
    let copies = [
        // The start drops the table of inboxes and makes it anew.
        ("REBUILD", 2.0),
        // The directory may be an older copy.
        ("RUN", 3.0),
    ];
    for (id, (file, copies)) in (2..).zip(copies) {
        assert_eq!(origin.end("TERM").code(), Some(0));
        match file {
            "REBUILD" => std::fs::write(data.path().join(file), "inboxes\n").expect("writes"),
            _ => std::fs::remove_file(data.path().join(file)).expect("removes"),
        }
        origin = start();
        publish(&origin, id);
        standby.wait_for("tideline_standby_copies_total", |made| made > copies - 0.5);
        caught_up(&origin);
    }
    // A start that loses nothing leads to none.
    assert_eq!(origin.end("KILL").code(), None);
    origin = start();
    publish(&origin, 4);
    caught_up(&origin);
    ready(&standby);
    assert!(standby.figure("tideline_standby_copies_total") < 3.5);
    drop(origin);
    let (done, told) = promote(&["--url", &url(&standby)]);
    assert!(done, "{told}");
    assert_eq!(page(&standby), [4, 3, 2, 1]);
}

/// The names of the files in a copy, and their bytes.
fn copied(origin: &Server, request: &Value) -> Vec<(String, Vec<u8>)> {
    let copy = origin.call("POST", "/v1/admin/standby/copies", request.to_string());
    assert_eq!(copy.status, 200);
    let mut archive = tar::Archive::new(&copy.bytes[..]);
    let read = |entry: std::io::Result<tar::Entry<'_, &[u8]>>| {
        let mut entry = entry.expect("an entry");
        let (name, mut bytes) = (entry.path().expect("a path").display().to_string(), Vec::new());
        entry.read_to_end(&mut bytes).expect("reads");
        (name, bytes)
    };
    archive.entries().expect("entries").map(read).collect()
}

#[test]
fn a_copy_that_was_interrupted_goes_on_with_the_missing_files() {
    let (listen, data, followed) = (free_address().to_string(), TempDir::new(), TempDir::new());
    let (data, followed) = (data.expect("temp dir"), followed.expect("temp dir"));
    let start = || Server::launch(command(&data, &listen, &[])).expect("starts");
    let mut origin = start();
    publish(&origin, 1);
    assert_eq!(origin.end("TERM").code(), Some(0));
    run(&["compact"], &data, &[]);
    origin = start();
    let whole = copied(&origin, &json!({"log": null, "files": []}));
    assert!(fs::read_dir(data.path().join("standbys")).map_or(true, |copies| copies.count() < 2));
    let plan: Value = serde_json::from_slice(&whole[0].1).expect("a plan");
    assert_eq!((whole[0].0.as_str(), whole.len() - 1), ("PLAN", plan["files"].as_array().expect("files").len()));
    let is_table = |(name, _): &&(String, Vec<u8>)| name.ends_with(".sst");
    let tables: Vec<_> = whole.iter().filter(is_table).collect();
    assert!(tables.len() > 3);
    let named =
        |(name, bytes): &&(String, Vec<u8>)| json!({"name": name.trim_start_matches("db/"), "bytes": bytes.len()});
    let files: Vec<_> = tables.iter().skip(1).map(named).collect();
    let log = &plan["state"]["id"];
    let rest = copied(&origin, &json!({"log": log, "files": files}));
    assert_eq!(rest.iter().filter(is_table).map(|(name, _)| name).collect::<Vec<_>>(), [&tables[0].0]);
    let of_another = copied(&origin, &json!({"log": 1, "files": files}));
    assert_eq!(of_another.len(), whole.len());
    // What a standby has left that was killed: whole tables, one of which the server has no more, and a part of a file.
    let claims = follow(&origin, &followed, free_address(), &[]);
    assert_eq!(origin.end("TERM").code(), Some(0));
    let mut standby = Server::launch(claims).expect("starts");
    assert_eq!(standby.end("TERM").code(), Some(0));
    let copying = followed.path().join("COPYING");
    fs::create_dir_all(copying.join("db")).expect("makes");
    fs::write(copying.join("PLAN"), &whole[0].1).expect("writes");
    for (name, bytes) in tables.into_iter().skip(1) {
        fs::write(copying.join(name), bytes).expect("writes");
    }
    fs::write(copying.join("db/999999.sst"), "gone").expect("writes");
    fs::write(copying.join("db/CURRENT.part"), "MANI").expect("writes");
    origin = start();
    standby = Server::launch(follow(&origin, &followed, free_address(), &[])).expect("starts");
    caught_up(&origin);
    ready(&standby);
    assert!(!copying.exists());
    let (done, told) = promote(&["--switch", "--url", &url(&standby)]);
    assert!(done, "{told}");
    assert_eq!(page(&standby), [1]);
}

/// The files of an interrupted copy may be of no use: no request can name so many, or they are of another server.
#[test]
fn an_interrupted_copy_that_cannot_go_on_begins_anew() {
    let origin = Server::with(&[("TIDELINE__SERVER__BODY_LIMIT", "256")]);
    publish(&origin, 1);
    let files = copied(&origin, &json!({"log": null, "files": []}));
    let plan: Value = serde_json::from_slice(&files[0].1).expect("a plan");
    let table = |file: &Value| file["name"].as_str().expect("a name").ends_with(".sst").then(|| file.clone());
    let same_names: Vec<_> = plan["files"].as_array().expect("files").iter().filter_map(table).collect();
    assert!(!same_names.is_empty());
    let many: Vec<_> = (100_000..103_000).map(|n| json!({"name": format!("{n}.sst"), "bytes": 0})).collect();
    for (from, tables) in [(url(&origin), many), ("http://127.0.0.1:1".to_owned(), same_names)] {
        let data = TempDir::new().expect("temp dir");
        let copying = data.path().join("COPYING");
        fs::create_dir_all(copying.join("db")).expect("makes");
        fs::write(data.path().join("STANDBY"), format!("standby of {from}\n")).expect("writes");
        fs::write(copying.join("PLAN"), &files[0].1).expect("writes");
        for table in tables {
            let (name, bytes) = (table["name"].as_str().expect("a name"), table["bytes"].as_u64().expect("a length"));
            fs::write(copying.join("db").join(name), vec![0; bytes as usize]).expect("writes");
        }
        let standby = standby_of(&origin, &data);
        assert_eq!(standby.figure("tideline_standby_copies_total") as u64, 1, "{from}");
        assert_eq!(standby.figure("tideline_standby_failures_total") as u64, 0, "{from}");
        assert!(!copying.exists() && !data.path().join("db/100000.sst").exists());
    }
}

/// After `tideline compact` the server has no old log. The standby says that it lacks rows until a new copy is made.
#[test]
fn a_standby_that_lacks_log_says_so_and_makes_a_new_copy() {
    let (listen, data, followed) = (free_address().to_string(), TempDir::new(), TempDir::new());
    let (data, followed) = (data.expect("temp dir"), followed.expect("temp dir"));
    let start = || Server::launch(command(&data, &listen, &[])).expect("starts");
    let mut origin = start();
    publish(&origin, 1);
    assert_eq!(standby_of(&origin, &followed).end("TERM").code(), Some(0));
    publish(&origin, 2);
    assert_eq!(origin.end("TERM").code(), Some(0));
    run(&["compact"], &data, &[]);
    origin = start();
    // No copy can be made meanwhile.
    let folder = data.path().join("standbys");
    fs::write(&folder, "").expect("writes");
    let standby = Server::launch(follow(&origin, &followed, free_address(), &[])).expect("starts");
    standby.wait_for("tideline_standby_failures_total", |failures| failures > 1.5);
    let told = standby.call("GET", "/standbyz", "").problem("/standbyz", 503, "standby");
    assert!(told["detail"].as_str().expect("text").contains("it needs a new copy"), "{told}");
    assert!(standby.figure("tideline_standby_lag_seconds") > 0.0);
    assert_eq!(standby.end("TERM").code(), Some(0));
    let directory = followed.path().to_str().expect("text");
    let (done, told) = promote(&["--data-dir", directory]);
    assert!(!done && told.contains("--accept-loss"), "{told}");
    let standby = Server::launch(follow(&origin, &followed, free_address(), &[])).expect("starts");
    standby.wait_for("tideline_standby_failures_total", |failures| failures > 1.5);
    fs::remove_file(folder).expect("removes");
    ready(&standby);
    assert!(standby.figure("tideline_standby_copies_total") > 0.5);
    drop(origin);
    let (done, told) = promote(&["--url", &url(&standby)]);
    assert!(done, "{told}");
    assert_eq!(page(&standby), [2, 1]);
}
