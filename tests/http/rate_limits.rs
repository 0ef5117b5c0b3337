//! Limits of requests a second, seen by clients.

use crate::server::tokens::{SECRET, key, token};
use crate::server::{Reply, Server};

/// The headers of limits: limit, remaining, reset.
fn standing(reply: &Reply) -> Option<[u64; 3]> {
    let number = |name| reply.header(name).map(|value| value.parse().unwrap());
    Some([number("x-ratelimit-limit")?, number("x-ratelimit-remaining")?, number("x-ratelimit-reset")?])
}

fn limited(more: &[(&str, &str)]) -> Server {
    let limits = [("TIDELINE__RATE_LIMITS__PER_ADDRESS", "1"), ("TIDELINE__RATE_LIMITS__PER_ADDRESS_BURST", "20")];
    Server::with(&[&limits, more].concat())
}

/// Sends requests until one is refused; far fewer than are admitted in the time of the test come back meanwhile.
fn use_up(server: &Server, headers: &[(&str, &str)]) -> Reply {
    let replies = (0..2000).map(|_| server.call_as("GET", "/v1/users/1/timeline", "", headers));
    replies.into_iter().find(|reply| reply.status == 429).expect("a limit")
}

/// The refusal of a call that a limit holds for, which is used up but for the requests that came back meanwhile. These
/// are few, but not on a busy machine.
fn again(call: impl Fn() -> Reply) -> Reply {
    std::iter::repeat_with(call).take(200).find(|reply| reply.status == 429).expect("a limit")
}

#[test]
fn an_address_that_sends_too_much_is_told_when_to_come_back() {
    let server = limited(&[]);
    let [limit, remaining, reset] = standing(&server.call("GET", "/v1/users/1/timeline", "")).unwrap();
    assert_eq!(limit, 20);
    assert!((15..20).contains(&remaining) && (1..=5).contains(&reset), "{remaining} {reset}");
    let refused = use_up(&server, &[]);
    refused.problem("too many", 429, "rate_limited");
    assert_eq!(standing(&refused), Some([20, 0, 20]));
    assert_eq!(refused.header("retry-after"), Some("1"));
    // Unknown paths and refused credentials count, too: guessing has the same limit.
    again(|| server.call("GET", "/nothing", "")).problem("unknown", 429, "rate_limited");
    for probe in ["/healthz", "/readyz"] {
        for _ in 0..50 {
            let reply = server.call("GET", probe, "");
            assert_eq!((reply.status, standing(&reply)), (200, None), "{probe}");
        }
    }
    std::thread::sleep(std::time::Duration::from_millis(2500));
    let reply = server.call("GET", "/metrics", "");
    assert_eq!(reply.status, 200, "it may go on");
    let counted =
        reply.text().lines().find_map(|line| line.strip_prefix("tideline_rate_limited_total{of=\"address\"} "));
    assert!(counted.unwrap().parse::<f64>().unwrap() >= 2.0);
}

#[test]
fn a_trusted_proxy_names_the_address() {
    let server = limited(&[("TIDELINE__SERVER__TRUSTED_PROXIES", "10.0.0.0/8,127.0.0.1")]);
    let one = [("x-forwarded-for", "203.0.113.9, 198.51.100.1, 10.0.0.3")];
    let other = [("x-forwarded-for", "198.51.100.1, 198.51.100.2")];
    use_up(&server, &one).problem("one", 429, "rate_limited");
    assert_eq!(server.call_as("GET", "/v1/users/1/timeline", "", &other).status, 200);
    // The client chooses what is before the last entry that is no proxy.
    let disguised = [("x-forwarded-for", "192.0.2.77, 198.51.100.1")];
    let disguised = again(|| server.call_as("GET", "/v1/users/1/timeline", "", &disguised));
    disguised.problem("disguised", 429, "rate_limited");
}

#[test]
fn without_a_trusted_proxy_nobody_can_choose_an_address() {
    let server = limited(&[]);
    use_up(&server, &[("x-forwarded-for", "198.51.100.1")]).problem("one", 429, "rate_limited");
    let other = [("x-forwarded-for", "198.51.100.2")];
    again(|| server.call_as("GET", "/v1/users/1/timeline", "", &other)).problem("other", 429, "rate_limited");
}

#[test]
fn without_limits_nothing_is_refused_and_no_header_tells_of_them() {
    let server = Server::start();
    for _ in 0..300 {
        let reply = server.call("GET", "/v1/users/1/timeline", "");
        assert_eq!((reply.status, standing(&reply)), (200, None));
    }
}

/// A server with keys, and a limit of one kind of sender.
fn guarded(limit: &str, more: &[(&str, &str)]) -> Server {
    let name = |end: &str| format!("TIDELINE__RATE_LIMITS__{limit}{end}");
    let (rate, burst, keys) = (name(""), name("_BURST"), [key("one"), key("other")].join(","));
    let limits = [
        (rate.as_str(), "1"),
        (burst.as_str(), "10"),
        ("TIDELINE__AUTH__KEYS", &keys),
        ("TIDELINE__AUTH__JWT_SECRETS", SECRET),
    ];
    Server::with(&[&limits, more].concat())
}

