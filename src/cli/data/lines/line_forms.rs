//! Declarations and fields that the lines of several tables share.

use serde::{Deserialize, Serialize};

use crate::cli::data::import::refusal::{INVALID_FIELD, Refusal};
use feed::{Command, ImportLine};
use model::{KindNames, Millis, NamedRule, Time, is_topic, kinds_of_rule};

/// Declares lines. Of the fields behind the first semicolon each may be left out, or `null`; those behind the second one have no
/// column in CSV.
macro_rules! lines {
    ($($(#[doc = $doc:literal])+ $line:ident {
        $first:ident: $type:ty $(, $needed:ident: $of_needed:ty)*;
        $($optional:ident: $of:ty),* $(; $($more:ident: $of_more:ty),+)?
    })+) => {$(
        $(#[doc = $doc])+
        #[derive(Debug, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct $line {
            $first: $type,
            $($needed: $of_needed,)*
            $(
                #[serde(skip_serializing_if = "Option::is_none")]
                $optional: Option<$of>,
            )*
            $($(
                #[serde(skip_serializing_if = "Option::is_none")]
                $more: Option<$of_more>,
            )+)?
        }

        impl $line {
            /// The columns of CSV. Those in brackets may be missing.
            pub(super) const COLUMNS: &str =
                concat!(stringify!($first) $(, ",", stringify!($needed))* $(, "[,", stringify!($optional), "]")*);
        }
    )+};
}
pub(super) use lines;

/// The kinds of a rule. None are no rule.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Kinds(#[serde(deserialize_with = "kinds_of_rule")] Option<KindNames>);

/// The fields `only` and `except` of a rule.
pub(super) fn kinds(rule: NamedRule) -> (Option<Kinds>, Option<Kinds>) {
    let (only, except) = rule.fields();
    let given = |names: Option<_>| names.map(|names| Kinds(Some(names)));
    (given(only), given(except))
}

/// The rule of the fields `only` and `except`.
pub(super) fn rule(only: Option<Kinds>, except: Option<Kinds>) -> Result<NamedRule, Refusal> {
    let names = |kinds: Option<Kinds>| kinds.and_then(|Kinds(names)| names);
    let rule = NamedRule::of(names(only), names(except));
    rule.map_err(|reason| Refusal::of_line(INVALID_FIELD, format_args!("only and except: {reason}")))
}

/// A change that has a time only in an import.
pub(super) fn alone(change: impl Into<Command>, since: Option<Time>) -> Command {
    ImportLine { change: Box::new(change.into()), since: at(since) }.into()
}

pub(super) fn at(time: Option<Time>) -> Option<Millis> {
    time.map(|Time(at)| at)
}

pub(super) fn list_name(name: String) -> Result<String, Refusal> {
    match is_topic(&name) {
        true => Ok(name),
        false => Err(Refusal::of_field(INVALID_FIELD, "list", "expected 1 to 64 characters", &name)),
    }
}
