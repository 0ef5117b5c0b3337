//! One row too few or too many in any table.

use super::damage::{Row, compare, compare_in, count, key, place, row};

#[test]
fn the_follow_graph_is_compared() {
    compare(vec![
        (
            Row("following", key(&[1, 3])),
            None,
            &[
                "user 1: inbox has 2000-12 of source 3 that the user does not follow",
                "user 3: followers has user 1, which does not agree with following",
                "user 1: following_by_time has 300-3, which does not agree with following",
                "user 3: followers_by_time has 300-1, which does not agree with following",
                "user 1: count of following is 2, expected 1",
            ],
        ),
        (
            Row("following", key(&[3, 1])),
            Some(key(&[900])),
            &[
                "user 1: followers lacks user 3",
                "user 1: followers_by_time lacks 900-3",
                "user 3: following_by_time lacks 900-1",
                "user 1: friends_by_time lacks 900-3",
                "user 3: friends_by_time lacks 900-1",
                "user 3: count of following is 0, expected 1",
            ],
        ),
        (
            Row("following", key(&[1, 3])),
            Some(key(&[301])),
            &[
                "user 3: followers has user 1 with another value than following",
                "user 3: followers_by_time lacks 301-1",
                "user 1: following_by_time lacks 301-3",
                "user 3: followers has user 1, which does not agree with following",
                "user 1: following_by_time has 300-3, which does not agree with following",
                "user 3: followers_by_time has 300-1, which does not agree with following",
            ],
        ),
        (
            Row("followers", key(&[3, 1])),
            None,
            &["user 3: followers lacks user 1", "user 3: count of followers is 2, expected 1"],
        ),
        (
            Row("followers", key(&[9, 8])),
            Some(key(&[900])),
            &[
                "user 9: followers has user 8, which does not agree with following",
                "user 9: count of followers is 0, expected 1",
            ],
        ),
        (Row("following_by_time", row(1, 300, 3)), None, &["user 1: following_by_time lacks 300-3"]),
        (
            Row("following_by_time", row(1, 301, 3)),
            Some(vec![]),
            &["user 1: following_by_time has 301-3, which does not agree with following"],
        ),
        (Row("followers_by_time", row(3, 300, 1)), None, &["user 3: followers_by_time lacks 300-1"]),
        (
            Row("followers_by_time", row(77, 300, 1)),
            Some(vec![]),
            &["user 77: followers_by_time has 300-1, which does not agree with following"],
        ),
        (
            Row("friends_by_time", row(1, 200, 2)),
            None,
            &["user 1: friends_by_time lacks 200-2", "user 1: count of friends is 1, expected 0"],
        ),
        (
            Row("friends_by_time", row(1, 300, 3)),
            Some(vec![]),
            &[
                "user 1: friends_by_time has 300-3, which does not agree with following",
                "user 1: count of friends is 1, expected 2",
            ],
        ),
    ]);
}

#[test]
fn mutes_and_hides_are_compared() {
    compare(vec![
        (
            Row("mutes", key(&[1, 5])),
            None,
            &[
                "user 1: mutes_by_time has 600-5, which does not agree with mutes",
                "user 5: muted_by has user 1, which does not agree with mutes",
            ],
        ),
        (
            Row("mutes", key(&[5, 1])),
            Some(key(&[600])),
            &["user 5: mutes_by_time lacks 600-1", "user 1: muted_by lacks user 5"],
        ),
        (Row("muted_by", key(&[5, 1])), None, &["user 5: muted_by lacks user 1"]),
        (Row("mutes_by_time", row(1, 600, 5)), None, &["user 1: mutes_by_time lacks 600-5"]),
        (
            Row("mutes_by_time", row(1, 601, 5)),
            Some(vec![]),
            &["user 1: mutes_by_time has 601-5, which does not agree with mutes"],
        ),
        (
            Row("hidden", key(&[1, 6])),
            None,
            &[
                "user 1: hidden_by_time has 700-6, which does not agree with hidden",
                "user 6: hidden_to has user 1, which does not agree with hidden",
            ],
        ),
        (
            Row("hidden", key(&[6, 1])),
            Some(key(&[700])),
            &["user 6: hidden_by_time lacks 700-1", "user 1: hidden_to lacks user 6"],
        ),
        (Row("hidden_by_time", row(1, 700, 6)), None, &["user 1: hidden_by_time lacks 700-6"]),
        (
            Row("hidden_by_time", row(8, 700, 6)),
            Some(vec![]),
            &["user 8: hidden_by_time has 700-6, which does not agree with hidden"],
        ),
        (Row("hidden_to", key(&[6, 1])), None, &["user 6: hidden_to lacks user 1"]),
        (
            Row("hidden_to", key(&[7, 1])),
            Some(vec![]),
            &["user 7: hidden_to has user 1, which does not agree with hidden"],
        ),
    ]);
}

