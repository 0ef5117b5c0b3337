//! `PATCH /v1/content/{content_id}`

use serde_json::json;

use super::town::Town;

#[test]
fn an_edit_shows_in_every_list_and_nowhere_else() {
    let mut town = Town::new();
    for id in [10, 12, 13, 20, 21, 30] {
        town.edit(id, json!({"text": format!("edited {id}")}));
        town.check("edited");
    }
    town.edit(10, json!({"text": null, "media": [{"type": "a", "url": "b"}], "extra": {"x": 1}}));
    town.check("cleared and set");
    town.edit(10, json!({"media": null, "extra": null}));
    town.check("all cleared");
}

#[test]
fn an_edit_of_nothing_is_none() {
    let town = Town::new();
    let found = town.server.call("PATCH", "/v1/content/10", "{}").expect(200);
    assert_eq!(found, town.model.alone(10));
    town.check("nothing");
}

#[test]
fn an_edited_item_is_still_the_one_that_was_published() {
    let mut town = Town::new();
    town.edit(11, json!({"text": "edited"}));
    let first =
        json!({"content_id": 11, "author_id": 3, "published_at": 110, "text": "eleven", "topics": ["rust", "tea"]});
    let found = town.server.call("POST", "/v1/content", first.to_string()).expect(200);
    assert_eq!(found, town.model.alone(11));
    town.check("the repeat of a publish takes no edit back");
}
