//! Choices of words.

/// Declares a choice of words: its values, each with its word, and perhaps with the code that stands for it in rows.
macro_rules! words {
    (
        $(#[$about:meta])*
        pub enum $Name:ident { $($(#[$doc:meta])+ $Value:ident $(= $code:literal)? => $word:literal,)+ }
    ) => {
        $(#[$about])*
        pub enum $Name {
            $($(#[$doc])+ $Value $(= $code)?,)+
        }

        impl From<$Name> for &'static str {
            fn from(value: $Name) -> Self {
                value.name()
            }
        }

        impl $Name {
            /// Every value, in the order of their declaration.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$Value),+];

            /// Its word.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$Value => $word,)+
                }
            }
        }
    };
}

pub(crate) use words;
