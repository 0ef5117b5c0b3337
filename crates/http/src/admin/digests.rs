//! `/v1/admin/cluster/digests`: comparisons of the nodes of a cluster. These calls are for `tideline check --against`.

use crate::prelude::*;
use cluster::{Compared, Comparison};
use feed::check::TableDigest;
use serde_json::Value;

endpoints! { "operations":
    /// Begin a comparison of the nodes of a cluster
    post("/v1/admin/cluster/digests", compare, "").takes_nothing();

    /// The part of this node in a comparison
    get("/v1/admin/cluster/digests/{id}", digests, "").of_this_server();
}

/// `POST /v1/admin/cluster/digests`
async fn compare(mut call: Call) -> Answer {
    call.empty_body().await?;
    let node = call.api.node.clone().ok_or(Error::from(Code::NoCluster))?;
    let id = call.run(Wants::Change, move |_| node.compare()).await?;
    reply::with(StatusCode::ACCEPTED, &json!({ "id": format!("{id:016x}") }))
}

/// `GET /v1/admin/cluster/digests/{id}`: `position` is the offset behind the record of the command log at which the digests are
/// taken.
async fn digests(call: Call) -> Answer {
    let node = call.api.node.as_ref().ok_or(Error::from(Code::NoCluster))?;
    let id = call.part("id");
    let number = u64::from_str_radix(&id, 16).ok().filter(|number| format!("{number:016x}") == id);
    let comparison = number.and_then(|number| node.comparison(number));
    reply::ok(&comparison_body(&id, comparison.ok_or(Error::from(Code::ComparisonNotFound))?))
}

/// The answer about a comparison. `tideline check --against` reads that of its own directory in this form, too.
pub fn comparison_body(id: &str, Comparison { position, state }: Comparison) -> Value {
    let table = |of: &TableDigest| json!({"table": of.table, "rows": of.rows, "digest": format!("{:032x}", of.digest)});
    let mut body = json!({"id": id, "position": position, "tables": []});
    match state {
        Compared::Running => body["state"] = "running".into(),
        Compared::Done(tables) => {
            body["state"] = "done".into();
            body["tables"] = tables.iter().map(table).collect();
        }
        Compared::Failed(why) => {
            body["state"] = "failed".into();
            body["cause"] = why.into();
        }
    }
    body
}
