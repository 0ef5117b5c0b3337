//! Rows of profiles.

use serde::Deserialize;

use super::{Column, Columns, Field, INVALID_FIELD, Refusal, Row, Store, id, object};
use feed::{Feed, PutProfiles};
use model::{HostId, JsonObject, Profile};

impl Row for (HostId, Profile) {
    const TABLE: &'static str = "profiles";
    const STORE: Store<Self> = |feed: &Feed, profiles| feed.submit(PutProfiles { profiles });
    const COLUMNS: &'static [Column] = &[("user_id", true), ("nickname", false), ("avatar", false), ("extra", false)];

    fn from_fields(columns: &Columns, fields: &[Field<'_>]) -> Result<Self, Refusal> {
        columns.check(fields)?;
        let field = |column: usize| columns.get(fields, column);
        let user = id((Self::COLUMNS[0].0, field(0)))?;
        let extra =
            field(3).map(|text| object::<JsonObject>(text).map_err(|why| why.within("extra").showing(text.as_bytes())));
        let (nickname, avatar) = (field(1).map(str::to_owned), field(2).map(str::to_owned));
        Ok((user, checked(nickname, avatar, extra.transpose()?)?))
    }

    fn from_json(text: &str) -> Result<Self, Refusal> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Object {
            user_id: HostId,
            #[serde(default)]
            nickname: Option<String>,
            #[serde(default)]
            avatar: Option<String>,
            #[serde(default)]
            extra: Option<JsonObject>,
        }

        let Object { user_id, nickname, avatar, extra } = object(text)?;
        Ok((user_id, checked(nickname, avatar, extra)?))
    }

    fn ids(&self) -> impl Iterator<Item = &HostId> {
        [&self.0].into_iter()
    }
}

fn checked(nickname: Option<String>, avatar: Option<String>, extra: Option<JsonObject>) -> Result<Profile, Refusal> {
    Profile::checked(nickname, avatar, extra).map_err(|reason| Refusal::of_line(INVALID_FIELD, reason))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{csv, number, refused};
    use super::*;

    type UserProfile = (HostId, Profile);

    fn profile(nickname: Option<&str>, avatar: Option<&str>, extra: Option<&str>) -> Result<UserProfile, Refusal> {
        let own = |text: Option<&str>| text.map(str::to_owned);
        Ok((number(1), Profile { nickname: own(nickname), avatar: own(avatar), extra: own(extra) }))
    }

    #[test]
    fn profiles_are_read_from_both_formats() {
        let whole = profile(Some("A, \"b\""), Some("x/y.png"), Some(r#"{"a": [1, 2]}"#));
        assert_eq!(csv(r#"1,"A, ""b""",x/y.png,"{""a"": [1, 2]}""#), whole);
        let object = r#"{"user_id":"1","nickname":"A, \"b\"","avatar":"x/y.png","extra":{"a": [1, 2]}}"#;
        assert_eq!(UserProfile::from_json(object), whole);
        for (record, object) in
            [("1", r#"{"user_id":1}"#), ("1,,,", r#"{"user_id":1,"nickname":null,"avatar":null,"extra":null}"#)]
        {
            assert_eq!(csv(record), profile(None, None, None));
            assert_eq!(UserProfile::from_json(object), profile(None, None, None));
        }
        assert_eq!(csv("1,,a"), profile(None, Some("a"), None));
    }

    #[test]
    fn malformed_profiles_are_refused_with_a_reason() {
        let long = "x".repeat(201);
        refused::<UserProfile>(
            csv,
            &[
                (",a", "user_id is missing"),
                ("x ,a", "user_id: expected no space"),
                (&format!("1,{long}"), "nickname: expected 1 to 200 characters"),
                (&format!("1,,{}", long.repeat(11)), "avatar: expected 1 to 2048 characters"),
                ("1,,,[]", "extra: expected a JSON object"),
                ("1,,,{", "extra: EOF"),
                (r#"1,,,"{""a"":1,""a"":2}""#, "extra: "),
                ("1,a,b,{},c", "5 fields"),
            ],
        );
        refused(
            UserProfile::from_json,
            &[
                (r#"{"nickname":"a"}"#, "missing field `user_id`"),
                (r#"{"user_id":1,"nickname":""}"#, "nickname: expected 1 to 200 characters"),
                (&format!(r#"{{"user_id":1,"nickname":"{long}"}}"#), "nickname: expected 1 to 200 characters"),
                (r#"{"user_id":1,"nick":"a"}"#, "unknown field `nick`"),
                (r#"{"user_id":1,"extra":[1]}"#, "object"),
                (r#"{"user_id":1,"avatar":5}"#, "string"),
            ],
        );
    }
}
