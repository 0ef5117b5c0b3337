//! The bytes of inboxes, and damaged bytes.

use proptest::prelude::*;

use super::*;

fn cursor(at: u64, id: u64) -> Cursor {
    Cursor { at, id: ContentId::new(id).expect("in range") }
}

fn user(raw: u64) -> UserId {
    UserId::new(raw).expect("in range")
}

fn entry(at: u64, id: u64, author: u64) -> Entry {
    Entry::plain(cursor(at, id), user(author))
}

/// The parts of packed bytes.
type Parts = (Option<Cursor>, Vec<Entry>, Vec<Place>);

fn parts(bytes: &[u8]) -> Result<Parts, Damaged> {
    let Packed { floor, entries, removed } = Packed::read(bytes)?;
    Ok((floor, entries.collect::<Result<_, _>>()?, removed.collect::<Result<_, _>>()?))
}

#[test]
fn the_bytes_are_these() {
    let repost = Entry { kind: KindId(3), audience: Audience::Followers, author: user(9), ..entry(1000, 5, 2) };
    let entries = [entry(1000, 7, 300), repost, entry(990, 6, (1 << 63) + 1)];
    let bytes = pack(Some(cursor(1, 2)), &entries, &[(cursor(980, 4), user(1))]);
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(
        hex,
        "0203\
         0000000000000001\
         0000000000000002\
         0304e807000a\
         030e0302\
         04d8040403\
         03010f12\
         0102d40701080102"
    );
    assert_eq!(pack(None, &[], &[]), [2, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn more_entries_than_bytes_are_refused() {
    let bytes = pack(None, &[entry(1000, 7, 300), entry(1000, 5, 2)], &[(cursor(980, 4), user(1))]);
    let huge = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1];
    for count in [&[9][..], &huge] {
        let damaged = [&bytes[..2], count, &bytes[3..]].concat();
        assert!(Packed::read(&damaged).is_err());
    }
}

#[test]
fn damaged_bytes_are_refused_and_never_panic() {
    let entries = [entry(1000, 7, 300), entry(1000, 5, 2).by(user(3)), entry(990, 6, 1)];
    let bytes = pack(Some(cursor(1, 2)), &entries, &[(cursor(980, 4), user(1))]);
    assert!(parts(&bytes).is_ok());
    for length in 0..bytes.len() {
        assert_eq!(parts(&bytes[..length]), Err(Damaged), "{length} bytes");
    }
    assert_eq!(parts(&[&bytes[..], &[0]].concat()), Err(Damaged));
    for bit in 0..8 * bytes.len() {
        let mut bytes = bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        if let Ok((_, entries, removed)) = parts(&bytes) {
            assert!(entries.is_sorted_by(|a, b| place(a) > place(b)) && removed.is_sorted_by(|a, b| a > b));
        }
    }
}

prop_compose! {
    fn entries()(
        of in prop::collection::vec(
            (0..=model::MAX_MILLIS, 1..=u64::MAX, 1..=u64::MAX, prop::option::of((1..=u64::MAX, any::<u8>()))),
            0..50,
        ),
    ) -> Vec<Entry> {
        let entry = |(at, id, source, details): (u64, u64, u64, Option<(u64, u8)>)| match details {
            None => entry(at, id, source),
            Some((author, kind)) => Entry { kind: KindId(kind), ..entry(at, id, source).by(user(author)) },
        };
        let mut entries: Vec<_> = of.into_iter().map(entry).collect();
        entries.sort_unstable_by(|a, b| b.cmp(a));
        entries.dedup_by_key(|entry| place(entry));
        entries
    }
}

proptest! {
    #[test]
    fn packed_entries_are_read_back(
        floor in prop::option::of((0..=model::MAX_MILLIS, 1..=u64::MAX)),
        added in entries(),
        removed in entries(),
        split in 0..50_usize,
    ) {
        let floor = floor.map(|(at, id)| cursor(at, id));
        let removed: Vec<_> = removed.iter().map(place).collect();
        let bytes = pack(floor, &added, &removed);
        prop_assert_eq!(parts(&bytes), Ok((floor, added.clone(), removed)));
        // Any part of them can be copied below others.
        let packed = Packed::read(&bytes).expect("reads").entries;
        let mut rest = packed;
        let mut newer: Vec<_> = rest.by_ref().take(split).collect::<Result<_, _>>().expect("reads");
        let again = pack_onto(floor, &newer, rest).expect("packs");
        prop_assert_eq!(&again, &pack(floor, &added, &[]));
        let of_item = |place: &usize| *place > 0 && added.get(*place).map(|entry| entry.cursor) == added.get(place - 1).map(|entry| entry.cursor);
        let split = (0..=split.min(added.len())).rev().find(|place| *place == added.len() || !of_item(place)).expect("0");
        let (first, behind) = packed.split(split).expect("splits");
        prop_assert_eq!(behind, added.get(split).copied());
        newer.truncate(split);
        let first = pack_onto(floor, &[], first).expect("packs");
        prop_assert_eq!(parts(&first), Ok((floor, newer, vec![])));
    }
}
