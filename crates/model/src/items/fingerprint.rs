//! The fingerprint of a publish, by which a repeat is recognised.

use std::collections::BTreeSet;

use crate::{Content, UserId};

/// A hash of the body without id, time and audience. Spaces and the order of keys in JSON do not change it, nor does the
/// order of topics, sources and mentions. A plain field without a value adds nothing, nor does an empty `extra`.
pub(super) fn fingerprint(content: &Content) -> u64 {
    let ids = |users: &[UserId]| {
        let set: BTreeSet<_> = users.iter().map(|user| user.get()).collect();
        set.iter().map(u64::to_string).collect::<Vec<_>>()
    };
    let body = (
        content.author.get().to_string(),
        &content.kind,
        content.ref_id.map(|id| id.get().to_string()),
        content.broadcast,
        ids(&content.to),
        ids(&content.mentions),
        content.meanings().collect::<Vec<_>>(),
    );
    let text = serde_json::to_vec(&body);
    // Strings, numbers and lists of them always make JSON.
    xxhash_rust::xxh3::xxh3_64(&text.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Audience, ContentId};

    fn hash(extra: &str) -> u64 {
        fingerprint(&content(extra))
    }

    fn content(extra: &str) -> Content {
        let (text, extra) = (Some("hi".to_owned()), Some(extra.to_owned()));
        Content { text, extra, ..Content::plain(ContentId::MIN, UserId::MIN, 1) }
    }

    #[test]
    fn a_fingerprint_is_of_the_meaning_and_stays_the_same_for_ever() {
        let first = hash(r#"{"a":1,"b":[2]}"#);
        assert_eq!(first, hash(r#"{ "b": [2], "a": 1 }"#));
        assert_ne!(first, hash(r#"{"a":1,"b":[3]}"#));
        for (one, other) in [
            (r#"{"a":12345678901234567890123}"#, r#"{"a":12345678901234567890124}"#),
            (r#"{"a":0.1}"#, r#"{"a":0.10000000000000001}"#),
            (r#"{"$serde_json::private::RawValue":"{\"a\":1,\"b\":[2]}"}"#, r#"{"a":1,"b":[2]}"#),
        ] {
            assert_ne!(hash(one), hash(other), "{one} {other}");
        }
        let mut followers_only = content(r#"{"a":1,"b":[2]}"#);
        followers_only.audience = Audience::Followers;
        assert_eq!(first, fingerprint(&followers_only), "the audience is compared apart");
        let mut mentioning = content(r#"{"a":1,"b":[2]}"#);
        mentioning.mentions = vec![UserId::MIN];
        assert_ne!(first, fingerprint(&mentioning));
        let with_sets = |order: [usize; 2]| {
            let users = order.map(|place| UserId::new(2 + place as u64).expect("in range")).to_vec();
            let topics = order.map(|place| ["sea", "tide"][place].to_owned()).to_vec();
            fingerprint(&Content { topics, to: users.clone(), mentions: users, ..content("{ }") })
        };
        assert_eq!(with_sets([0, 1]), with_sets([1, 0]));
        assert_eq!(hash("{ }"), fingerprint(&Content { extra: None, ..content("") }));
        assert_eq!(first, GOLDEN, "stored fingerprints would no longer match");
    }

    const GOLDEN: u64 = 4_346_747_942_049_967_083;
}
