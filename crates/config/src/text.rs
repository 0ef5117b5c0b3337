//! Values that are written as one text, in the file of settings and in variables.

/// Most characters of a name of a node or of a webhook.
const MAX_NAME: usize = 64;

/// Reads values by their `read`.
macro_rules! from_text {
    ($($Value:ident)+) => {
        $(
            impl<'de> serde::Deserialize<'de> for $Value {
                fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                    Self::read(&String::deserialize(from)?).map_err(serde::de::Error::custom)
                }
            }
        )+
    };
}

/// Reads values by their `read`. Serializes and debugs them by their `Display`, so that no output has a secret.
macro_rules! as_text {
    ($($Value:ident)+) => {
        $crate::text::from_text! { $($Value)+ }
        $(
            impl serde::Serialize for $Value {
                fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                    to.collect_str(self)
                }
            }

            impl std::fmt::Debug for $Value {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    std::fmt::Display::fmt(self, f)
                }
            }
        )+
    };
}

/// Shows values as their only field.
macro_rules! shown_as_field {
    ($($Value:ident)+) => {
        $(
            impl std::fmt::Display for $Value {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    std::fmt::Display::fmt(&self.0, f)
                }
            }
        )+
    };
}

/// Declares a choice of words: its values, each with its word in the settings.
macro_rules! words {
    ($(#[$about:meta])* $Choice:ident { $($(#[$meaning:meta])* $Value:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $Choice {
            $($(#[$meaning])* #[serde(rename = $word)] $Value,)+
        }

        impl $Choice {
            /// All values.
            pub const ALL: &[Self] = &[$(Self::$Value,)+];

            /// Its word.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$Value => $word,)+
                }
            }
        }
    };
}

/// Whether a text is a name: letters of ASCII, digits, dots, hyphens and underscores, and not too many of them.
pub(super) fn is_name(text: &str) -> bool {
    text.len() <= MAX_NAME && text.bytes().all(|b| b.is_ascii_alphanumeric() || b".-_".contains(&b))
}

pub(super) use {as_text, from_text, shown_as_field, words};