#[test]
fn requests_are_compared() {
    compare(vec![
        (
            Row("requests", key(&[1, 8])),
            None,
            &[
                "user 1: sent_requests has 900-8, which does not agree with requests",
                "user 8: follow_requests has 900-1, which does not agree with requests",
            ],
        ),
        (
            Row("requests", key(&[2, 8])),
            Some(key(&[901])),
            &["user 2: sent_requests lacks 901-8", "user 8: follow_requests lacks 901-2"],
        ),
        (Row("sent_requests", row(1, 900, 8)), None, &["user 1: sent_requests lacks 900-8"]),
        (
            Row("follow_requests", row(8, 901, 1)),
            Some(vec![]),
            &["user 8: follow_requests has 901-1, which does not agree with requests"],
        ),
    ]);
}

#[test]
fn blocks_are_compared() {
    compare(vec![
        (
            Row("blocks", key(&[1, 7])),
            None,
            &[
                "user 1: blocks_by_time has 800-7, which does not agree with blocks",
                "user 7: blocked_by has user 1, which does not agree with blocks",
            ],
        ),
        (Row("blocked_by", key(&[7, 1])), None, &["user 7: blocked_by lacks user 1"]),
        (
            Row("blocks", key(&[3, 1])),
            Some(key(&[700])),
            &[
                "user 3: blocks_by_time lacks 700-1",
                "user 1: blocked_by lacks user 3",
                "user 3: blocks has user 1, which does not agree with following",
            ],
        ),
        (
            Row("blocks", key(&[8, 1])),
            Some(key(&[700])),
            &[
                "user 8: blocks_by_time lacks 700-1",
                "user 1: blocked_by lacks user 8",
                "user 8: blocks has user 1, which does not agree with requests",
            ],
        ),
    ]);
}

#[test]
fn items_and_outboxes_are_compared() {
    compare(vec![
        (
            Row("content", key(&[12])),
            None,
            &[
                "user 3: outbox has 2000-12, which does not agree with content",
                "content 10: count of reposts is 1, expected 0",
            ],
        ),
        (
            Row("content", key(&[12])),
            Some(vec![9]),
            &[
                "content 12: content has its row, which cannot be read",
                "user 3: outbox has 2000-12, which does not agree with content",
                "content 10: count of reposts is 1, expected 0",
            ],
        ),
        (
            Row("deleted", key(&[13])),
            None,
            &["user 2: inbox has 3000-13 of source 1 that is not in the outbox", "content 13: deleted lacks its row"],
        ),
        (
            Row("deleted", key(&[14])),
            Some(key(&[8000])),
            &["content 14: deleted has its row, which does not agree with content"],
        ),
        (
            Row("deleted", key(&[14])),
            Some(vec![1]),
            &[
                "content 14: deleted has its row, which does not agree with content",
                "content 14: deleted has its row, which cannot be read",
            ],
        ),
        (
            Row("outbox", row(2, 4000, 14)),
            None,
            &[
                "user 1: inbox has 4000-14 of source 2 that is not in the outbox",
                "user 2: outbox lacks 4000-14",
                "user 2: count of content is 2, expected 1",
            ],
        ),
        (
            Row("outbox", row(3, 1000, 11)),
            Some(vec![]),
            &[
                "user 1: inbox lacks 1000-11 of source 3",
                "user 2: inbox lacks 1000-11 of source 3",
                "user 3: outbox has 1000-11, which does not agree with content",
                "user 3: count of content is 1, expected 2",
            ],
        ),
        (
            Row("outbox", row(4, 4000, 14)),
            Some(vec![]),
            &[
                "user 4: outbox has 4000-14, which does not agree with content",
                "user 4: count of content is 0, expected 1",
            ],
        ),
        (
            Row("outbox_archive", row(2, 1000, 10)),
            None,
            &[
                "user 1: inbox has 1000-10 of source 2 that is not in the outbox",
                "user 2: outbox_archive lacks 1000-10",
                "user 2: count of content is 2, expected 1",
            ],
        ),
        (
            Row("outbox_archive", row(2, 999, 10)),
            Some(vec![]),
            &[
                "user 1: inbox lacks 999-10 of source 2",
                "user 2: outbox_archive has 999-10, which does not agree with content",
                "user 2: count of content is 2, expected 3",
            ],
        ),
        (
            Row("outbox_archive", row(2, 4000, 14)),
            Some(vec![]),
            &[
                "user 2: outbox_archive has 4000-14 above the floor of outbox",
                "user 2: count of content is 2, expected 3",
            ],
        ),
    ]);
}

