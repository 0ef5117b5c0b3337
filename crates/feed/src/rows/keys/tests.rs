use super::*;
use model::{JobId, Lane, NoticeCursor, NoticeId, NoticeKind};

fn user(raw: u64) -> UserId {
    UserId::new(raw).expect("in range")
}

fn place(at: u64, id: u64) -> Cursor {
    Cursor { at, id: ContentId::new(id).expect("in range") }
}

#[test]
fn golden_bytes() {
    assert_eq!(*of(user(0x0102)), [0, 0, 0, 0, 0, 0, 1, 2]);
    assert_eq!(*of((user(1), user(0xFF))), [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xFF]);
    assert_eq!(
        *of((user(7), place(1, 2))),
        [
            0, 0, 0, 0, 0, 0, 0, 7, //
            0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE, //
            0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFD
        ]
    );
    assert_eq!(*of((user(u64::MAX >> 1), place(u64::MAX >> 1, u64::MAX >> 1))), {
        let mut key = [0; ROW];
        key[0] = 0x7F;
        key[1..8].fill(0xFF);
        key[8] = 0x80;
        key[16] = 0x80;
        key
    });
    assert_eq!(*of((user(1 << 63 | 1), Cursor::NEWEST)), {
        let mut key = [0; ROW];
        key[0] = 0x80;
        key[7] = 1;
        key[8] = 0x80;
        key
    });
    let lane = Lane::new(0x0203).expect("a lane");
    assert_eq!(*of(JobId { lane, seq: 0xFF00 }), [2, 3, 0, 0, 0, 0, 0, 0, 0xFF, 0]);
    assert_eq!(*of((place(1, 2).id, 7_u8, user(3))), [0, 0, 0, 0, 0, 0, 0, 2, 7, 0, 0, 0, 0, 0, 0, 0, 3]);
    let at = Position { at: 8, id: user(9) };
    let row = of((2_u64, at));
    assert_eq!(*of((2_u64, 7_u8, at)), {
        let mut key = [7_u8; ROW + 1];
        key[..8].copy_from_slice(&row[..8]);
        key[9..].copy_from_slice(&row[8..]);
        key
    });
    assert_eq!((user(1), "é").bytes(), [0, 0, 0, 0, 0, 0, 0, 1, 0xC3, 0xA9]);
    assert_eq!(*of((place(1, 2).id, user(3))), [0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3]);
    assert_eq!(*of((place(1, 2).id, at)), *row);
    assert_eq!(*of((user(1), Counter::Following)), [0, 0, 0, 0, 0, 0, 0, 1, 1]);
    assert_eq!(*of((user(1), Counter::Followers)), [0, 0, 0, 0, 0, 0, 0, 1, 2]);
}

#[test]
fn a_key_names_users_and_an_item() {
    let id = place(1, 2).id;
    let named = |parts, key: &[u8]| (users(parts, key).collect::<Vec<_>>(), item(parts, key));
    assert_eq!(named(<(ContentId, u8, UserId) as Parts>::PARTS, &of((id, 7_u8, user(3)))), (vec![user(3)], Some(2)));
    assert_eq!(named(<(UserId, ContentId) as Parts>::PARTS, &of((user(3), id))), (vec![user(3)], Some(2)));
    assert_eq!(named(<(UserId, UserId) as Parts>::PARTS, &of((user(3), user(4)))), (vec![user(3), user(4)], None));
}

#[test]
fn newer_notices_come_first_and_round_trip() {
    let mut places = Vec::new();
    for (at, kind, reaction) in [(5, 1, 0), (5, 4, 0), (5, 4, 1), (0x100, 7, 0)] {
        for (actor, item) in [(1, None), (1, ContentId::new(1).ok()), (0x100, None), (1 << 63 | 1, None)] {
            let kind = NoticeKind::of(kind).expect("a kind");
            places.push(NoticeCursor { at, id: NoticeId { kind, reaction, actor: user(actor), item } });
        }
    }
    places.sort_unstable_by(|a, b| b.cmp(a));
    let keys: Vec<_> = places.iter().map(|place| of((user(7), *place)).to_vec()).collect();
    assert!(keys.is_sorted());
    assert!(keys.iter().all(|key| key[..] > id(7)[..] && key[..] < *tail(7)));
    let back: Vec<(UserId, NoticeCursor)> = keys.iter().filter_map(|key| read(key)).collect();
    assert_eq!(back, places.iter().map(|place| (user(7), *place)).collect::<Vec<_>>());
    assert_eq!(read::<(UserId, NoticeCursor)>(&keys[0][..33]), None);
    let golden = of((user(1), NoticeCursor::begin_of(2)));
    assert_eq!(golden[..18], [0, 0, 0, 0, 0, 0, 0, 1, 255, 255, 255, 255, 255, 255, 255, 253, 254, 255]);
    assert_eq!(golden[18..], [255, 255, 255, 255, 255, 255, 255, 254, 255, 255, 255, 255, 255, 255, 255, 255]);
}

#[test]
fn newest_sorts_first_after_the_head_and_within_the_partition() {
    let bytes = [0, 1, 0xFE, 0xFF, 0x100, 0xFF00, 0xFFFF, 0x10000, u64::MAX >> 1];
    let mut places = Vec::new();
    for at in bytes {
        places.extend(bytes.iter().skip(1).chain(&[(1 << 63) + 1, u64::MAX]).map(|id| place(at, *id)));
    }
    places.sort_unstable_by(|a, b| b.cmp(a));
    let author = user(0xFF);
    let keys: Vec<_> = places.iter().map(|place| of((author, *place)).to_vec()).collect();
    assert!(keys.is_sorted());
    assert!(keys.iter().all(|key| *head(0xFF) < key[..] && key[..] < *tail(0xFF)));
    assert!(*tail(0xFE) < *head(0xFF));
    assert!(is_head(&head(0xFF)) && !is_head(&keys[0]));
}
