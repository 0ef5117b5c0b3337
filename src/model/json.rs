//! JSON that the host hands over and gets back untouched: `extra` and `media`.

use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The text of a JSON object, checked: well-formed, no key twice in one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonObject(Box<str>);

/// The text of a JSON array of media: objects that each have a string `type` and a string `url`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaList(Box<str>);

impl JsonObject {
    /// The text.
    pub fn into_string(self) -> String {
        self.0.into()
    }
}

impl MediaList {
    /// The text.
    pub fn into_string(self) -> String {
        self.0.into()
    }
}

impl<'de> Deserialize<'de> for JsonObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        if !raw.get().starts_with('{') {
            return Err(de::Error::custom("expected a JSON object"));
        }
        check(raw.get(), Checked).map_err(de::Error::custom)?;
        Ok(Self(raw.get().into()))
    }
}

impl<'de> Deserialize<'de> for MediaList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        if !raw.get().starts_with('[') {
            return Err(de::Error::custom("media: expected an array of objects"));
        }
        check(raw.get(), Checked).map_err(de::Error::custom)?;
        let items: Vec<serde_json::Value> = serde_json::from_str(raw.get()).map_err(de::Error::custom)?;
        for item in &items {
            for field in ["type", "url"] {
                if !item.get(field).is_some_and(serde_json::Value::is_string) {
                    return Err(de::Error::custom(format!("media: every item needs a string \"{field}\"")));
                }
            }
        }
        Ok(Self(raw.get().into()))
    }
}

fn check(text: &str, seed: Checked) -> serde_json::Result<()> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    seed.deserialize(&mut deserializer)?;
    deserializer.end()
}

/// Walks any JSON value and keeps nothing of it; refuses a key that comes twice.
#[derive(Clone, Copy)]
struct Checked;

impl<'de> DeserializeSeed<'de> for Checked {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Checked {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }
    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(self)?.is_some() {}
        Ok(())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if seen.contains(&key) {
                return Err(de::Error::custom(format!("duplicate field `{key}`")));
            }
            map.next_value_seed(self)?;
            seen.insert(key);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_comes_back_byte_for_byte() {
        let text = r#"{"b":1.50, "a":{"x":[1e2,"é\n"]}}"#;
        assert_eq!(serde_json::from_str::<JsonObject>(text).expect("object").into_string(), text);
    }

    #[test]
    fn what_is_not_one_is_refused() {
        for bad in
            ["[]", "1", "null", r#"{"a":1,"a":2}"#, r#"{"a":{"b":1,"b":2}}"#, r#"{"a":"\ud800"}"#, r#"{"a":1e999}"#]
        {
            assert!(serde_json::from_str::<JsonObject>(bad).is_err(), "{bad}");
        }
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(5000), "]".repeat(5000));
        assert!(serde_json::from_str::<JsonObject>(&deep).is_err());
    }

    #[test]
    fn media_need_type_and_url() {
        assert!(serde_json::from_str::<MediaList>(r#"[{"type":"image","url":"u","w":1}]"#).is_ok());
        assert!(serde_json::from_str::<MediaList>("[]").is_ok());
        for bad in [
            "{}",
            "[1]",
            r#"[{"type":"image"}]"#,
            r#"[{"type":1,"url":"u"}]"#,
            r#"[{"type":"a","type":"b","url":"u"}]"#,
        ] {
            assert!(serde_json::from_str::<MediaList>(bad).is_err(), "{bad}");
        }
    }
}
