//! Names: their two tables, and the ids of other tables.

use super::damage::{EMPTY_INBOX, Row, compare, inbox, key, row};

/// The first number of a name, and those of the community.
const ALICE: u64 = (1 << 63) + 1;
const BOB: u64 = ALICE + 1;
const POST: u64 = ALICE + 2;
const REF: u64 = ALICE + 3;
/// A number that no name has.
const NOBODY: u64 = ALICE + 99;

#[test]
fn every_id_above_the_numbers_has_a_name() {
    compare(vec![
        (
            Row("names_by_number", key(&[ALICE])),
            None,
            &[
                "user 9223372036854775809: following has user \"bob\", but number 9223372036854775809 has no name",
                "user \"bob\": followers has user 9223372036854775809, but number 9223372036854775809 has no name",
                "user 9223372036854775809: following_by_time has 500-\"bob\", but number 9223372036854775809 has no name",
                "user \"bob\": followers_by_time has 500-9223372036854775809, but number 9223372036854775809 has no name",
                "user 9223372036854775809: inboxes has its row, but number 9223372036854775809 has no name",
                "user 9223372036854775809: activity has its row, but number 9223372036854775809 has no name",
                "number 9223372036854775809: names_by_number lacks its row",
                "user 9223372036854775809: counts has following, but number 9223372036854775809 has no name",
            ],
        ),
        (
            Row("names_by_number", key(&[REF])),
            None,
            &[
                "content \"post 1\": content has its row, but number 9223372036854775812 has no name",
                "number 9223372036854775812: names_by_number lacks its row",
                "content 9223372036854775812: item_counts has its row, but number 9223372036854775812 has no name",
            ],
        ),
        (
            Row("mutes", key(&[3, NOBODY])),
            Some(key(&[600])),
            &[
                "user 3: mutes has user 9223372036854775908, but number 9223372036854775908 has no name",
                "user 3: mutes_by_time lacks 600-9223372036854775908",
                "user 9223372036854775908: muted_by lacks user 3",
            ],
        ),
        (
            Row("reactions_by_user", [key(&[NOBODY]), vec![0], key(&[!1000, !10])].concat()),
            Some(key(&[2])),
            &[
                "user 9223372036854775908: reactions_by_user has \"like\" 1000-10, but number 9223372036854775908 has no name",
                "user 9223372036854775908: reactions_by_user has \"like\" 1000-10, which does not agree with reactions",
            ],
        ),
        (
            Row("topic_content", row(2, 1000, NOBODY)),
            Some(key(&[3])),
            &[
                "topic 2: topic_content has 1000-9223372036854775908, but number 9223372036854775908 has no name",
                "topic 2: topic_content has 1000-9223372036854775908, which does not agree with content",
            ],
        ),
    ]);
}

#[test]
fn findings_name_users_and_items_as_the_host_does() {
    compare(vec![
        (
            Row("inboxes", key(&[ALICE])),
            Some(EMPTY_INBOX.to_vec()),
            &["user \"alice\": inbox lacks 1000-\"post 1\" of source \"bob\""],
        ),
        (
            Row("inboxes", key(&[BOB])),
            Some(inbox(2000, POST, ALICE)),
            &["user \"bob\": inbox has 2000-\"post 1\" of source \"alice\" that the user does not follow"],
        ),
        (
            Row("outbox", row(BOB, 1000, POST)),
            None,
            &[
                "user \"alice\": inbox has 1000-\"post 1\" of source \"bob\" that is not in the outbox",
                "user \"bob\": outbox lacks 1000-\"post 1\"",
                "user \"bob\": count of content is 1, expected 0",
            ],
        ),
        (
            Row("followers", key(&[BOB, ALICE])),
            None,
            &["user \"bob\": followers lacks user \"alice\"", "user \"bob\": count of followers is 1, expected 0"],
        ),
        (
            Row("item_counts", key(&[POST])),
            Some([0_i64, 1].map(i64::to_le_bytes).concat()),
            &["content \"post 1\": count of reposts is 1, expected 0"],
        ),
    ]);
}
