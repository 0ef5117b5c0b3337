//! Pages of home timelines, kept as bytes until something in them changes. Readers ask again and again, and mostly nothing
//! is new.

use std::borrow::Cow;
use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderValue, IF_NONE_MATCH, LINK};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse};
use xxhash_rust::xxh3::xxh3_128;

use super::query;
use super::reply::{JSON, is_known};
use feed::{Feed, timeline};
use kv::Tier;
use model::cache::Cache;
use model::cache::memory::{CacheMemory, Share};
use model::versions::Dependencies;
use model::{CacheUsage, UserId};

/// Bytes of a kept page beside its body, its links and its dependencies: address, tag, counts.
const BESIDE: usize = 1024;
/// Most bytes of the address of a kept page: clients choose them freely.
const LONGEST_ADDRESS: usize = 512;
/// Bytes of a usual page.
const USUAL: u64 = 8 << 10;

/// A client may keep a page for itself, and asks each time whether it is still right.
const FOR_ITS_READER: HeaderValue = HeaderValue::from_static("private, no-cache");

/// Kept pages by their addresses. Every caller who may read a home timeline gets the same page of it.
#[derive(Debug)]
pub(crate) struct KeptPages(Cache<Box<str>, Arc<KeptPage>>);

impl KeptPages {
    /// No pages yet.
    pub(crate) fn new(memory: CacheMemory) -> Self {
        let bytes = |page: &Arc<KeptPage>| {
            let links = page.links.as_ref().map_or(0, HeaderValue::len);
            (page.body.len() + page.dependencies.bytes() + links + BESIDE) as u64
        };
        Self(Cache::new(memory.of(Share::PAGES), USUAL, bytes))
    }

    /// The cache in figures.
    pub(crate) fn usage(&self) -> CacheUsage {
        self.0.usage()
    }

    /// The kept page of the address of a request, if it is still right and the caller `may_peek` where the request asks for
    /// that. Marks its reader as seen unless the request peeks; `None` also if that needs the disk.
    pub(crate) fn get(&self, feed: &Feed, request: &HttpRequest, may_peek: bool) -> Option<Arc<KeptPage>> {
        let is_right = |page: &Arc<KeptPage>| (may_peek || !page.peeks) && feed.is_unchanged(&page.dependencies);
        let page = self.0.get_if(&*address(request)?, is_right)?;
        // Not before the look: whether the reader is seen does not change the page.
        if !page.peeks {
            timeline::mark_seen(feed.read().within(Tier::Memory), page.reader).ok()?;
        }
        Some(page)
    }

    /// Keeps a page for the address of a request, unless something in it was being changed.
    pub(crate) fn keep(&self, request: &HttpRequest, page: KeptPage) -> Arc<KeptPage> {
        let page = Arc::new(page);
        if page.dependencies.are_settled()
            && let Some(address) = address(request)
        {
            self.0.insert(address.into_owned().into_boxed_str(), Arc::clone(&page));
        }
        page
    }
}

/// The address of a request without its consistency: the page is the same, whatever its read has waited for. `None` if the
/// address is long, or to be refused.
fn address(request: &HttpRequest) -> Option<Cow<'_, str>> {
    let whole = request.uri().path_and_query().filter(|whole| whole.as_str().len() <= LONGEST_ADDRESS)?;
    let query = whole.query().unwrap_or_default();
    let tells_consistency = |pair: &&str| query::values(pair, query::CONSISTENCY).next().is_some();
    match query.split('&').filter(tells_consistency).count() {
        0 => Some(whole.as_str().into()),
        1 => {
            let rest: Vec<_> = query.split('&').filter(|pair| !tells_consistency(pair)).collect();
            let mark = if rest.is_empty() { "" } else { "?" };
            Some(format!("{}{mark}{}", whole.path(), rest.join("&")).into())
        }
        _ => None,
    }
}

/// A page as bytes, with all that it depends on.
#[derive(Debug)]
pub(crate) struct KeptPage {
    reader: UserId,
    /// Whether its requests leave the reader unseen.
    peeks: bool,
    body: Bytes,
    tag: Option<HeaderValue>,
    links: Option<HeaderValue>,
    dependencies: Dependencies,
}

impl KeptPage {
    /// A page of a reader with its header of links.
    pub(crate) fn new(
        (reader, peeks): (UserId, bool),
        body: Vec<u8>,
        links: Option<HeaderValue>,
        dependencies: Dependencies,
    ) -> Self {
        let tag = format!("\"{:032x}\"", xxh3_128(&body));
        let links = links.as_ref().map_or(&[][..], HeaderValue::as_bytes);
        // One piece of memory: one that was not read lately is far from the processor.
        let mut whole = Bytes::from([tag.as_bytes(), links, &body].concat());
        let (tag, links) = (whole.split_to(tag.len()), whole.split_to(links.len()));
        let value = |bytes: Bytes| HeaderValue::from_maybe_shared(bytes).ok().filter(|value| !value.is_empty());
        Self { reader, peeks, body: whole, tag: value(tag), links: value(links), dependencies }
    }

    /// The answer with this page; 304 for a client that has it.
    pub(crate) fn answer(&self, request: &HttpRequest) -> HttpResponse {
        let asks = request.headers().contains_key(IF_NONE_MATCH);
        let has_it = asks && self.tag.as_ref().is_some_and(|tag| is_known(request, tag));
        let mut response = HttpResponse::build(if has_it { StatusCode::NOT_MODIFIED } else { StatusCode::OK });
        response.insert_header((CACHE_CONTROL, FOR_ITS_READER));
        if let Some(tag) = &self.tag {
            response.insert_header((ETAG, tag.clone()));
        }
        if let Some(links) = &self.links {
            response.insert_header((LINK, links.clone()));
        }
        if has_it {
            return response.finish();
        }
        // A large one counts as memory of answers for each client that receives it, as any other: the cache may drop it.
        response.insert_header((CONTENT_TYPE, JSON)).body(self.body.clone())
    }
}
