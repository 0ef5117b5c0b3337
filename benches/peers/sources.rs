//! Pages with rules, through groups, of lists and of rare kinds, beside plain pages in the same feed.

use std::ops::RangeInclusive;
use std::time::Instant;

use fastrand::Rng;
use serde_json::json;

use feed::{ChangeMembers, PutList, follows, lists, timeline};
use kv::Tier;
use model::error::Result;
use model::{ContentPage, ListSettings, NamedRule, NewContent, PageRequest, Span, UserId};

use crate::Bench;
use crate::client::quantile;
use crate::opened::{Ids, Opened, PAGE};
use crate::report::{Report, Side, Wanted, in_turn, progress};
use crate::tideline_side::{Tideline, deliver, follow, read};
use crate::trace::choose;
use crate::wrk::{load, script};

/// Those who publish to their followers, groups, and those who publish to groups only.
const AUTHORS: RangeInclusive<u64> = 1..=600;
const GROUPS: RangeInclusive<u64> = 601..=1200;
const MEMBERS: RangeInclusive<u64> = 1201..=1800;
/// Three kinds of readers, as many of each, with as many entries. All have this many followees.
const PLAIN: RangeInclusive<u64> = 2001..=2100;
const RULED: RangeInclusive<u64> = 2101..=2200;
const OF_GROUPS: RangeInclusive<u64> = 2201..=2300;
const FOLLOWEES: u64 = 300;
/// Follows with a rule.
const RULES: usize = 100;
/// Members of the list of each plain reader.
const LISTED: u64 = 500;
/// Items at full size: half of them of authors, half of groups. One in four is a repost.
const POSTS: u64 = 20_000;
/// Pages of a turn in the process.
const READS: usize = 100_000;
const LIST_READS: usize = 5_000;
/// Entries of the timeline behind a filter, at full size, and the one among so many that the filter admits.
const ENTRIES: u64 = 1_000_000;
const ADMITTED: u64 = 1_000;

const NEWEST: PageRequest<model::ContentId> = PageRequest { span: Span::ALL, limit: PAGE };

pub fn run(bench: &Bench, report: &mut Report) {
    pages(bench, report);
    filtered(bench, report);
}

fn new_item(id: u64, author: u64, kind: &str, group: Option<u64>) -> NewContent {
    let at = 1_700_000_000_000_u64 + id;
    let to: Vec<_> = group.into_iter().collect();
    let new_item = json!({
        "content_id": id, "author_id": author, "published_at": at, "kind": kind,
        "to": to, "broadcast": to.is_empty(), "text": format!("Item {id} of {author}: the ferry leaves ten minutes late."),
    });
    serde_json::from_value(new_item).expect("a new_item")
}

/// The feed with all readers, each of whom has read.
fn filled(bench: &Bench, dir: &std::path::Path) -> Opened {
    progress("filling: readers with rules, groups and lists");
    let opened = Opened::new(dir, Ids::Numbers);
    let mut random = Rng::with_seed(5);
    let some = |random: &mut Rng, of: &RangeInclusive<u64>, count| {
        choose(random, count, *of.start(), of.end() - of.start() + 1)
    };
    let mut follows = Vec::new();
    for reader in PLAIN.chain(RULED) {
        follows.extend(some(&mut random, &AUTHORS, FOLLOWEES).into_iter().map(|author| (reader, author)));
    }
    for (reader, of) in OF_GROUPS.flat_map(|reader| [(reader, AUTHORS), (reader, GROUPS)]) {
        follows.extend(some(&mut random, &of, FOLLOWEES / 2).into_iter().map(|source| (reader, source)));
    }
    follow(&opened, follows.iter().copied());
    let user = |number| Ids::Numbers.user(number);
    let rule = NamedRule::Except("repost".parse().expect("a kind"));
    for of_reader in follows.chunk_by(|one, other| one.0 == other.0).filter(|of| RULED.contains(&of[0].0)) {
        for (reader, author) in of_reader.iter().step_by(of_reader.len() / RULES) {
            follows::follow(&opened.feed, user(*reader), user(*author), None, rule.clone(), true).expect("follows");
        }
    }
    for reader in PLAIN {
        let members = some(&mut random, &(*AUTHORS.start()..=*GROUPS.end()), LISTED);
        let settings = ListSettings::checked(None, false).expect("settings");
        opened.feed.submit(PutList { user: user(reader), list: LIST.to_owned(), settings }).expect("a list");
        let add = members.into_iter().map(user).collect();
        opened
            .feed
            .submit(ChangeMembers { user: user(reader), list: LIST.to_owned(), add, remove: Vec::new(), rule: None })
            .expect("members");
    }
    let posts = (1..=bench.size(POSTS)).map(|id| {
        let kind = if random.u8(..4) == 0 { "repost" } else { "post" };
        // Readers of groups follow half as many of either as the others follow authors.
        match id % 2 {
            0 => new_item(id, random.u64(AUTHORS), kind, None),
            _ => new_item(id, random.u64(MEMBERS), kind, Some(random.u64(GROUPS))),
        }
    });
    deliver(&opened, posts.collect());
    read(&opened, PLAIN.chain(RULED).chain(OF_GROUPS));
    opened.feed.store().compact().expect("compacts");
    opened
}

