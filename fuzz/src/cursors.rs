//! Ids and cursors as text: a text that is accepted is printed as it was given, and numbers keep their order.

use std::fmt::Display;
use std::str::FromStr;

use model::{ExternalId, MAX_NAME, Position, ReactionKinds, is_topic};

/// Any text, as an id and as a cursor.
pub fn cursors(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Ok(id) = text.parse::<ExternalId>() {
        assert!((1..=MAX_NAME).contains(&text.len()) && !text.chars().any(char::is_control));
        assert_eq!(id.to_string(), text, "an id is shown as it was given");
        let json = serde_json::to_string(text).expect("text");
        assert_eq!(serde_json::from_str::<ExternalId>(&json).expect("the same id in JSON"), id);
        if let ExternalId::Number(number) = id {
            assert_eq!(serde_json::from_str::<ExternalId>(&number.to_string()).expect("a number"), id);
        }
    }
    if let Ok(place) = text.parse::<Position<ExternalId>>() {
        assert_eq!(place.to_string(), text, "a cursor has one form");
        assert_eq!(place.to_string().parse::<Position<ExternalId>>().expect("its own text"), place);
    }
    _ = ReactionKinds::new(vec![text.to_owned()]);
    _ = is_topic(text);
}