#[test]
fn unlisted_items_are_compared() {
    compare(vec![
        // Not broadcast, and deleted.
        (Row("unlisted", row(3, 1000, 11)), None, &["user 3: unlisted lacks 1000-11"]),
        (Row("unlisted", row(1, 3000, 13)), None, &["user 1: unlisted lacks 3000-13"]),
        (
            Row("unlisted", row(2, 4000, 14)),
            Some(vec![]),
            &["user 2: unlisted has 4000-14, which does not agree with content"],
        ),
        (
            Row("unlisted", row(1, 1500, 15)),
            Some(vec![]),
            &["user 1: unlisted has 1500-15, which does not agree with content"],
        ),
        (
            Row("unlisted", row(2, 1600, 16)),
            Some(vec![]),
            &["user 2: unlisted has 1600-16, which does not agree with content"],
        ),
        // A purged one.
        (Row("unlisted", row(3, 1600, 16)), None, &["user 3: unlisted lacks 1600-16"]),
    ]);
}

#[test]
fn mentions_are_compared() {
    compare(vec![
        (Row("mentioned_in", row(1, 1000, 11)), None, &["user 1: mentioned_in lacks 1000-11"]),
        (
            Row("mentioned_in", row(1, 1000, 10)),
            Some(vec![]),
            &["user 1: mentioned_in has 1000-10, which does not agree with content"],
        ),
    ]);
}

#[test]
fn comments_are_compared() {
    compare(vec![
        (Row("comments", row(10, 1500, 15)), None, &["content 10: comments lacks 1500-15"]),
        (
            Row("comments", row(10, 1500, 15)),
            Some(key(&[7])),
            &[
                "content 10: comments has 1500-15 with another value than content",
                "content 10: comments has 1500-15, which does not agree with content",
            ],
        ),
        (
            Row("comments", row(11, 1500, 15)),
            Some(key(&[1])),
            &["content 11: comments has 1500-15, which does not agree with content"],
        ),
        (Row("user_comments", row(1, 1500, 15)), None, &["user 1: user_comments lacks 1500-15"]),
        (
            Row("user_comments", row(3, 1500, 15)),
            Some(vec![]),
            &["user 3: user_comments has 1500-15, which does not agree with content"],
        ),
        // A purged item has no rows.
        (
            Row("comments", row(16, 1700, 17)),
            Some(key(&[3])),
            &["content 16: comments has 1700-17, which does not agree with content"],
        ),
        (
            Row("item_counts", key(&[16])),
            Some([1_i64, 0].map(i64::to_le_bytes).concat()),
            &["content 16: count of comments is 1, expected 0"],
        ),
        (
            Row("deleted", key(&[16])),
            None,
            &[
                "content 16: comments lacks 1700-17",
                "user 3: unlisted has 1600-16, which does not agree with content",
                "content 16: count of comments is 0, expected 1",
            ],
        ),
    ]);
}

