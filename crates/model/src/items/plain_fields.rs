//! Fields of items that hold no ids, and how their values are kept.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::{JsonObject, MediaList, Topics, canonical};

/// A type of the plain fields of an item, with the functions that tell how its values are kept.
pub trait Field: Sized {
    /// A value as an item has it.
    type Kept;

    /// The value for the item; of a field left out, the default.
    const KEEP: fn(Option<Self>) -> Self::Kept;

    /// The value for a line of a file, where the default is left out. An error for one that no publish may have.
    const GIVE: fn(&Self::Kept) -> Result<Option<Self>, String>;

    /// The same text for all values that mean the same; none for the default. A publish with another one is no repeat.
    const MEANING: fn(&Self::Kept) -> Option<Cow<'_, str>>;

    /// The bytes of text in a kept value.
    const BYTES: fn(&Self::Kept) -> usize;
}

impl Field for bool {
    type Kept = Self;
    const KEEP: fn(Option<Self>) -> Self = Option::unwrap_or_default;
    const GIVE: fn(&Self) -> Result<Option<Self>, String> = |is_set| Ok(is_set.then_some(true));
    const MEANING: fn(&Self) -> Option<Cow<'_, str>> = |is_set| is_set.then(|| "true".into());
    const BYTES: fn(&Self) -> usize = |_| 0;
}

impl Field for String {
    type Kept = Option<Self>;
    const KEEP: fn(Option<Self>) -> Option<Self> = |text| text;
    const GIVE: fn(&Option<Self>) -> Result<Option<Self>, String> = |text| Ok(text.clone());
    const MEANING: fn(&Option<Self>) -> Option<Cow<'_, str>> = |text| text.as_deref().map(Cow::Borrowed);
    const BYTES: fn(&Option<Self>) -> usize = |text| text.as_ref().map_or(0, Self::len);
}

impl Field for MediaList {
    type Kept = String;
    const KEEP: fn(Option<Self>) -> String = |media| media.map_or_else(|| "[]".to_owned(), Self::into_string);
    const GIVE: fn(&String) -> Result<Option<Self>, String> =
        |media| (media != "[]").then(|| Self::on_a_line(media)).transpose();
    const MEANING: fn(&String) -> Option<Cow<'_, str>> =
        |media| Some(canonical(media)).filter(|media| media != "[]").map(Cow::Owned);
    const BYTES: fn(&String) -> usize = String::len;
}

impl Field for JsonObject {
    type Kept = Option<String>;
    const KEEP: fn(Option<Self>) -> Option<String> = |object| object.map(Self::into_string);
    const GIVE: fn(&Option<String>) -> Result<Option<Self>, String> =
        |object| object.as_deref().map(Self::on_a_line).transpose();
    const MEANING: fn(&Option<String>) -> Option<Cow<'_, str>> =
        |object| object.as_deref().map(canonical).filter(|object| object != "{}").map(Cow::Owned);
    const BYTES: fn(&Option<String>) -> usize = String::BYTES;
}

impl Field for Topics {
    type Kept = Vec<String>;
    const KEEP: fn(Option<Self>) -> Vec<String> = |topics| topics.map(Self::into_vec).unwrap_or_default();
    const GIVE: fn(&Vec<String>) -> Result<Option<Self>, String> =
        |topics| (!topics.is_empty()).then(|| Self::try_from(topics.clone())).transpose();
    const MEANING: fn(&Vec<String>) -> Option<Cow<'_, str>> = |topics| {
        let set: BTreeSet<_> = topics.iter().collect();
        // Strings always make JSON.
        (!set.is_empty()).then(|| serde_json::to_string(&set).unwrap_or_default().into())
    };
    const BYTES: fn(&Vec<String>) -> usize =
        |topics| topics.iter().map(|topic| size_of::<String>() + topic.len()).sum();
}