/// Uses up a limit, and compares it with the one of another sender.
fn compare(limit: &str, one: &str, other: &str, unlimited: &str) {
    let server = guarded(limit, &[]);
    let of = |credential: &str| format!("Bearer {credential}");
    let call = |credential: &str, user: u64| {
        let path = format!("/v1/users/{user}/timeline");
        server.call_as("GET", &path, "", &[("authorization", &of(credential))])
    };
    let refused = use_up(&server, &[("authorization", &of(one))]);
    refused.problem(limit, 429, "rate_limited");
    assert_eq!(standing(&refused), Some([10, 0, 10]), "{limit}");
    let reply = call(other, 2);
    assert_eq!((reply.status, standing(&reply).map(|standing| standing[0])), (200, Some(10)), "{limit}");
    for _ in 0..50 {
        let reply = call(unlimited, 3);
        assert_eq!((reply.status, standing(&reply)), (200, None), "{limit}");
    }
}

#[test]
fn each_key_and_each_user_has_a_limit_of_its_own() {
    compare("PER_KEY", &key("one"), &key("other"), &token("3"));
    compare("PER_USER", &token("1"), &token("2"), &key("one"));
}

#[test]
fn a_call_that_is_not_permitted_counts_for_its_key_or_user() {
    let (read, metrics, user) = (key("read"), key("metrics"), token("alice"));
    for (limit, credential, method, path, own) in [
        ("PER_USER", &user, "GET", "/v1/users/bob", "/v1/users/alice/timeline"),
        ("PER_USER", &user, "GET", "/v1/nothing", "/v1/users/alice/timeline"),
        ("PER_KEY", &read, "PUT", "/v1/users/bob", "/v1/users/bob"),
        ("PER_KEY", &metrics, "GET", "/v1/users/bob", "/metrics"),
    ] {
        let more = [("TIDELINE__AUTH__READ_KEYS", read.as_str()), ("TIDELINE__AUTH__METRICS_KEYS", &metrics)];
        let server = guarded(limit, &more);
        let bearer = format!("Bearer {credential}");
        let call = |method: &str, path: &str| server.call_as(method, path, "{}", &[("authorization", &bearer)]);
        let first = call(method, path);
        first.problem(path, 403, "not_permitted");
        assert_eq!(standing(&first).map(|[limit, remaining, _]| [limit, remaining]), Some([10, 9]), "{path}");
        let refused = (0..2000).map(|_| call(method, path)).find(|reply| reply.status != 403).expect("a limit");
        refused.problem(path, 429, "rate_limited");
        assert_eq!(standing(&refused), Some([10, 0, 10]), "{path}");
        // The calls that are allowed have the same limit.
        let spent = (0..200).any(|_| call("GET", own).status == 429);
        assert!(spent, "{own}");
    }
}

#[test]
fn requests_of_pages_of_another_origin_count_for_their_address() {
    let server = limited(&[]);
    let page = [("origin", "https://evil.example")];
    for (path, method) in [("/v1/users/1/presence", "PUT"), ("/nothing", "POST")] {
        let replies = (0..2000).map(|_| server.call_as(method, path, "{}", &page));
        let refused = replies.into_iter().find(|reply| reply.status != 403).expect("a limit");
        refused.problem(path, 429, "rate_limited");
        assert_eq!(standing(&refused), Some([20, 0, 20]), "{path}");
    }
}

#[test]
fn guesses_of_keys_have_the_limit_of_their_address() {
    let server = limited(&[("TIDELINE__AUTH__KEYS", &key("one"))]);
    let guess = |n: usize| {
        let credential = format!("Bearer {n:032}");
        server.call_as("GET", "/v1/users/1/timeline", "", &[("authorization", &credential)]).status
    };
    let answers: Vec<_> = (0..200).map(guess).collect();
    let refused = answers.iter().filter(|status| **status == 429).count();
    assert!(
        answers[0] == 403 && refused > 100 && answers.iter().all(|status| [403, 429].contains(status)),
        "{answers:?}"
    );
}

#[test]
fn the_questions_of_browsers_before_requests_do_not_count() {
    let server = limited(&[("TIDELINE__SERVER__ALLOWED_ORIGINS", "https://app.example.org")]);
    let ask = |origin| {
        let asked = [("origin", origin), ("access-control-request-method", "PUT")];
        server.call_as("OPTIONS", "/v1/users/1/marker", "", &asked)
    };
    for _ in 0..50 {
        let answer = ask("https://app.example.org");
        assert_eq!((answer.status, standing(&answer)), (204, None));
    }
    let refused = (0..50).any(|_| ask("https://evil.example").status == 429);
    assert!(refused || use_up(&server, &[]).status == 429, "other requests still count");
}
