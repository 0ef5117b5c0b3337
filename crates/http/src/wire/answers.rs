//! The declaration of the objects that calls answer.

/// Declares objects that calls answer, as `struct Type as Name { … }` with the name in the OpenAPI document, if it is another one.
///
/// A field is `name: Type`, or `name?: Type` if it is left out without a value. Behind `as` is the type that the document tells, if
/// it is another one.
///
/// With arguments behind its name, `new` makes the object of them: a field is `(name: Type) = value;` then, behind
/// what the values share. `-> Result` behind the arguments is for values that may fail.
macro_rules! answers {
    () => {};
    (@type) => { Self };
    (@type Result) => { model::error::Result<Self> };
    (@made $made:block) => { $made };
    (@made Result $made:block) => { Ok($made) };
    (
        $(#[$about:meta])* $vis:vis struct $Type:ident $(<$of:lifetime>)? $(as $Name:ident)? ($($arg:ident: $A:ty),+) $(-> $Fallible:ident)? {
            $(let $known:pat = $found:expr;)* $($(#[$told:meta])* ($seen:vis $field:ident $($declared:tt)+) = $value:expr;)+
        }
        $($more:tt)*
    ) => {
        $crate::wire::answers::answers! {
            $(#[$about])* $vis struct $Type $(<$of>)? $(as $Name)? { $($(#[$told])* $seen $field $($declared)+,)+ }
        }
        impl $(<$of>)? $Type $(<$of>)? {
            $vis fn new($($arg: $A),+) -> $crate::wire::answers::answers!(@type $($Fallible)?) {
                $(let $known = $found;)*
                $crate::wire::answers::answers!(@made $($Fallible)? { Self { $($field: $value,)+ } })
            }
        }
        $crate::wire::answers::answers! { $($more)* }
    };
    ($(#[$about:meta])* $vis:vis struct $Type:ident $(<$of:lifetime>)? $(as $Name:ident)? { $($fields:tt)* } $($more:tt)*) => {
        $crate::wire::answers::answers! { @
            { $(#[$about])* $(#[schema(as = $Name)])? $vis struct $Type $(<$of>)? } {} $($fields)*
        }
        $crate::wire::answers::answers! { $($more)* }
    };
    (@ $head:tt { $($done:tt)* } $(#[$told:meta])* $vis:vis $field:ident?: $T:ty as $S:ty, $($rest:tt)*) => {
        $crate::wire::answers::answers! { @ $head { $($done)*
            $(#[$told])* #[serde(skip_serializing_if = "Option::is_none")] #[schema(value_type = $S)] $vis $field: Option<$T>,
        } $($rest)* }
    };
    (@ $head:tt { $($done:tt)* } $(#[$told:meta])* $vis:vis $field:ident?: $T:ty, $($rest:tt)*) => {
        $crate::wire::answers::answers! { @ $head { $($done)*
            $(#[$told])* #[serde(skip_serializing_if = "Option::is_none")] #[schema(nullable = false)] $vis $field: Option<$T>,
        } $($rest)* }
    };
    (@ $head:tt { $($done:tt)* } $(#[$told:meta])* $vis:vis $field:ident: $T:ty as $S:ty, $($rest:tt)*) => {
        $crate::wire::answers::answers! { @ $head { $($done)*
            $(#[$told])* #[schema(value_type = $S)] $vis $field: $T,
        } $($rest)* }
    };
    (@ $head:tt { $($done:tt)* } $(#[$told:meta])* $vis:vis $field:ident: $T:ty, $($rest:tt)*) => {
        $crate::wire::answers::answers! { @ $head { $($done)* $(#[$told])* $vis $field: $T, } $($rest)* }
    };
    (@ { $($head:tt)* } { $($done:tt)* }) => {
        #[derive(Debug, serde::Serialize, utoipa::ToSchema)]
        $($head)* { $($done)* }
    };
}

pub(crate) use answers;
