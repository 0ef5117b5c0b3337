//! Rows of content.

use serde::Deserialize;

use super::{Column, Columns, Field, MISSING_FIELD, Refusal, Row, Store, id, missing, object, time};
use feed::{Feed, ImportedItem};
use model::{Audience, Draft, HostId, JsonObject, Kind, MediaList, Mentioned, Millis, Sources, Time, Topics};

/// The fields of a publish, and those of an answer that an import can give.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ItemObject {
    author_id: HostId,
    content_id: Option<HostId>,
    published_at: Option<Time>,
    edited_at: Option<Time>,
    kind: Option<Kind>,
    text: Option<String>,
    media: Option<MediaList>,
    topics: Option<Topics>,
    ref_id: Option<HostId>,
    extra: Option<JsonObject>,
    broadcast: Option<bool>,
    to: Option<Sources>,
    audience: Option<Audience>,
    mentions: Option<Mentioned>,
}

impl From<ItemObject> for ImportedItem {
    fn from(object: ItemObject) -> Self {
        let draft = Draft {
            author_id: object.author_id,
            content_id: object.content_id,
            published_at: object.published_at,
            kind: object.kind.unwrap_or_default(),
            text: object.text,
            media: object.media,
            topics: object.topics.unwrap_or_default(),
            ref_id: object.ref_id,
            extra: object.extra,
            broadcast: object.broadcast.unwrap_or(true),
            to: object.to.unwrap_or_default(),
            audience: object.audience,
            mentions: object.mentions.unwrap_or_default(),
        };
        Self { draft, edited_at: object.edited_at.map(|Time(at)| at) }
    }
}

impl Row for ImportedItem {
    const TABLE: &'static str = "content";
    const STORE: Store<Self> = Feed::import_items;
    const COLUMNS: &'static [Column] =
        &[("content_id", true), ("author_id", true), ("published_at", true), ("text", false)];
    /// The publish, and the text, the media and the extra object of later edits.
    const BODIES: usize = 4;

    fn from_fields(columns: &Columns, fields: &[Field<'_>]) -> Result<Self, Refusal> {
        columns.check(fields)?;
        let field = |column: usize| (Self::COLUMNS[column].0, columns.get(fields, column));
        let (content_id, author_id) = (id(field(0))?, id(field(1))?);
        let published_at = time(field(2))?.ok_or_else(|| missing("published_at"))?;
        let draft = Draft {
            author_id,
            content_id: Some(content_id),
            published_at: Some(Time(published_at)),
            kind: Kind::default(),
            text: columns.text(fields, 3).map(str::to_owned),
            media: None,
            topics: Topics::default(),
            ref_id: None,
            extra: None,
            broadcast: true,
            to: Sources::default(),
            audience: None,
            mentions: Mentioned::default(),
        };
        Ok(Self { draft, edited_at: None })
    }

    fn from_json(text: &str) -> Result<Self, Refusal> {
        let item = Self::from(object::<ItemObject>(text)?);
        match item.draft.content_id {
            Some(_) => Ok(item),
            None => {
                let detail = "content_id is missing; an import needs it so that it can be run again";
                Err(Refusal::of_line(MISSING_FIELD, detail))
            }
        }
    }

    fn time(&self) -> Option<Millis> {
        self.draft.published_at.map(|Time(at)| at)
    }

    fn ids(&self) -> impl Iterator<Item = &HostId> {
        self.draft.ids()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{csv, number, refused};
    use super::*;

    #[test]
    fn content_is_read_from_both_formats() {
        let ImportedItem { draft, edited_at } = csv("7,1,1000,\"a, b\"").expect("row");
        assert_eq!((draft.content_id, draft.author_id), (Some(number(7)), number(1)));
        assert_eq!((draft.published_at, draft.text.as_deref()), (Some(Time(1000)), Some("a, b")));
        assert!(draft.broadcast && edited_at.is_none());
        for (text, expected) in [("", None), ("\"\"", Some("")), ("\\N", None), ("\"\\N\"", Some("\\N"))] {
            let item: ImportedItem = csv(&format!("7,1,1000,{text}")).expect("row");
            assert_eq!(item.draft.text.as_deref(), expected, "{text}");
        }
        let object = r#"{"content_id":"7","author_id":1,"kind":"note","broadcast":false,"topics":["x"],"edited_at":5}"#;
        let ImportedItem { draft, edited_at } = ImportedItem::from_json(object).expect("object");
        assert_eq!((draft.kind.into_string().as_str(), draft.broadcast, draft.published_at), ("note", false, None));
        assert_eq!((draft.topics.into_vec(), edited_at), (vec!["x".to_owned()], Some(5)));
    }

    #[test]
    fn fields_of_an_item_are_those_of_a_publish() {
        // A field that one of the two lacks would be refused.
        let all = r#"{"author_id":"1","content_id":"7","published_at":5,"kind":"a","text":"t","media":[{"type":"a","url":"b"}],"topics":["t"],"ref_id":"8","extra":{"a": 1},"broadcast":false,"to":["2"],"audience":"followers","mentions":["3"]}"#;
        let draft: Draft = serde_json::from_str(all).expect("a draft");
        let item = ImportedItem::from_json(all).expect("an item").draft;
        let written = |draft: &Draft| serde_json::to_string(draft).expect("writes");
        assert_eq!((written(&draft).as_str(), written(&item).as_str()), (all, all));
        let nulls = r#"{"author_id":1,"content_id":7,"published_at":null,"kind":null,"text":null,"media":null,"topics":null,"ref_id":null,"extra":null,"broadcast":null,"to":null,"audience":null,"mentions":null}"#;
        let item = ImportedItem::from_json(nulls).expect("an item").draft;
        assert_eq!(written(&item), written(&serde_json::from_str(nulls).expect("a draft")));
    }

    #[test]
    fn malformed_content_is_refused_with_a_reason() {
        refused::<ImportedItem>(
            csv,
            &[
                ("7", "author_id is missing"),
                ("7,1", "published_at is missing"),
                ("7,1,", "published_at is missing"),
                ("7,1,now", "published_at: a time"),
                ("7 ,1,2", "content_id: expected no space"),
                ("7,\u{7f},2", "author_id: an id"),
                ("7,1,2,a,b", "5 fields"),
            ],
        );
        refused(
            ImportedItem::from_json,
            &[
                (r#"{"author_id":1}"#, "content_id is missing"),
                (r#"{"content_id":7}"#, "missing field `author_id`"),
                (r#"{"content_id":7,"author_id":1,"titel":""}"#, "unknown field `titel`"),
                (r#"{"content_id":7,"author_id":1,"kind":"A"}"#, "kind"),
                (r#"{"content_id":7,"author_id":1,"text":5}"#, "string"),
                (r#"{"content_id":null,"author_id":1}"#, "content_id is missing"),
                (r#"{"content_id":7,"author_id":null}"#, "null"),
                (r#"{"content_id":7,"author_id":1,"extra":[1]}"#, "object"),
                (r#"{"content_id":7,"author_id":1,"media":[{}]}"#, "media"),
                (r#"{"content_id":7,"author_id":1"#, "EOF"),
                (r#"["a"]"#, "expected a JSON object"),
            ],
        );
    }
}
