//! `/v1/admin/cluster/digests`: comparisons of the nodes of a cluster. These calls are for `tideline check --against`.

use crate::prelude::*;
use cluster::{Compared, Comparison};
use model::store::TableDigest;

endpoints! { "operations":
    /// Begin a comparison of the nodes of a cluster
    post("/v1/admin/cluster/digests", compare, "").takes_nothing();

    /// The part of this node in a comparison
    get("/v1/admin/cluster/digests/{id}", digests, "").of_this_server();
}

/// A new comparison.
#[derive(Debug, Serialize)]
struct Begun {
    /// 16 hexadecimal digits.
    id: String,
}

/// The part of this node in a comparison.
#[derive(Debug, Serialize)]
struct DigestsBody {
    id: String,
    /// The offset after the record of the command log at which the digests are taken.
    position: u64,
    /// `running`, `done` or `failed`.
    state: &'static str,
    /// Why there are no digests.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
    tables: Vec<TableBody>,
}

#[derive(Debug, Serialize)]
struct TableBody {
    table: &'static str,
    rows: u64,
    /// 32 hexadecimal digits.
    digest: String,
}

impl DigestsBody {
    fn new(id: String, Comparison { position, state }: Comparison) -> Self {
        let table =
            |of: &TableDigest| TableBody { table: of.table, rows: of.rows, digest: format!("{:032x}", of.digest) };
        let (state, cause, tables) = match state {
            Compared::Running => ("running", None, Vec::new()),
            Compared::Done(tables) => ("done", None, tables.iter().map(table).collect()),
            Compared::Failed(why) => ("failed", Some(why), Vec::new()),
        };
        Self { id, position, state, cause, tables }
    }
}

/// `POST /v1/admin/cluster/digests`
async fn compare(mut call: Call) -> Answer {
    call.empty_body().await?;
    let node = call.api.node.clone().ok_or(Problem::from(Code::NoCluster))?;
    let id = call.run(Wants::Change, move |_| node.compare()).await?;
    reply::with(StatusCode::ACCEPTED, &Begun { id: format!("{id:016x}") })
}

/// `GET /v1/admin/cluster/digests/{id}`
async fn digests(call: Call) -> Answer {
    let node = call.api.node.as_ref().ok_or(Problem::from(Code::NoCluster))?;
    let id = call.part("id");
    let number = u64::from_str_radix(&id, 16).ok().filter(|number| format!("{number:016x}") == id);
    let comparison = number.and_then(|number| node.comparison(number));
    reply::ok(&DigestsBody::new(id, comparison.ok_or(Problem::from(Code::ComparisonNotFound))?))
}
