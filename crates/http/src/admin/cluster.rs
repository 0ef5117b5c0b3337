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
    struct ClusterBody as ClusterNode {
        /// The name of this node; `null` without a cluster.
        #[schema(required)]
        node: Option<String>,
        /// All nodes of the settings.
        members: Vec<MemberBody>,
        /// The time of the last change.
        time?: Time,
        /// The id of the command log.
        log?: String,
        /// The number after the last record that is applied.
        position?: u64,
        /// Records of the log that are not applied yet. Missing while the log does not answer.
        lag?: u64,
        /// Whether the log takes records and was read.
        reachable?: bool,
        /// Whether the node answers strict reads and takes changes.
        ready?: bool,
        /// Whether changes and strict reads take longer than a second.
        slow?: bool,
        /// Whether all that was acknowledged before the start is applied.
        caught_up?: bool,
        /// Why the node has stopped itself, if it has.
        fault?: String,
        /// Changes applied since the start, of all nodes.
        applied?: u64,
        /// Records appended since the start.
        records?: u64,
        /// Changes in these records.
        commands?: u64,
        /// Changes that wait for the log.
        waiting?: usize,
        /// The level of the log in force: which kinds of changes it may have.
        level?: u64,
        /// The highest level that this node reads.
        newest_level?: u64,
        /// The number of the first record of this run of the node. Of two servers that run as one node, the one with the
        /// higher number is the newer. Missing until that record is applied.
        incarnation?: u64,
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

impl ClusterBody {
    fn new(cluster: &Cluster, status: Status) -> Self {
        let members = cluster.members.iter().map(|member| MemberBody {
            name: member.name.to_string(),
            url: member.url.clone(),
            is_self: member.name == cluster.node,
        });
        Self {
            node: Some(cluster.node.to_string()),
            members: members.collect(),
            time: Some(Time(status.time)),
            log: Some(status.log),
            position: Some(status.position),
            lag: status.lag,
            reachable: Some(status.reachable),
            ready: Some(status.ready),
            slow: Some(status.slow),
            caught_up: Some(status.caught_up),
            fault: status.fault,
            applied: Some(status.applied),
            records: Some(status.records),
            commands: Some(status.commands),
            waiting: Some(status.waiting),
            level: Some(status.level),
            newest_level: Some(status.newest_level),
            incarnation: status.incarnation,
        }
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
