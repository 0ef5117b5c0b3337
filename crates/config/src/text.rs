//! Values that are written as one text, in the file of settings and in variables.

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

/// Reads values by their `read`, and writes them as they are displayed, also for debugging: so no output has a secret.
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

pub(super) use {as_text, from_text};
