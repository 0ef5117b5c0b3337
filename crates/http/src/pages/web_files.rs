//! Files for browsers: answered in the form that the client takes, compressed with gzip or plain, and kept by clients.

use std::io::Read;

use actix_web::HttpRequest;
use actix_web::http::header::{
    ACCEPT_ENCODING, AcceptEncoding, CACHE_CONTROL, CONTENT_ENCODING, ETAG, Encoding, Header as _, HeaderValue,
    Preference, Quality, VARY,
};
use actix_web::web::Bytes;
use flate2::Compression;
use flate2::read::{GzDecoder, GzEncoder};
use xxhash_rust::xxh3::xxh3_128;

use crate::connections::answer_memory;
use crate::prelude::*;
use crate::wire::reply::is_known;

/// A file that never changes while the server runs. All answers share its bytes.
#[derive(Debug)]
pub(crate) struct WebFile {
    media_type: &'static str,
    /// The tag of the compressed form has an ending.
    tag: String,
    plain: Bytes,
    gzip: Bytes,
}

impl WebFile {
    pub(crate) fn new(media_type: &'static str, plain: impl Into<Bytes>) -> Self {
        let plain = plain.into();
        Self { media_type, tag: tag(&plain), gzip: all(GzEncoder::new(&*plain, Compression::best())), plain }
    }

    /// A file, of its compressed form.
    pub(crate) fn of_gzip(media_type: &'static str, gzip: impl Into<Bytes>) -> Self {
        let gzip = gzip.into();
        Self { media_type, tag: tag(&gzip), plain: all(GzDecoder::new(&*gzip)), gzip }
    }

    /// The answer with this file; 304 for a client that has it. `response` has the status 200 and the headers that are
    /// not those of every file.
    pub(crate) fn answer(&self, request: &HttpRequest, mut response: HttpResponseBuilder) -> Answer {
        let gzip = takes_gzip(request);
        let tag = format!("\"{}{}\"", self.tag, if gzip { "-gzip" } else { "" });
        let tag = HeaderValue::try_from(tag).map_err(Error::internal)?;
        response.insert_header((ETAG, tag.clone()));
        response.insert_header((VARY, HeaderValue::from(ACCEPT_ENCODING)));
        if is_known(request, &tag) {
            return Ok(response.status(StatusCode::NOT_MODIFIED).finish());
        }
        if gzip {
            response.insert_header((CONTENT_ENCODING, "gzip"));
        }
        response.content_type(self.media_type);
        Ok(answer_memory::shared(response, if gzip { &self.gzip } else { &self.plain }.clone()))
    }
}

/// An answer that browsers keep so.
pub(super) fn kept(how: &'static str) -> HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    response.insert_header((CACHE_CONTROL, how));
    response
}

fn tag(bytes: &Bytes) -> String {
    format!("{:032x}", xxh3_128(bytes))
}

/// All that comes from bytes in memory.
fn all(mut bytes: impl Read) -> Bytes {
    let mut read = Vec::new();
    match bytes.read_to_end(&mut read) {
        Ok(_) => read.into(),
        Err(_) => Bytes::new(),
    }
}

/// Whether the client takes gzip, and does not prefer the plain form. A client that takes neither gets the plain form,
/// as if it had said nothing: RFC 9110 allows this (12.1), and a refusal would help nobody.
fn takes_gzip(request: &HttpRequest) -> bool {
    let Ok(AcceptEncoding(sent)) = AcceptEncoding::parse(request) else { return false };
    let weight = |of: Preference<Encoding>| sent.iter().find(|coding| coding.item == of).map(|coding| coding.quality);
    let gzip = weight(Preference::Specific(Encoding::gzip())).or_else(|| weight(Preference::Any));
    let plain = weight(Preference::Specific(Encoding::identity()));
    gzip.is_some_and(|gzip| gzip > Quality::ZERO && plain.is_none_or(|plain| gzip >= plain))
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn gzip_is_for_those_who_take_it_and_do_not_prefer_the_plain_form() {
        let takes = |sent: &[&str]| {
            let request = TestRequest::get();
            let request = sent.iter().fold(request, |request, sent| request.append_header((ACCEPT_ENCODING, *sent)));
            takes_gzip(&request.to_http_request())
        };
        for sent in [
            &["gzip"][..],
            &["GZip"],
            &["deflate, gzip, br, zstd"],
            &["gzip;q=0.1"],
            &["gzip, identity"],
            &["gzip;q=0.5, identity;q=0.5"],
            &["gzip, *;q=0"],
            &["*"],
            &["br, *;q=0.1"],
            &["identity;q=0, *"],
            &["br", "gzip"],
            &["identity;q=0.5, nonsense;q=x, gzip"],
        ] {
            assert!(takes(sent), "{sent:?}");
        }
        for sent in [
            &[][..],
            &[""],
            &["identity"],
            &["br, zstd"],
            &["gzip;q=0"],
            &["gzip;q=0.000, br"],
            &["gzip;q=0, *"],
            &["*;q=0"],
            &["br, *;q=0"],
            &["gzip;q=0.5, identity"],
            &["*;q=0.5, identity;q=0.6"],
            &["identity;q=0"],
            &["gzipped"],
            &["gzip;q=x"],
            &["gzip\u{e9}"],
        ] {
            assert!(!takes(sent), "{sent:?}");
        }
    }
}
