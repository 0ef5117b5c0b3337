//! The types of keys: a table declares one, and takes the keys of it.

use super::{ID, KeyBytes, Part, Parts, id, of, read};
use model::nickname::beginnings;
use model::{Profile, UserId};

/// The keys of a table.
pub(crate) trait KeyType {
    const PARTS: &'static [Part];
}

impl<P: Parts> KeyType for P {
    const PARTS: &'static [Part] = P::PARTS;
}

/// A key of a table with keys of `K`.
pub(crate) trait Key<K> {
    type Bytes: AsRef<[u8]> + Into<Vec<u8>>;

    fn bytes(&self) -> Self::Bytes;
}

impl<P: Parts> Key<P> for P {
    type Bytes = KeyBytes;

    fn bytes(&self) -> KeyBytes {
        of(*self)
    }
}

impl<P: Parts> Key<P> for &P {
    type Bytes = KeyBytes;

    fn bytes(&self) -> KeyBytes {
        of(**self)
    }
}

macro_rules! texts {
    ($($(#[$doc:meta])* $text:ident = $what:literal),+) => {
        $(
            $(#[$doc])*
            pub(crate) struct $text;

            impl KeyType for $text {
                const PARTS: &'static [Part] = &[Part::Text($what)];
            }

            impl<'t> Key<$text> for &'t str {
                type Bytes = &'t [u8];

                fn bytes(&self) -> Self::Bytes {
                    self.as_bytes()
                }
            }
        )+
    };
}

texts!(TopicName = "topic", Name = "name", Note = "name of a note", ErasureHash = "hash of the id");

/// The name of a list, with its user.
pub(crate) struct ListName;

impl KeyType for ListName {
    const PARTS: &'static [Part] = &[Part::USER, Part::Name("list")];
}

impl Key<ListName> for (UserId, &str) {
    type Bytes = Vec<u8>;

    fn bytes(&self) -> Self::Bytes {
        [&id(self.0.get()), self.1.as_bytes()].concat()
    }
}

/// A beginning of a nickname, with its user.
pub(crate) struct Nickname;

impl KeyType for Nickname {
    const PARTS: &'static [Part] = &[Part::Beginning, Part::USER];
}

impl Nickname {
    /// The keys by which a user with this profile is found: of each beginning of the nickname, which has no control
    /// characters, and of the user.
    pub(crate) fn keys(profile: &Profile, user: UserId) -> impl Iterator<Item = Vec<u8>> {
        let beginnings = profile.nickname.as_deref().map(beginnings).unwrap_or_default();
        beginnings.into_iter().map(move |beginning| [beginning.as_bytes(), &[0], &id(user.get())].concat())
    }

    /// Reads such a key.
    pub(crate) fn read(key: &[u8]) -> Option<(&str, UserId)> {
        let (beginning, user) = key.split_last_chunk::<ID>()?;
        Some((std::str::from_utf8(beginning.strip_suffix(&[0])?).ok()?, read(user)?))
    }
}