#[test]
fn topics_are_compared() {
    compare(vec![
        (
            Row("topic_ids", b"time".to_vec()),
            None,
            &[
                "content 10: topic_ids lacks its topic \"time\"",
                "topic 2: topic_content has 1000-10, which does not agree with content",
            ],
        ),
        (
            Row("topic_ids", b"late".to_vec()),
            Some(key(&[1])),
            &["topic \"tea\": topic_ids has its row with id 1 of another topic"],
        ),
        (
            Row("topic_ids", b"late".to_vec()),
            Some(key(&[77])),
            &["topic \"late\": topic_ids has its row with id 77, above the highest id"],
        ),
        (
            Row("topic_ids", b"late".to_vec()),
            Some(vec![7]),
            &["topic \"late\": topic_ids has its row, which cannot be read"],
        ),
        (Row("topic_content", row(1, 1000, 11)), None, &["topic 1: topic_content lacks 1000-11"]),
        (
            Row("topic_content", row(1, 1000, 11)),
            Some(key(&[2])),
            &[
                "topic 1: topic_content has 1000-11 with another value than content",
                "topic 1: topic_content has 1000-11, which does not agree with content",
            ],
        ),
        (
            Row("topic_content", row(2, 1000, 11)),
            Some(key(&[3])),
            &["topic 2: topic_content has 1000-11, which does not agree with content"],
        ),
        (
            Row("topic_content", row(1, 3000, 13)),
            Some(key(&[1])),
            &["topic 1: topic_content has 3000-13, which does not agree with content"],
        ),
        (Row("topic_archive", row(1, 1000, 10)), None, &["topic 1: topic_archive lacks 1000-10"]),
        (
            Row("topic_archive", row(1, 1000, 10)),
            Some(key(&[3])),
            &[
                "topic 1: topic_archive has 1000-10 with another value than content",
                "topic 1: topic_archive has 1000-10, which does not agree with content",
            ],
        ),
        (
            Row("topic_archive", row(1, 999, 10)),
            Some(key(&[2])),
            &["topic 1: topic_archive has 999-10, which does not agree with content"],
        ),
        (
            Row("topic_archive", row(1, 1000, 11)),
            Some(key(&[3])),
            &["topic 1: topic_archive has 1000-11 above the floor of topic_content"],
        ),
        (
            Row("topic_archive", row(2, 1000, 10)),
            Some(key(&[2])),
            &["topic 2: topic_archive has 1000-10 above the floor of topic_content"],
        ),
    ]);
}

/// The bytes of the kinds of reactions, in the order of their first use.
const LIKE: u8 = 0;
const FAVORITE: u8 = 1;

fn reaction(item: u64, kind: u8, user: u64) -> Vec<u8> {
    [key(&[item]), vec![kind], key(&[user])].concat()
}

fn kind_row(first: u64, kind: u8, at: u64, id: u64) -> Vec<u8> {
    [key(&[first]), vec![kind], key(&[!at, !id])].concat()
}

#[test]
fn reactions_are_compared() {
    compare(vec![
        (
            Row("reactions", reaction(10, LIKE, 3)),
            None,
            &[
                "content 10: reactions_by_time has \"like\" 5001-3, which does not agree with reactions",
                "user 3: reactions_by_user has \"like\" 1000-10, which does not agree with reactions",
                "content 10: count of \"like\" is 2, expected 1",
            ],
        ),
        (
            Row("reactions", reaction(10, FAVORITE, 3)),
            Some(key(&[5001])),
            &[
                "content 10: reactions_by_time lacks \"favorite\" 5001-3",
                "user 3: reactions_by_user lacks \"favorite\" 1000-10",
                "content 10: count of \"favorite\" is 1, expected 2",
            ],
        ),
        (
            Row("reactions", reaction(99, LIKE, 3)),
            Some(key(&[5001])),
            &[
                "content 99: reactions has \"like\" of user 3, but the item does not exist",
                "content 99: reactions_by_time lacks \"like\" 5001-3",
                "content 99: count of \"like\" is 0, expected 1",
            ],
        ),
        (
            Row("reactions_by_time", kind_row(13, FAVORITE, 5003, 2)),
            None,
            &["content 13: reactions_by_time lacks \"favorite\" 5003-2"],
        ),
        (
            Row("reactions_by_time", kind_row(10, LIKE, 5000, 3)),
            Some(vec![]),
            &["content 10: reactions_by_time has \"like\" 5000-3, which does not agree with reactions"],
        ),
        (
            Row("reactions", reaction(10, 7, 3)),
            Some(key(&[5001])),
            &[
                "content 10: reactions has kind 7 of user 3, but the kind has no name",
                "content 10: reactions_by_time lacks kind 7 5001-3",
                "user 3: reactions_by_user lacks kind 7 1000-10",
                "content 10: count of kind 7 is 0, expected 1",
            ],
        ),
        (
            Row("reactions_by_user", kind_row(3, LIKE, 1000, 10)),
            None,
            &["user 3: reactions_by_user lacks \"like\" 1000-10"],
        ),
        (
            Row("reactions_by_user", kind_row(3, LIKE, 1000, 10)),
            Some(key(&[3])),
            &[
                "user 3: reactions_by_user has \"like\" 1000-10 with another value than reactions",
                "user 3: reactions_by_user has \"like\" 1000-10, which does not agree with reactions",
            ],
        ),
        (
            Row("reactions_by_user", kind_row(3, FAVORITE, 1000, 10)),
            Some(key(&[2])),
            &["user 3: reactions_by_user has \"favorite\" 1000-10, which does not agree with reactions"],
        ),
    ]);
}

