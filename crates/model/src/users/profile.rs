//! Profiles of users.

use std::sync::LazyLock;

use regex_lite::Regex;
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::items::json::JsonObject;

/// Most characters of a nickname.
pub const MAX_NICKNAME: usize = 200;
/// Most characters of an avatar: the longest address that browsers and proxies accept.
pub const MAX_AVATAR: usize = 2048;

/// An avatar that the API takes, as a regular expression: an inline picture, or the whole address of one.
pub const AVATAR: &str = concat!(
    r"^([Dd][Aa][Tt][Aa]:[Ii][Mm][Aa][Gg][Ee]/[^\x00-\x1f\x7f]*",
    r"|[Hh][Tt][Tt][Pp][Ss]?://([^\x00-\x20\x7f/?#@\[\]\\:]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?([/?#][^\x00-\x20\x7f]*)?)$",
);

/// A profile. A field never set, or left out of the last one, is `None`.
///
/// In a log of commands it has been checked already; hosts send a [`NewProfile`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The name shown beside the user's content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nickname: Option<String>,
    /// A picture: [`AVATAR`]. An import takes any notation, as the API of earlier releases did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub avatar: Option<String>,
    /// The application's own data: a JSON object, kept as it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra: Option<String>,
}

/// A whole profile as an application sends it. In every field `null` means left out.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewProfile {
    /// 1 to [`MAX_NICKNAME`] characters.
    #[serde(default, deserialize_with = "nickname")]
    pub nickname: Option<String>,
    /// 1 to [`MAX_AVATAR`] characters that begin as [`AVATAR`] says.
    #[serde(default, deserialize_with = "avatar")]
    pub avatar: Option<String>,
    /// The application's own data.
    #[serde(default)]
    pub extra: Option<JsonObject>,
}

impl Profile {
    /// A profile from its parts, with the same limits as in a [`NewProfile`]; else the reason.
    pub fn checked(
        nickname: Option<String>,
        avatar: Option<String>,
        extra: Option<JsonObject>,
    ) -> Result<Self, String> {
        fits("nickname", nickname.as_deref(), MAX_NICKNAME)?;
        fits("avatar", avatar.as_deref(), MAX_AVATAR)?;
        Ok(Self { nickname, avatar, extra: extra.map(JsonObject::into_string) })
    }
}

impl From<NewProfile> for Profile {
    fn from(new_item: NewProfile) -> Self {
        let NewProfile { nickname, avatar, extra } = new_item;
        Self { nickname, avatar, extra: extra.map(JsonObject::into_string) }
    }
}

fn nickname<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    text(deserializer, "nickname", MAX_NICKNAME)
}

fn avatar<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let avatar = text(deserializer, "avatar", MAX_AVATAR)?;
    if avatar.as_deref().is_some_and(|avatar| !is_picture(avatar)) {
        let expected = "avatar: expected https:// or http:// with a host, without spaces, or data:image/";
        return Err(de::Error::custom(expected));
    }
    Ok(avatar)
}

/// Whether an avatar matches [`AVATAR`]. Any other text would be an address below the page that shows it, so it could be a
/// call of the API.
fn is_picture(avatar: &str) -> bool {
    static PATTERN: LazyLock<Result<Regex, regex_lite::Error>> = LazyLock::new(|| Regex::new(AVATAR));
    PATTERN.as_ref().is_ok_and(|pattern| pattern.is_match(avatar))
}

fn text<'de, D: Deserializer<'de>>(deserializer: D, name: &str, most: usize) -> Result<Option<String>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    fits(name, text.as_deref(), most).map_err(de::Error::custom)?;
    Ok(text)
}

fn fits(name: &str, text: Option<&str>, most: usize) -> Result<(), String> {
    match text {
        Some(text) if !(1..=most).contains(&text.chars().count()) => {
            Err(format!("{name}: expected 1 to {most} characters"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_avatar_is_an_inline_picture_or_a_whole_address() {
        // As programs that read the OpenAPI document may do.
        let pattern = regex::Regex::new(AVATAR).expect("a pattern");
        for (avatar, is_good) in [
            ("https://example.org/ann.png", true),
            ("http://example.org", true),
            ("data:image/png;base64,AAAA", true),
            ("", false),
            ("/v1/admin/stats", false),
            ("v1/admin/stats", false),
            ("ann.png", false),
            ("//example.org/ann.png", false),
            ("https:", false),
            ("https://", false),
            ("https:///v1/admin/stats", false),
            ("http://?", false),
            ("data:text/html,x", false),
            ("javascript:1", false),
            (" https://example.org", false),
            ("HTTPS://example.org/a b", false),
            ("HTTPS://Example.org:8443/a?b#c", true),
            ("DATA:image/svg+xml,<svg width=1 height=1>", true),
            ("https://[2001:db8::1]:80/a", true),
            ("https://[", false),
            ("https://[]", false),
            ("https://h:", false),
            ("https://h:123456", false),
            ("https://a:b:80", false),
            ("https:// /x", false),
            ("https://@/v1", false),
            ("https://user@example.org/x", false),
            ("https://h\\u0000", false),
            ("https://h/\\n", false),
            ("https://\\\\/v1", false),
            ("data:image/png,\\u0007", false),
            ("https://é.example/ü", true),
        ] {
            let text = format!(r#"{{"avatar":"{avatar}"}}"#);
            assert_eq!(serde_json::from_str::<NewProfile>(&text).is_ok(), is_good, "{avatar}");
            let avatar: String = serde_json::from_str(&format!("\"{avatar}\"")).expect("a string");
            assert_eq!(pattern.is_match(&avatar), is_good, "{avatar}");
        }
    }
}
