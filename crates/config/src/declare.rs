//! The macro that declares all settings in one table, and the ranges of their values.

use std::fmt::Display;
use std::ops::RangeInclusive;

/// Declares the sections, [`Config`] and [`Agreed`]. A setting is `name: type = default;` or `name: type = default, range;`.
/// `=> name` at its end is for one that decides outcomes and pages, so that all nodes of a cluster share it: the name that it has
/// in the command log.
macro_rules! settings {
    ($(
        $(#[$about:meta])*
        $section:ident: $Section:ident {
            $($(#[$attribute:meta])* $key:ident: $type:ty = $default:expr $(, $range:expr)? $(=> $agreed:ident)?;)*
        }
    )*) => {
        $(
            $(#[$about])*
            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
            #[serde(default, deny_unknown_fields)]
            pub struct $Section {
                $($(#[$attribute])* pub $key: $type,)*
            }

            impl Default for $Section {
                fn default() -> Self {
                    Self { $($key: $default,)* }
                }
            }
        )*

        /// All settings.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Config {
            $($(#[$about])* pub $section: $Section,)*
            /// Receivers of the feed of changes.
            #[serde(skip_serializing_if = "Vec::is_empty")]
            pub webhooks: Vec<$crate::Webhook>,
        }

        /// Settings in force on all nodes. They stand in the command log; a node uses them in place of its own.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Agreed {
            $($($(pub(super) $agreed: $type,)?)*)*
        }

        impl Config {
            /// The present values of the settings that all nodes must share.
            pub fn agreed(&self) -> Agreed {
                Agreed { $($($($agreed: Clone::clone(&self.$section.$key),)?)*)* }
            }

            /// Takes over the values of the command log. Returns the names of the settings that had other values.
            pub fn adopt(&mut self, agreed: &Agreed) -> Vec<&'static str> {
                let mut differ = Vec::new();
                $($($(
                    if self.$section.$key != agreed.$agreed {
                        self.$section.$key = Clone::clone(&agreed.$agreed);
                        differ.push(concat!(stringify!($section), ".", stringify!($key)));
                    }
                )?)*)*
                differ
            }

            /// The first setting with a value out of its range: its name, and the detail.
            pub(super) fn check_ranges(&self) -> Result<(), (&'static str, String)> {
                $($($(
                    let name = concat!(stringify!($section), ".", stringify!($key));
                    $crate::declare::check(&self.$section.$key, &$range).map_err(|detail| (name, detail))?;
                )?)*)*
                Ok(())
            }

            /// The settings with the greatest values of their ranges.
            pub fn greatest() -> Self {
                let mut config = Self::default();
                $($($(config.$section.$key = $range.into_inner().1;)?)*)*
                config
            }

            /// The range of a setting in words, if it has one.
            pub fn range_of(name: &str) -> Option<String> {
                $($($(
                    if name == concat!(stringify!($section), ".", stringify!($key)) {
                        return Some($crate::declare::in_words(&$range));
                    }
                )?)*)*
                None
            }
        }
    };
}

pub(super) use settings;

/// Refuses a value out of a range.
pub(super) fn check<T: PartialOrd + Display>(value: &T, range: &RangeInclusive<T>) -> Result<(), String> {
    let refusal = || format!("expected a value {}, not {value}", in_words(range));
    if range.contains(value) { Ok(()) } else { Err(refusal()) }
}

pub(super) fn in_words<T: Display>(range: &RangeInclusive<T>) -> String {
    format!("from {} to {}", range.start(), range.end())
}