#[test]
fn counts_are_compared() {
    compare(vec![
        (Row("counts", count(1, 1)), None, &["user 1: count of following is 0, expected 2"]),
        (
            Row("counts", count(3, 2)),
            Some(5_i64.to_le_bytes().to_vec()),
            &["user 3: count of followers is 5, expected 2"],
        ),
        (
            Row("counts", count(1, 3)),
            Some((-1_i64).to_le_bytes().to_vec()),
            &["user 1: count of friends is -1, expected 1"],
        ),
        (
            Row("counts", count(2, 4)),
            Some(1_i64.to_le_bytes().to_vec()),
            &["user 2: count of content is 1, expected 2"],
        ),
        (
            Row("counts", count(70, 4)),
            Some(1_i64.to_le_bytes().to_vec()),
            &["user 70: count of content is 1, expected 0"],
        ),
        (
            Row("counts", count(1, 9)),
            Some(1_i64.to_le_bytes().to_vec()),
            &["key 0x000000000000000109: counts has its row, which cannot be read"],
        ),
        (
            Row("item_counts", key(&[10])),
            None,
            &[
                "content 10: count of comments is 0, expected 1",
                "content 10: count of reposts is 0, expected 1",
                "content 10: count of \"like\" is 0, expected 2",
                "content 10: count of \"favorite\" is 0, expected 1",
            ],
        ),
        (
            Row("item_counts", key(&[14])),
            Some([1_i64, 0].map(i64::to_le_bytes).concat()),
            &["content 14: count of comments is 1, expected 0"],
        ),
    ]);
}

#[test]
fn unreadable_rows_are_named() {
    compare(vec![
        (
            Row("profiles", key(&[1])),
            Some(vec![1, 200]),
            &[
                "user 1: profiles has its row, which cannot be read",
                "user 1: nicknames has \"one\", which does not agree with profiles",
            ],
        ),
        (Row("profiles", vec![1]), Some(vec![]), &["key 0x01: profiles has its row, which cannot be read"]),
    ]);
}

#[test]
fn kinds_of_items_are_compared() {
    compare(vec![(
        // The first kind that is not built in.
        Row("kinds", vec![0, 3]),
        Some(b"other".to_vec()),
        &["content 11: content has its row, whose kind does not agree with kinds"],
    )]);
}

#[test]
fn parts_of_lists_need_their_list() {
    compare(vec![
        (
            Row("lists", [&key(&[1])[..], b"close"].concat()),
            None,
            &[
                "list 1: list_members has user 3, but there is no list of this number",
                "list 1: list_markers has its row, but there is no list of this number",
            ],
        ),
        (
            Row("list_markers", key(&[7])),
            Some(key(&[2000, 12])),
            &["list 7: list_markers has its row, but there is no list of this number"],
        ),
    ]);
}

#[test]
fn times_of_events_do_not_fall() {
    let event = |logged, top| Some([vec![6, 0], key(&[1, 0, 1, logged, top]), vec![0]].concat());
    const OWN: &str = "event 22: events has its row with an earlier time than the row before it";
    const LATER: &str = "event 23: events has its row with an earlier time than the row before it";
    let effect = |at, top| Some([vec![0x88, 1], key(&[at, top, 1, 2])].concat());
    compare(vec![
        (Row("events", key(&[22])), event(7, 1 << 60), &[OWN, LATER]),
        (Row("events", key(&[22])), event(7, 7), &[OWN]),
        (Row("events", key(&[22])), effect(7, 7), &[OWN]),
    ]);
}

/// The key of a notice: its user, time, code of the kind, byte of the reaction, actor and item.
fn notice(owner: u64, at: u64, (kind, reaction): (u8, u8), actor: u64, item: u64) -> Row {
    Row("notices", [&key(&[owner, !at])[..], &[!kind, !reaction], &key(&[!actor, !item])].concat())
}

