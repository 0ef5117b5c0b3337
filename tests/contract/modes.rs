//! The suite with names as ids, and with names and numbers: each test in one of the two, by the name of its file.

use crate::server::Server;
use crate::server::host_ids::{VARIABLE, suite_passes};

/// Tests that know their ids: exact sizes of bodies, an import of numbers, requests that go past `Server::call`.
const LEFT_OUT: [&str; 5] =
    ["modes::the_", "names::", "access::", "bodies_have_a_limit", "a_long_fan_out_serves_the_online_first"];

#[test]
fn the_first_half_of_the_suite_passes_with_names() {
    suite_passes("names", 'a'..='m', &LEFT_OUT);
}

#[test]
fn the_second_half_of_the_suite_passes_with_names_and_numbers() {
    suite_passes("mixed", 'n'..='z', &LEFT_OUT);
}

#[test]
fn a_mode_sends_what_it_says() {
    let server = Server::start();
    let is_sent = |id: u64| {
        server.publish(id, id, 100);
        let answer = server.raw(format!("GET /v1/content/{id} HTTP/1.0\r\n\r\n").as_bytes());
        answer.starts_with(b"HTTP/1.0 200 ")
    };
    let sent = match std::env::var(VARIABLE).as_deref() {
        Ok("names") => [false, false],
        Ok("mixed") => [true, false],
        _ => [true, true],
    };
    assert_eq!([2, 60].map(is_sent), sent);
    assert_eq!(server.ids("/v1/content?ids=60,2"), [60, 2]);
}
