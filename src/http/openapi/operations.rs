//! The calls of `http/admin.rs`, `http/metrics.rs` and `http/docs.rs`.

use serde_json::json;
use utoipa::openapi::Object;
use utoipa::openapi::schema::Type;

use super::call::{Call, Shape, get};
use super::parameters::{number, optional, required};
use super::schemas::{id_pattern, text};
use crate::error::Code;
use crate::http::admin::{DEFAULT_DEPTH, Health, MAX_DEPTH, Stats};
use crate::http::show::{ExplanationBody, VerificationBody};

pub(super) fn calls() -> Vec<Call> {
    let stats = json!({
        "version": "0.1.0",
        "jobs": {"waiting": 0, "limit": 100_000, "fan_out": 0, "settle": 0, "rebuild": 0, "coalesced": 0, "refused": 0,
            "failures": 0},
        "pending_items": 0, "unsettled_pairs": 0, "deliveries": 424, "log_bytes": 4096,
        "tables": {"content": {"rows_estimate": 20_000, "bytes": 3_000_000}}
    });
    let exact = json!({
        "user_id": "111", "exact": true, "compared": 424, "complete": true, "missing": [], "extra": []
    });
    let why = json!({
        "user_id": "111", "content_id": "32850", "listed": true, "reason": "listed", "author_id": "200",
        "published_at": 1_689_089_522_000_u64, "following": true, "muted": false, "hidden": false,
        "unsettled": false, "pending": false, "in_inbox": true, "floor": null, "pulled": false
    });
    let calls = vec![
        get("/healthz", "getHealth", "Is the process up?")
            .answers(200, "It is", Shape::of::<Health>(), json!({"status": "ok"}))
            .never_waits(),
        get("/readyz", "getReadiness", "Does it take requests?")
            .answers(200, "It does", Shape::of::<Health>(), json!({"status": "ready"}))
            .problem(Code::Stopping)
            .problem(Code::StorageStopped)
            .never_waits(),
        get("/metrics", "getMetrics", "Figures for Prometheus")
            .answers_text("Its text format", "text/plain", "tideline_pending_items 0\n")
            .never_waits(),
        get("/v1/admin/stats", "getStats", "The main figures")
            .answers(200, "Under the names of `/metrics`, without the prefix", Shape::of::<Stats<'_>>(), stats)
            .problem(Code::Overloaded)
            .never_waits(),
        get("/v1/admin/users/{uid}/timeline/verify", "verifyTimeline", "Is the fast answer the right one?")
            .about("Compares the timeline with a merge of the outboxes of all followees.")
            .query([optional("depth", "How many items to compare", number(1, MAX_DEPTH, DEFAULT_DEPTH))])
            .answers(200, "What differs", Shape::of::<VerificationBody>(), exact),
        get("/v1/admin/users/{uid}/timeline/explain", "explainTimeline", "Why is an item in a timeline, or not?")
            .query([required("content_id", "Which item", text(&id_pattern()), "32850")])
            .answers(200, "All that the answer depends on", Shape::of::<ExplanationBody>(), why),
        get("/openapi.json", "getDescription", "This document")
            .answers(
                200,
                "OpenAPI 3.1",
                Shape::named("Description", Object::with_type(Type::Object)),
                json!({"openapi": "3.1.0"}),
            )
            .never_waits(),
        get("/docs", "getDocs", "This document as a page")
            .about("Works without a connection to the internet.")
            .answers_text("A page to read and to try calls on", "text/html", "<!doctype html>")
            .never_waits(),
    ];
    calls.into_iter().map(|call| call.tag("operations")).collect()
}
