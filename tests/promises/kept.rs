//! Pages that are kept while nothing in them changes, as the HTTP side keeps them: none is ever stale.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use feed::{Feed, Visibility, timeline, visibility};
use model::versions::Dependencies;
use model::{ContentId, Cursor, ExternalId, ItemView, Page, PageRequest};

/// Most pages that are kept at once.
const MOST: usize = 5;

/// How many pages in which nothing had changed were compared, in all sequences.
pub(crate) static COMPARED: AtomicUsize = AtomicUsize::new(0);

/// Pages of home timelines, each as it was once.
#[derive(Default)]
pub(crate) struct KeptPages {
    /// A start forgets all versions.
    feed: Weak<Feed>,
    pages: Vec<KeptPage>,
}

struct KeptPage {
    reader: ExternalId,
    request: PageRequest<ExternalId>,
    seen: Seen,
    dependencies: Dependencies,
}

/// All that a page shows: its items, `next` and `prev`.
type Seen = (Vec<String>, Option<Cursor>, Option<Cursor>);

impl KeptPages {
    /// Compares each page in which nothing has changed with a new read, and keeps one more. If pages `may_stop` early, they end
    /// where the read has looked at enough, which depends on the inbox.
    pub(crate) fn compare(
        &mut self,
        feed: &Arc<Feed>,
        reader: ExternalId,
        request: PageRequest<ExternalId>,
        may_stop: bool,
    ) -> Result<(), String> {
        if !self.feed.upgrade().is_some_and(|before| Arc::ptr_eq(&before, feed)) {
            (self.feed, self.pages) = (Arc::downgrade(feed), Vec::new());
        }
        self.pages.retain(|page| feed.is_unchanged(&page.dependencies));
        COMPARED.fetch_add(self.pages.len(), Ordering::Relaxed);
        for KeptPage { reader, request, seen, .. } in &self.pages {
            let Some((now, _)) = look(feed, reader, request)? else {
                return Err(format!("the kept page of {reader}, {request:?}, is refused now"));
            };
            if may_stop {
                // A walk upwards begins with the last item.
                let both = now.0.len().min(seen.0.len());
                let is_upwards = request.span.before.is_none() && request.span.after.is_some();
                let begin = |items: &[String]| match is_upwards {
                    false => items[..both].to_vec(),
                    true => items[items.len() - both..].to_vec(),
                };
                ensure_eq!(begin(&now.0), begin(&seen.0), "the kept page of {reader}, {request:?}");
                continue;
            }
            ensure_eq!(now, *seen, "the kept page of {reader}, {request:?}");
        }
        if self.pages.len() == MOST {
            self.pages.remove(0);
        }
        if let Some((seen, dependencies)) = look(feed, &reader, &request)?
            && dependencies.are_settled()
        {
            self.pages.push(KeptPage { reader, request, seen, dependencies });
        }
        Ok(())
    }
}

/// A page, with all that it depends on; `None` if it is refused. It leaves its reader unseen, so that readers become dormant.
fn look(
    feed: &Feed,
    reader: &ExternalId,
    request: &PageRequest<ExternalId>,
) -> Result<Option<(Seen, Dependencies)>, String> {
    let noted = RefCell::default();
    let read = feed.read().peeking(true).noting(Some(&noted));
    let page = || {
        let (reader, request) =
            (read.find(reader)?, visibility::find_span::<ContentId>(read, request, Visibility::Application)?);
        visibility::hydrate(read, timeline::page(read, reader, &request)?, Some(reader))
    };
    match page() {
        Ok(Page { items, next, prev }) => {
            let items = items.iter().map(shown).collect();
            Ok(Some(((items, next, prev), noted.take())))
        }
        Err(error) if error.code().is_some_and(|code| code.status() < 500) => Ok(None),
        Err(error) => Err(format!("a read fails: {error}")),
    }
}

fn shown(item: &ItemView) -> String {
    let ItemView { content, counts, author, viewer, suspended } = item;
    let summary = author.as_ref().map(|summary| (&summary.user, &summary.nickname, &summary.avatar));
    format!("{:?} {counts:?} {summary:?} {viewer:?} {suspended}", **content)
}