const LIST: &str = "some";

/// A read that goes to the disk only if it must, as the server's do.
fn read_with(
    opened: &Opened,
    reader: u64,
    page: impl Fn(feed::Read<'_>, UserId) -> Result<ContentPage>,
) -> ContentPage {
    let read = opened.feed.read();
    let in_memory = read.within(Tier::Memory);
    let reader = in_memory.find(&opened.ids.user(reader)).expect("a user");
    page(in_memory, reader).or_else(|_| page(read, reader)).expect("a page")
}

/// The newest page of plain readers, of those with rules and of those of groups; and of lists.
fn pages(bench: &Bench, report: &mut Report) {
    report.section("Pages with rules, through groups, and of lists");
    let data = bench.temp();
    let opened = filled(bench, data.path());
    let turn = |readers: RangeInclusive<u64>, round: usize| {
        let mut random = Rng::with_seed(round as u64);
        let begun = Instant::now();
        for _ in 0..READS {
            let page =
                read_with(&opened, random.u64(readers.clone()), |read, reader| timeline::page(read, reader, &NEWEST));
            assert_eq!(page.items.len(), PAGE);
        }
        begun.elapsed().as_secs_f64() / READS as f64 * 1e6
    };
    let sides = in_turn(
        bench.rounds,
        "µs",
        &mut [
            ("plain", &mut |round| turn(PLAIN, round)),
            ("with rules", &mut |round| turn(RULED, round)),
            ("through groups", &mut |round| turn(OF_GROUPS, round)),
        ],
    );
    report.text(&format!(
        "Readers of {FOLLOWEES} sources: with a rule on {RULES} of the follows, or of as many groups as authors, so that every \
         second entry came through a group. The newest {PAGE}, without HTTP, on one thread:"
    ));
    report.table("µs a page", &sides.iter().collect::<Vec<_>>());
    let [plain, ruled, of_groups] = &sides[..] else { unreachable!("three sides") };
    report.goal("plain page / page with rules on 100 of 300 follows", Wanted::AtLeast(0.8), "×", &plain.over(ruled));
    report.goal("plain page / page through groups", Wanted::AtLeast(0.7), "×", &plain.over(of_groups));

    let mut slowest = Side::new("newest page of a list, 99 %");
    for round in 0..=bench.rounds {
        let mut random = Rng::with_seed(round as u64);
        let mut times: Vec<_> = (0..LIST_READS)
            .map(|_| {
                let reader = random.u64(PLAIN);
                let begun = Instant::now();
                let page = read_with(&opened, reader, |read, reader| {
                    timeline::list_page(read, reader, lists::named(read, reader, LIST)?.id, &NEWEST)
                });
                assert_eq!(page.items.len(), PAGE);
                begun.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        if round > 0 {
            slowest.figures.push(quantile(&mut times, 0.99));
        }
    }
    report.text(&format!("Lists with {LISTED} members, half of them groups, without HTTP:"));
    report.table("ms a page", &[&slowest]);
    report.goal("newest page of a list with 500 members, 99 %", Wanted::AtMost(1.0), "ms", &slowest);
    drop(opened);

    let server = Tideline::start(data, &[]);
    let (address, scripts) = (server.address.to_string(), bench.temp());
    for (view, query) in [("`view=ids`", "&view=ids"), ("full", "")] {
        let path = format!("/v1/users/{{}}/timeline?limit={PAGE}{query}");
        let ask = |name: &str, readers| script(scripts.path(), name, readers, &path);
        let [plain, ruled, of_groups] = [("plain", PLAIN), ("ruled", RULED), ("groups", OF_GROUPS)]
            .map(|(name, readers)| ask(&format!("{name}{}", query.len()), readers));
        let sides = in_turn(
            bench.rounds,
            "pages/s",
            &mut [
                ("plain", &mut |_| load(&address, &plain, bench.seconds)),
                ("with rules", &mut |_| load(&address, &ruled, bench.seconds)),
                ("through groups", &mut |_| load(&address, &of_groups, bench.seconds)),
            ],
        );
        report.text(&format!("Over HTTP, {view}, by `wrk`:"));
        report.table("pages/s", &sides.iter().collect::<Vec<_>>());
        let [plain, ruled, of_groups] = &sides[..] else { unreachable!("three sides") };
        let what = |of: &str| format!("page {of}, over HTTP, {view}, against a plain one");
        report.goal(&what("with rules"), Wanted::AtLeast(0.8), "×", &ruled.over(plain));
        report.goal(&what("through groups"), Wanted::AtLeast(0.7), "×", &of_groups.over(plain));
    }
}

/// A long timeline behind a filter that admits few entries, read to its end.
fn filtered(bench: &Bench, report: &mut Report) {
    report.section("A filter that admits few");
    let (data, entries) = (bench.temp(), bench.size(ENTRIES));
    let opened = Opened::new(data.path(), Ids::Numbers);
    let reader = *PLAIN.start();
    follow(&opened, AUTHORS.take(FOLLOWEES as usize).map(|author| (reader, author)));
    let mut random = Rng::with_seed(6);
    for first in (1..=entries).step_by(PART) {
        let posts = (first..(first + PART as u64).min(entries + 1)).map(|id| {
            let kind = if id % ADMITTED == 0 { "event" } else { "post" };
            new_item(id, random.u64(1..=FOLLOWEES), kind, None)
        });
        deliver(&opened, posts.collect());
        progress(&format!("made {first} of {entries} entries"));
    }
    read(&opened, [reader].into_iter());
    opened.feed.store().compact().expect("compacts");
    let kinds = NamedRule::Only("event".parse().expect("a kind"));
    let (mut middle, mut slowest) = (Side::new("median"), Side::new("slowest"));
    for round in 0..=bench.rounds {
        let (mut times, mut found, mut rest) = (Vec::new(), 0, Some(NEWEST));
        while let Some(request) = rest {
            let begun = Instant::now();
            let page =
                read_with(&opened, reader, |read, reader| timeline::page(read.of_kinds(&kinds)?, reader, &request));
            times.push(begun.elapsed().as_secs_f64() * 1e3);
            found += page.items.len() as u64;
            rest = page.next.map(|before| PageRequest { span: Span { before: Some(before), after: None }, ..NEWEST });
        }
        assert_eq!(found, entries / ADMITTED, "another number of items");
        progress(&format!("round {round} of {}: {} requests", bench.rounds, times.len()));
        if round > 0 {
            middle.figures.push(quantile(&mut times, 0.5));
            slowest.figures.push(quantile(&mut times, 1.0));
        }
    }
    report.text(&format!(
        "A timeline of {entries} entries, of {FOLLOWEES} authors, with `kinds=` that admits 1 in {ADMITTED}, from its top to its \
         end by pages of {PAGE}, without HTTP:"
    ));
    report.table("ms a request", &[&middle, &slowest]);
    report.goal("request behind a filter that admits 1 in 1,000, the slowest", Wanted::AtMost(20.0), "ms", &slowest);
}

/// Entries that are made at once.
const PART: usize = 50_000;
