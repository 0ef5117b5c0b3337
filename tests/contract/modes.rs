//! The suite with names as ids, and with names and numbers.

use crate::server::Server;
use crate::server::host_ids::{VARIABLE, suite_passes};

/// Tests that know their ids: exact sizes of bodies, an import of numbers, requests that go past `Server::call`.
const LEFT_OUT: [&str; 5] =
    ["modes::the_suite", "names::", "access::", "bodies_have_a_limit", "a_long_fan_out_serves_the_online_first"];

#[test]
fn the_suite_passes_with_names() {
    // The other mode runs the two longest tests.
    suite_passes("names", "contract::", &[&LEFT_OUT[..], &["a_walk_ends_at_the_first_item", "bad_input::"]].concat());
}

#[test]
fn the_suite_passes_with_names_and_numbers() {
    suite_passes("mixed", "contract::", &[&LEFT_OUT[..], &["every_list_is_the_same_whatever"]].concat());
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