/// The fixture has none of its own: its times are too long ago.
#[test]
fn notices_need_their_causes() {
    let empty = || Some(vec![]);
    let on = |flags: u8, item: u64| Some([&[flags][..], &key(&[item])].concat());
    // Otherwise a compaction takes these away, as their times are long over.
    let place = place().with_env("TIDELINE__NOTICES__KEEP", "36500d");
    compare_in(
        &place,
        vec![
            (
                notice(3, 301, (1, 0), 1, 0),
                empty(),
                &["user 3: notices has 301 follow of user 1, which does not agree with following"],
            ),
            (
                notice(8, 901, (2, 0), 1, 0),
                empty(),
                &["user 8: notices has 901 follow_request of user 1, which does not agree with requests"],
            ),
            (
                notice(3, 300, (3, 0), 1, 0),
                empty(),
                &["user 3: notices has 300 request_approved of user 1, which does not agree with following"],
            ),
            (
                notice(2, 5000, (4, 0), 3, 10),
                empty(),
                &[
                    "user 2: notices has 5000 reaction of user 3 \"like\" content 10, which does not agree with reactions",
                ],
            ),
            (
                notice(2, 1500, (5, 0), 1, 15),
                on(1, 10),
                &["user 2: notices has 1500 comment of user 1 content 15, which does not agree with content"],
            ),
            (
                notice(2, 1500, (5, 0), 1, 15),
                on(0, 14),
                &["user 2: notices has 1500 comment of user 1 content 15, which does not agree with content"],
            ),
            (
                notice(2, 1500, (7, 0), 1, 15),
                Some(vec![0]),
                &["user 2: notices has 1500 mention of user 1 content 15, which does not agree with content"],
            ),
            (
                notice(2, 1500, (6, 0), 1, 999),
                on(0, 10),
                &["user 2: notices has 1500 repost of user 1 content 999, but the item does not exist"],
            ),
            (
                notice(1, 300, (1, 0), 1, 0),
                empty(),
                &["user 1: notices has 300 follow of user 1, which cannot be read"],
            ),
            (
                notice(2, 1500, (5, 0), 1, 15),
                Some(vec![0]),
                &["user 2: notices has 1500 comment of user 1 content 15, which cannot be read"],
            ),
            (
                Row("notice_markers", key(&[1])),
                Some(key(&[5])),
                &["user 1: notice_markers has its row, which cannot be read"],
            ),
            (Row("notice_markers_at", key(&[3, 2])), None, &["user 3: notice_markers_at lacks user 2"]),
            (
                Row("notice_markers_at", key(&[4, 2])),
                Some(vec![]),
                &["user 4: notice_markers_at has user 2, which does not agree with notice_markers"],
            ),
        ],
    );
}

#[test]
fn notices_with_their_causes_are_sound() {
    let place = super::damage::place();
    for (row, value) in [
        (notice(3, 300, (1, 0), 1, 0), vec![]),
        (notice(2, 5000, (4, 0), 1, 10), vec![]),
        (notice(2, 1500, (5, 0), 1, 15), [&[0][..], &key(&[10])].concat()),
        // Its item is purged.
        (notice(2, 1600, (7, 0), 3, 16), vec![0]),
    ] {
        super::damage::set(&place.data(), &row, Some(&value));
    }
    place.run(&["check"]).ok();
}

#[test]
fn words_of_nicknames_are_compared() {
    let word = |text: &str, user: u64| Row("nicknames", [text.as_bytes(), &[0], &key(&[user])].concat());
    let profile = || Row("profiles", key(&[1]));
    compare(vec![
        (word("one", 1), None, &["user 1: nicknames lacks \"one\""]),
        (word("one", 2), Some(vec![]), &["user 2: nicknames has \"one\", which does not agree with profiles"]),
        (word("one", 77), Some(vec![]), &["user 77: nicknames has \"one\", which does not agree with profiles"]),
        (
            word("one", 1),
            Some(vec![1]),
            &[
                "user 1: nicknames has \"one\" with another value than profiles",
                "user 1: nicknames has \"one\", which cannot be read",
            ],
        ),
        (profile(), None, &["user 1: nicknames has \"one\", which does not agree with profiles"]),
        (
            profile(),
            Some(vec![1, 255]),
            &[
                "user 1: profiles has its row, which cannot be read",
                "user 1: nicknames has \"one\", which does not agree with profiles",
            ],
        ),
    ]);
}
