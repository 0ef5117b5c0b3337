//! `/v1/admin/cluster`: this server as a node of a cluster.

use crate::prelude::*;
use cluster::Status;
use config::Cluster;

endpoints! { "operations":
    /// This server as a node of a cluster
    ///
    /// On a server without a cluster `node` is `null`, `members` is empty, and all other fields are missing. Each
    /// node answers for itself.
    get("/v1/admin/cluster", show, "getCluster").answers::<ClusterBody>(200, "The node").of_this_server();
}

answers! {
    /// A node of a cluster.
    #[derive(Default)]
    struct ClusterBody as ClusterNode (cluster: &Cluster, status: Status) {
        let member = |of: &config::Member| MemberBody {
            name: of.name.to_string(),
            url: of.url.clone(),
            is_self: of.name == cluster.node,
        };
        /// The name of this node; `null` without a cluster.
        #[schema(required)]
        (node: Option<String>) = Some(cluster.node.to_string());
        /// All nodes of the settings.
        (members: Vec<MemberBody>) = cluster.members.iter().map(member).collect();
        /// The time of the last change.
        (time?: Time) = Some(Time(status.time));
        /// The id of the command log.
        (log?: String) = Some(status.log);
        /// The number after the last record that is applied.
        (position?: u64) = Some(status.position);
        /// Records of the log that are not applied yet. Missing while the log does not answer.
        (lag?: u64) = status.lag;
        /// Whether the log takes records and was read.
        (reachable?: bool) = Some(status.reachable);
        /// Whether the node answers strict reads and takes changes.
        (ready?: bool) = Some(status.ready);
        /// Whether changes and strict reads take longer than a second.
        (slow?: bool) = Some(status.slow);
        /// Whether all that was acknowledged before the start is applied.
        (caught_up?: bool) = Some(status.caught_up);
        /// Why the node has stopped itself, if it has.
        (fault?: String) = status.fault;
        /// Changes applied since the start, of all nodes.
        (applied?: u64) = Some(status.applied);
        /// Records appended since the start.
        (records?: u64) = Some(status.records);
        /// Changes in these records.
        (commands?: u64) = Some(status.commands);
        /// Changes that wait for the log.
        (waiting?: usize) = Some(status.waiting);
        /// The level of the log in force: which kinds of changes it may have.
        (level?: u64) = Some(status.level);
        /// The highest level that this node reads.
        (newest_level?: u64) = Some(status.newest_level);
        /// The number of the first record of this run of the node. Of two servers that run as one node, the one with the
        /// higher number is the newer. Missing until that record is applied.
        (incarnation?: u64) = status.incarnation;
    }

    /// A node in the settings.
    struct MemberBody as ClusterMember {
        name: String,
        /// The address at which the other nodes reach it.
        url: String,
        /// Whether it is the node that answers.
        #[serde(rename = "self")]
        is_self: bool,
    }
}

/// `GET /v1/admin/cluster`
async fn show(call: Call) -> Answer {
    let Some(node) = call.api.node.clone() else { return reply::ok(&ClusterBody::default()) };
    let status = call.run(Wants::Read, move |_: &Feed| -> Result<_> { Ok(node.status()) }).await?;
    reply::ok(&ClusterBody::new(&call.api.config().cluster, status))
}

#[cfg(test)]
pub(crate) mod tests;
