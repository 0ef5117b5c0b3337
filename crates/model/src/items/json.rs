//! JSON that the application sends and gets back unchanged: `extra` and `media`.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::value::RawValue;

/// Most nested objects and arrays. The reader of a list must parse all of its items, and parsers have limits of their
/// own.
pub const MAX_DEPTH: usize = 32;

/// Declares JSON that is kept as text, and was checked when it was read.
macro_rules! texts {
    ($($(#[$doc:meta])+ $name:ident;)+) => {$(
        $(#[$doc])+
        #[derive(Debug, Clone, Serialize)]
        pub struct $name(Box<RawValue>);

        impl $name {
            /// The text.
            pub fn into_string(self) -> String {
                Box::<str>::from(self.0).into_string()
            }

            /// The bytes of the text.
            pub fn bytes(&self) -> usize {
                self.0.get().len()
            }

            /// The value of such a text for a line, so without line ends: where they are allowed, a space means the same.
            pub fn on_a_line(text: &str) -> Result<Self, String> {
                serde_json::from_str(&text.replace(['\n', '\r'], " ")).map_err(|e| e.to_string())
            }
        }
    )+};
}

texts! {
    /// The text of a JSON object, checked: well-formed, no key twice in one object, at most
    /// [`MAX_DEPTH`] deep.
    JsonObject;
    /// The text of a JSON array of media: objects that each have a string `type` and a string `url`.
    MediaList;
}

impl<'de> Deserialize<'de> for JsonObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut raw = Box::<RawValue>::deserialize(deserializer)?;
        // PHP writes an empty object so.
        if raw.get().strip_prefix('[').is_some_and(|rest| rest.trim_start() == "]") {
            raw = RawValue::from_string("{}".to_owned()).map_err(de::Error::custom)?;
        }
        if !raw.get().starts_with('{') {
            return Err(de::Error::custom("expected a JSON object"));
        }
        check(raw.get()).map_err(de::Error::custom)?;
        Ok(Self(raw))
    }
}

impl<'de> Deserialize<'de> for MediaList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        if !raw.get().starts_with('[') {
            return Err(de::Error::custom("media: expected an array of objects"));
        }
        check(raw.get()).map_err(de::Error::custom)?;
        // Not as `serde_json::Value`: that misreads an object with a key private to serde_json.
        let items: Vec<Fields<'_>> = serde_json::from_str(raw.get()).map_err(de::Error::custom)?;
        for item in &items {
            for field in ["type", "url"] {
                if !item.get(field).is_some_and(|value| value.get().starts_with('"')) {
                    return Err(de::Error::custom(format!(
                        "media: each object needs the field \"{field}\" with a string"
                    )));
                }
            }
        }
        Ok(Self(raw))
    }
}

/// The fields of an object, each value as text. Names are in the order of their bytes.
type Fields<'a> = BTreeMap<String, &'a RawValue>;

/// JSON without its spaces, with the keys of each object in order and each string written in one way. Numbers stay
/// as written: any other form may lose digits. For checked text; any other comes back as it is.
pub fn canonical(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    match write_canonical(json.trim(), &mut text) {
        Ok(()) => text,
        Err(_) => json.to_owned(),
    }
}

fn write_canonical(json: &str, text: &mut String) -> serde_json::Result<()> {
    match json.as_bytes().first() {
        Some(b'{') => {
            let fields: Fields<'_> = serde_json::from_str(json)?;
            for (index, (name, value)) in fields.iter().enumerate() {
                text.push(if index == 0 { '{' } else { ',' });
                text.push_str(&serde_json::to_string(name)?);
                text.push(':');
                write_canonical(value.get(), text)?;
            }
            text.push_str(if fields.is_empty() { "{}" } else { "}" });
        }
        Some(b'[') => {
            let elements: Vec<&RawValue> = serde_json::from_str(json)?;
            for (index, element) in elements.iter().enumerate() {
                text.push(if index == 0 { '[' } else { ',' });
                write_canonical(element.get(), text)?;
            }
            text.push_str(if elements.is_empty() { "[]" } else { "]" });
        }
        Some(b'"') => text.push_str(&serde_json::to_string(&serde_json::from_str::<String>(json)?)?),
        _ => text.push_str(json),
    }
    Ok(())
}

