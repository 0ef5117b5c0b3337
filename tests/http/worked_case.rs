//! The worked case of the contract, page by page, pulled, pushed and mixed.

use crate::server::{Server, ids};

const OF_200: [(u64, u64); 5] = [
    (32850, 1_689_089_522),
    (16020, 1_688_986_368),
    (19732, 1_688_905_999),
    (61186, 1_688_718_647),
    (80723, 1_688_616_936),
];
const OF_211: [(u64, u64); 6] = [
    (50015, 1_689_087_139),
    (71658, 1_688_986_368),
    (18253, 1_688_975_221),
    (73798, 1_688_803_287),
    (92090, 1_688_617_305),
    (82553, 1_685_305_893),
];
/// Items of 222, 233 and 244 in turn.
const OF_OTHERS: [(u64, u64); 6] = [
    (25218, 1_689_087_991),
    (38376, 1_689_087_139),
    (12572, 1_688_986_368),
    (75256, 1_688_803_287),
    (81709, 1_688_718_647),
    (13320, 1_688_617_305),
];
const PAGES: [&[u64]; 6] = [
    &[32850, 25218, 50015],
    &[38376, 71658, 16020],
    &[12572, 18253, 19732],
    &[75256, 73798, 81709],
    &[61186, 92090, 13320],
    &[80723, 82553],
];

fn publish(server: &Server) {
    let own = OF_200.map(|item| (200, item)).into_iter().chain(OF_211.map(|item| (211, item)));
    let others = [222, 233, 244].into_iter().cycle().zip(OF_OTHERS);
    for (author, (id, seconds)) in own.chain(others) {
        server.publish(id, author, seconds * 1000);
    }
}

fn follow(server: &Server) {
    for author in [200, 211, 222, 233, 244] {
        server.follow(111, author, 1_600_000_000_000);
    }
}

fn check_pages(server: &Server, what: &str) {
    for view in ["full", "ids"] {
        let list = format!("/v1/users/111/timeline?limit=3&view={view}");
        let mut before = String::new();
        for (number, expected) in PAGES.iter().enumerate() {
            let page = server.get(&format!("{list}{before}"));
            assert_eq!(ids(&page), *expected, "{what}, page {number}");
            let last = &page["items"][expected.len() - 1];
            let cursor = format!("{}-{}", last["published_at"], last["content_id"].as_str().unwrap());
            assert_eq!(page["next"].as_str(), (number < PAGES.len() - 1).then_some(cursor.as_str()), "{what}");
            before = format!("&before={cursor}");
        }
        // Back up from the end.
        let mut after = "&after=1685305893000-82553".to_owned();
        let mut all = vec![82553];
        loop {
            let page = server.get(&format!("{list}{after}"));
            let found = ids(&page);
            if found.is_empty() {
                break;
            }
            all.splice(0..0, found);
            after = format!("&after={}", page["prev"].as_str().unwrap());
        }
        assert_eq!(all, PAGES.concat(), "{what}, upwards");
    }
    let verified = server.get("/v1/admin/users/111/timeline/verify");
    assert_eq!((&verified["exact"], &verified["compared"]), (&true.into(), &17.into()), "{what}: {verified}");
}

fn run(push: &str, pull: &str, pulled: &[u64]) {
    let settings = [("TIDELINE__FANOUT__PUSH_THRESHOLD", push), ("TIDELINE__FANOUT__PULL_THRESHOLD", pull)];
    for follow_first in [true, false] {
        let server = Server::with(&settings);
        // Authors 200 and 211 are large.
        for (fan, author) in (1000..1006).flat_map(|fan| [(fan, 200), (fan, 211)]) {
            server.follow(fan, author, 1_600_000_000_000);
        }
        if follow_first {
            follow(&server);
            // Otherwise the settle could find the items published, and back-fill them whatever the thresholds.
            server.settle();
            publish(&server);
        } else {
            publish(&server);
            follow(&server);
        }
        let what = format!("{push}/{pull}, follow first: {follow_first}");
        check_pages(&server, &what);
        server.settle();
        check_pages(&server, &what);
        if follow_first {
            for (id, author) in [(32850, 200), (50015, 211), (25218, 222), (38376, 233), (12572, 244)] {
                let found = server.get(&format!("/v1/admin/users/111/timeline/explain?content_id={id}"));
                assert_eq!(
                    (&found["listed"], found["paths"][0]["in_inbox"] == false),
                    (&true.into(), pulled.contains(&author)),
                    "{what}: {found}"
                );
            }
        }
    }
}

#[test]
fn all_pulled() {
    run("0", "0", &[200, 211, 222, 233, 244]);
}

#[test]
fn all_pushed() {
    run("1000000", "1000000", &[]);
}

#[test]
fn large_authors_pulled_and_the_others_pushed() {
    run("3", "3", &[200, 211]);
}
