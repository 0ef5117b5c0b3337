//! Bodies of requests: any text is read or refused, and JSON has one canonical form.

use model::{NewComment, NewContent, ContentEdit, NewProfile, canonical};

/// Any text, as each of the bodies.
pub fn bodies(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Ok(new_item) = serde_json::from_str::<NewContent>(text) {
        if let Some(extra) = new_item.extra {
            is_canonical(&extra.into_string());
        }
        if let Some(media) = new_item.media {
            is_canonical(&media.into_string());
        }
    }
    _ = serde_json::from_str::<NewComment>(text);
    _ = serde_json::from_str::<ContentEdit>(text);
    _ = serde_json::from_str::<NewProfile>(text);
}

/// The canonical form means the same, and is its own canonical form.
fn is_canonical(json: &str) {
    let once = canonical(json);
    assert_eq!(canonical(&once), once);
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    if let Some(meaning) = value(json) {
        assert_eq!(value(&once), Some(meaning));
    }
}