/// Checks well-formed JSON for its depth, for names that occur twice in an object, and for strings that are no text. Numbers
/// are any: nothing reads them here.
fn check(json: &str) -> Result<(), String> {
    // The names of each open object; none of an array.
    let mut open: Vec<Option<HashSet<String>>> = Vec::new();
    let mut rest = json;
    while let Some(first) = rest.chars().next() {
        let mut length = first.len_utf8();
        match first {
            '{' | '[' if open.len() == MAX_DEPTH => {
                return Err(format!("JSON is nested more than {MAX_DEPTH} levels deep"));
            }
            '{' | '[' => open.push((first == '{').then(HashSet::new)),
            '}' | ']' => drop(open.pop()),
            '"' => {
                let mut strings = serde_json::Deserializer::from_str(rest).into_iter::<String>();
                let text = strings.next().transpose().map_err(|e| e.to_string())?.unwrap_or_default();
                length = strings.byte_offset();
                let is_name = rest.get(length..).is_some_and(|after| after.trim_start().starts_with(':'));
                if let Some(Some(names)) = open.last_mut().filter(|_| is_name)
                    && let Some(twice) = names.replace(text)
                {
                    return Err(format!("duplicate field `{twice}`"));
                }
            }
            _ => {}
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_comes_back_byte_for_byte() {
        for text in [
            r#"{"b":1.50, "a":{"x":[1e2,"é\n"]}}"#,
            r#"{"a":-1e400,"b":[{"a":1}, {"a" : "\":"}],"c":["a","a",0.00000000000000000001]}"#,
        ] {
            assert_eq!(serde_json::from_str::<JsonObject>(text).expect("object").into_string(), text);
        }
        for empty in ["[]", "[ \n]"] {
            assert_eq!(serde_json::from_str::<JsonObject>(empty).expect("an empty object").into_string(), "{}");
        }
    }

    #[test]
    fn other_json_is_no_object() {
        for bad in
            ["[1]", "1", "null", r#"{"a":1,"\u0061" :2}"#, r#"{"a":{"b":1,"b":2}}"#, r#"{"a":"\ud800"}"#, r#"{"a":01}"#]
        {
            assert!(serde_json::from_str::<JsonObject>(bad).is_err(), "{bad}");
        }
        let deep = |levels| format!("{{\"a\":{}{}}}", "[".repeat(levels - 1), "]".repeat(levels - 1));
        assert!(serde_json::from_str::<JsonObject>(&deep(MAX_DEPTH)).is_ok());
        for levels in [MAX_DEPTH + 1, 127, 5000] {
            assert!(serde_json::from_str::<JsonObject>(&deep(levels)).is_err(), "{levels}");
        }
    }

    #[test]
    fn canonical_text_tells_meanings_apart() {
        for (json, text) in [
            (r#" { "b" : [ 2 , { } , [ ] ] , "a" : "\u0041\/" } "#, r#"{"a":"A/","b":[2,{},[]]}"#),
            (r#"{"a":null,"b":[true,false]}"#, r#"{"a":null,"b":[true,false]}"#),
            (r#"{"ü":1,"z":2,"\u0061":3}"#, r#"{"a":3,"z":2,"ü":1}"#),
            (r#"[1e400,1.50,-0,123456789012345678901234567890]"#, "[1e400,1.50,-0,123456789012345678901234567890]"),
            (r#"{"$serde_json::private::RawValue":"1"}"#, r#"{"$serde_json::private::RawValue":"1"}"#),
            ("[", "["),
        ] {
            assert_eq!(canonical(json), text, "{json}");
        }
        let ordinary = r#"{"b":{"y":[1,-2,0.5],"x":"é\n\"\\"},"a":[{"k":null}]}"#;
        let value: serde_json::Value = serde_json::from_str(ordinary).expect("JSON");
        assert_eq!(canonical(ordinary), value.to_string());
    }
}
