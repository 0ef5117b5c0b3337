//! Files for browsers: answered in the form that the client takes, compressed with gzip or plain, and kept by clients.

use std::io::{self, Read, Write};
use std::sync::OnceLock;

use actix_web::http::StatusCode;
use actix_web::http::header::{
    ACCEPT_ENCODING, AcceptEncoding, CACHE_CONTROL, CONTENT_ENCODING, ETAG, Encoding, Header as _, HeaderValue,
    Preference, Quality, VARY,
};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use xxhash_rust::xxh3::xxh3_128;

use crate::connections::answer_memory;
use crate::wire::problem::Problem;
use crate::wire::reply::{Answer, is_known};

/// A file that never changes while the server runs. All answers share its bytes.
#[derive(Debug)]
pub(crate) struct WebFile {
    media_type: &'static str,
    /// Of the given bytes. The tag of the compressed form has an ending.
    tag: String,
    given: Bytes,
    is_gzip: bool,
    /// The form that was not given. It is made when a client first asks for it, and kept.
    other: OnceLock<Bytes>,
}

impl WebFile {
    pub(crate) fn new(media_type: &'static str, plain: impl Into<Bytes>) -> Self {
        Self::of(media_type, plain.into(), false)
    }

    /// A file, of its compressed form.
    pub(crate) fn of_gzip(media_type: &'static str, gzip: impl Into<Bytes>) -> Self {
        Self::of(media_type, gzip.into(), true)
    }

    fn of(media_type: &'static str, given: Bytes, is_gzip: bool) -> Self {
        let tag = format!("{:032x}", xxh3_128(&given));
        Self { media_type, tag, given, is_gzip, other: OnceLock::new() }
    }

    /// The answer with this file; 304 for a client that has it. `response` has the status 200 and the headers that are
    /// not those of every file.
    pub(crate) fn answer(&self, request: &HttpRequest, mut response: HttpResponseBuilder) -> Answer {
        let gzip = takes_gzip(request);
        let tag = format!("\"{}{}\"", self.tag, if gzip { "-gzip" } else { "" });
        let tag = HeaderValue::try_from(tag).map_err(Problem::internal)?;
        response.insert_header((ETAG, tag.clone()));
        response.insert_header((VARY, HeaderValue::from(ACCEPT_ENCODING)));
        if is_known(request, &tag) {
            return Ok(response.status(StatusCode::NOT_MODIFIED).finish());
        }
        if gzip {
            response.insert_header((CONTENT_ENCODING, "gzip"));
        }
        let bytes = self.bytes(gzip).map_err(Problem::internal)?;
        response.content_type(self.media_type);
        Ok(answer_memory::shared(response, bytes))
    }

    /// The file in one of its forms.
    fn bytes(&self, gzip: bool) -> io::Result<Bytes> {
        if gzip == self.is_gzip {
            return Ok(self.given.clone());
        }
        if let Some(other) = self.other.get() {
            return Ok(other.clone());
        }
        let made = if gzip { pack(&self.given)? } else { unpack(&self.given)? };
        Ok(self.other.get_or_init(|| made.into()).clone())
    }
}

/// An answer that browsers keep so.
pub(super) fn kept(how: &'static str) -> HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    response.insert_header((CACHE_CONTROL, how));
    response
}

fn pack(plain: &[u8]) -> io::Result<Vec<u8>> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(plain)?;
    packer.finish()
}

fn unpack(gzip: &[u8]) -> io::Result<Vec<u8>> {
    let mut plain = Vec::new();
    GzDecoder::new(gzip).read_to_end(&mut plain)?;
    Ok(plain)
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
