//! Streams whose clients know newer events than the server, because it was set back.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::listener::Listener;
use super::resume::{goes_on, is_reset, told};
use crate::server::Server;

const SYNC: (&str, &str) = ("TIDELINE__STORAGE__DURABILITY", "sync");
const OS: (&str, &str) = ("TIDELINE__STORAGE__DURABILITY", "os");

/// Ends the server, and starts it as after a reboot of the machine. Losses of the device are not simulated.
fn reboot(server: Server, signal: &str, setting: (&str, &str)) -> Server {
    let (_, data) = server.stop(signal);
    let run = data.path().join("RUN");
    let said = fs::read_to_string(&run).unwrap();
    let [how, _, lock, log] = said.split_whitespace().collect::<Vec<_>>()[..] else { panic!("{said}") };
    let boot = "00000000-0000-4000-8000-000000000000";
    fs::write(run, format!("{how} {boot} {lock} {log}\n")).unwrap();
    Server::on(data, &[setting])
}

fn copy(from: &Path) -> TempDir {
    let to = TempDir::new().unwrap();
    let all = format!("{}/.", from.display());
    assert!(Command::new("cp").args(["-a", &all]).arg(to.path()).status().unwrap().success());
    to
}

#[test]
fn only_an_end_of_the_machine_sets_streams_back_and_only_where_changes_wait_for_their_flush() {
    let cases =
        [(OS, "KILL", true), (OS, "TERM", false), (SYNC, "KILL", false), (SYNC, "TERM", false), (OS, "KILL", true)];
    let mut server = Server::with(&[cases[0].0]);
    server.follow(1, 2, 10);
    let mut places = Vec::new();
    for (n, (setting, signal, sets_back)) in cases.into_iter().enumerate() {
        let id = 10 * n as u64;
        let mut listener = Listener::open(&server, 1, None);
        let place = told(&server, &mut listener, id + 1);
        drop(listener);
        server.publish(id + 2, 2, 5000 + id);
        // The end of the process alone is not an end of the machine.
        server = server.restart("KILL", &[setting]);
        goes_on(&server, &place, &[id + 2]);
        let next = cases.get(n + 1).map_or(SYNC, |case| case.0);
        server = reboot(server, signal, next);
        places.push(place);
        if !sets_back {
            goes_on(&server, &places[places.len() - 1], &[id + 2]);
            continue;
        }
        let newest = is_reset(&server, &format!("{}-{}", 5000 + id, id + 2));
        goes_on(&server, &newest, &[]);
        // A later restart does not set streams back again.
        server = server.restart("KILL", &[next]);
        goes_on(&server, &newest, &[]);
        places.drain(..).for_each(|place| drop(is_reset(&server, &place)));
    }
}

#[test]
fn a_copy_of_a_data_directory_sets_streams_back() {
    for (setting, signal) in [(SYNC, "KILL"), (SYNC, "TERM"), (OS, "KILL"), (OS, "TERM")] {
        let server = Server::with(&[setting]);
        server.follow(1, 2, 10);
        let mut listener = Listener::open(&server, 1, None);
        let before = told(&server, &mut listener, 1);
        drop(listener);
        let (_, data) = server.stop(signal);
        let backup = copy(data.path());
        let server = Server::on(data, &[setting]);
        let mut listener = Listener::open(&server, 1, Some(&before));
        server.call("PATCH", "/v1/content/1", r#"{"text":"told, and taken back"}"#).expect(200);
        assert_eq!(listener.event().event, "edit");
        assert_eq!(listener.last_id.as_ref(), Some(&before), "an edit is no place");
        let after = told(&server, &mut listener, 2);
        drop((listener, server));
        // The copy replaces the directory.
        let server = Server::on(backup, &[setting]);
        is_reset(&server, &before);
        let newest = is_reset(&server, &after);
        let mut listener = Listener::open(&server, 1, Some(&newest));
        told(&server, &mut listener, 3);
        drop(listener);
        goes_on(&server.restart(signal, &[setting]), &newest, &[3]);
    }
}
