//! The problems that calls answer with, each with its status and an example.

use std::collections::{BTreeMap, BTreeSet};

use utoipa::openapi::{ContentBuilder, Ref, Response, ResponseBuilder, example::ExampleBuilder, schema::RefBuilder};

use crate::error::Code;
use crate::http::problem;

/// The problems of all calls. They are one response of the document, whatever the status: so clients that are generated
/// from it have one type, and one place in each call, for all that can go wrong.
#[derive(Default)]
pub(super) struct Problems(BTreeSet<Code>);

impl Problems {
    /// The name of the response, and of the schema in it.
    pub(super) const NAME: &str = "Problem";

    /// The response of one call. Which problems it may be stands beside the reference.
    pub(super) fn refer(&mut self, problems: &BTreeSet<Code>) -> Ref {
        let mut by_status = BTreeMap::<u16, BTreeSet<String>>::new();
        for code in problems {
            by_status.entry(code.status()).or_default().insert(format!("`{code}`"));
        }
        self.0.extend(problems);
        let words = by_status.into_iter().map(|(status, codes)| {
            let codes: Vec<_> = codes.into_iter().collect();
            format!("{status} {}", codes.join(", "))
        });
        let place = format!("#/components/responses/{}", Self::NAME);
        RefBuilder::new().ref_location(place).description(Some(words.collect::<Vec<_>>().join("; "))).build()
    }

    /// The response, with an example of each problem.
    pub(super) fn response(self) -> Response {
        let example =
            |code: Code| serde_json::to_value(problem::Document::new(code, code.detail())).unwrap_or_default();
        let examples =
            self.0.into_iter().map(|code| (code.name(), ExampleBuilder::new().value(Some(example(code))).build()));
        let schema = Ref::from_schema_name(Self::NAME);
        let content = ContentBuilder::new().schema(Some(schema)).examples_from_iter(examples).build();
        ResponseBuilder::new()
            .description("What is wrong. With 429 and 503, `Retry-After` has the seconds after which to try again")
            .content("application/problem+json", content)
            .build()
    }
}
