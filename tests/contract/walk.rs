//! Following a list both ways by its cursors and by its links.

use serde_json::{Value, json};

use crate::server::Server;
use crate::server::host_ids::escaped;

/// A whole list, newest first, and the function from its items to cursors.
pub(crate) struct List<'a> {
    pub(crate) server: &'a Server,
    pub(crate) path: &'a str,
    pub(crate) items: &'a [Value],
    pub(crate) cursor: fn(&Value) -> String,
}

fn links(header: Option<&str>) -> Vec<(String, String)> {
    let link = |text: &str| {
        let (url, rel) = text.split_once(">; rel=\"").unwrap();
        (rel.trim_end_matches('"').to_owned(), url.trim_start_matches('<').to_owned())
    };
    header.map_or_else(Vec::new, |header| header.split(", ").map(link).collect())
}

impl List<'_> {
    /// One page: its items and both cursors. The links must agree with the cursors.
    #[track_caller]
    fn page(&self, query: &str, wanted: &[Value], more: bool) -> Vec<(String, String)> {
        let what = format!("{}?{query}", self.path);
        let reply = self.server.call("GET", &what, "");
        let page = reply.expect(200);
        assert_eq!(page["items"], json!(wanted), "{what}");
        let links = links(reply.header("link"));
        if let (Some(first), Some(last)) = (wanted.first(), wanted.last()) {
            let next = more.then(|| (self.cursor)(last));
            assert_eq!((&page["next"], &page["prev"]), (&json!(next), &json!((self.cursor)(first))), "{what}");
            let rels: Vec<&str> = links.iter().map(|(rel, _)| rel.as_str()).collect();
            assert_eq!(rels, if more { vec!["next", "prev"] } else { vec!["prev"] }, "{what}");
        }
        assert_eq!(page.as_object().unwrap().len(), 3, "{what}");
        links
    }

    /// The cursor of an item, for an address.
    fn place(&self, item: &Value) -> String {
        let cursor = (self.cursor)(item);
        let (at, id) = cursor.split_once('-').unwrap();
        format!("{at}-{}", escaped(id))
    }

    fn link(&self, links: &[(String, String)], rel: &str) -> Option<String> {
        let (_, url) = links.iter().find(|(other, _)| other == rel)?;
        // Links are relative to the address of the page.
        Some(url.strip_prefix('?').unwrap_or_else(|| panic!("{url}")).to_owned())
    }

    /// Reads all pages of every size down to the end and back up, by cursors and by links, and pages between items.
    pub(crate) fn walk(&self, more: &str) {
        let all = self.items;
        assert!(all.len() > 4, "{}: too short to show anything", self.path);
        let older = |end: usize| end < all.len();
        for limit in [1, 2, 3, all.len() - 1, all.len(), 100] {
            let base = format!("limit={limit}{more}");
            let (mut query, mut linked) = (base.clone(), Some(base.clone()));
            for (number, wanted) in all.chunks(limit).enumerate() {
                let older = older((number + 1) * limit);
                self.page(&query, wanted, older);
                let links = self.page(&linked.expect("a link to the next page"), wanted, older);
                query = format!("{base}&before={}", self.place(&wanted[wanted.len() - 1]));
                linked = self.link(&links, "next");
            }
            assert_eq!(linked, None, "{}: a link beyond the end", self.path);
            self.page(&query, &[], false);

            query = format!("{base}&after=0-1");
            linked = Some(query.clone());
            let mut end = all.len();
            while end > 0 {
                let wanted = &all[end.saturating_sub(limit)..end];
                self.page(&query, wanted, older(end));
                let links = self.page(&linked.expect("a link to the page above"), wanted, older(end));
                query = format!("{base}&after={}", self.place(&wanted[0]));
                linked = self.link(&links, "prev");
                end -= wanted.len();
            }
            self.page(&query, &[], true);
            self.page(&linked.expect("a link to what will come"), &[], true);
        }
        self.page(more.trim_start_matches('&'), &all[..all.len().min(20)], older(20));
        self.between(more);
    }

    /// Reads pages from every item, and between each two. The bounds are exclusive.
    fn between(&self, more: &str) {
        let all = self.items;
        for (place, item) in all.iter().enumerate() {
            let cursor = self.place(item);
            let below = &all[place + 1..];
            self.page(&format!("limit=2&before={cursor}{more}"), &below[..below.len().min(2)], below.len() > 2);
            self.page(&format!("limit=2&after={cursor}{more}"), &all[place.saturating_sub(2)..place], true);
            let (at, id) = cursor.split_once('-').unwrap();
            let number = id.parse::<i64>().ok().filter(|number| *number > 0 && number.to_string() == id);
            if let Some(above) = number.and_then(|number| number.checked_add(1)) {
                let query = format!("limit=1&before={at}-{above}{more}");
                self.page(&query, &all[place..=place], place + 1 < all.len());
            }
            for (further, other) in all.iter().enumerate().skip(place + 1) {
                let query = format!("limit=100&before={cursor}&after={}{more}", self.place(other));
                self.page(&query, &all[place + 1..further], false);
            }
        }
    }
}
