//! The runs of nodes that write to the log.
//!
//! A directory can be copied, and both started with one name. Each record names its node and, once the writer has read its
//! own first record, the offset of that: the later run is the newer one. It has read the log up to there, so it is alive,
//! and the older run stops. A dead run wrote nothing that names a later offset.

use std::collections::BTreeSet;

use super::record::Envelope;
use config::{Cluster, MAX_MEMBERS, NodeName};

/// The runs of nodes that this node knows of.
#[derive(Debug)]
pub(super) struct Runs {
    /// `None` for a run that has no name, and stops no other one.
    own: Option<NodeName>,
    members: BTreeSet<NodeName>,
    /// Nodes that were told of, because they are no members.
    strangers: BTreeSet<NodeName>,
}

impl Runs {
    pub(super) fn new(own: Option<NodeName>, cluster: &Cluster) -> Self {
        let members = cluster.members.iter().map(|member| member.name.clone()).collect();
        Self { own, members, strangers: BTreeSet::new() }
    }

    /// Looks at the writer of the record at an offset. `since` and `session` are those of this run. The error tells that a
    /// newer run of this node is alive.
    pub(super) fn note(
        &mut self,
        at: u64,
        record: &Envelope,
        (session, since): (u64, Option<u64>),
    ) -> Result<(), String> {
        let (Some(own), Some(run)) = (since, &record.node) else { return Ok(()) };
        let newer = run.since.filter(|other| *other > own);
        let is_own = self.own.as_ref() == Some(&run.name);
        if is_own && record.session.0 != session && newer.is_some() {
            return Err(format!(
                "another server runs as the node \"{}\" since offset {}, and this one since offset {own}: one directory is \
                 a copy of the other, or two settings have one name. Stop one of the two; each start stops the other one",
                run.name,
                newer.unwrap_or(at)
            ));
        }
        let is_stranger = !self.members.contains(&run.name) && self.strangers.len() < MAX_MEMBERS;
        if is_stranger && self.strangers.insert(run.name.clone()) {
            tracing::warn!(
                offset = at,
                node = run.name.as_str(),
                "a node that is not among cluster.members writes to the command log: a new one, one of other settings, or \
                 a copy of a directory that runs elsewhere"
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::{Run, Token};
    use super::*;

    fn name(text: &str) -> NodeName {
        serde_json::from_value(text.into()).expect("a name")
    }

    fn record(node: &str, session: u64, since: Option<u64>) -> Envelope {
        let node = (!node.is_empty()).then(|| Run { name: name(node), since });
        Envelope { node, ..Envelope::empty(1, Token(1), Token(session), 2, 0) }
    }

    fn runs() -> Runs {
        Runs { own: Some(name("a")), members: [name("a"), name("b")].into(), strangers: BTreeSet::new() }
    }

    #[test]
    fn the_older_of_two_runs_of_a_node_stops() {
        let mut runs = runs();
        let own = (7, Some(20));
        for (node, session, since) in [
            ("", 9, None),
            ("a", 7, Some(20)),
            // A run before this one: its last records may come late.
            ("a", 9, Some(19)),
            ("a", 9, None),
            ("b", 9, Some(30)),
        ] {
            assert_eq!(runs.note(40, &record(node, session, since), own), Ok(()), "{node} {session} {since:?}");
        }
        let newer = record("a", 9, Some(21));
        assert_eq!(runs.note(40, &newer, (7, None)), Ok(()), "an earlier run, while this one catches up");
        let why = runs.note(40, &newer, own).expect_err("stops");
        assert!(why.contains("since offset 21, and this one since offset 20"), "{why}");
        runs.own = None;
        assert_eq!(runs.note(40, &newer, own), Ok(()), "a run without a name");
    }

    #[test]
    fn a_writer_that_is_no_member_is_told_once() {
        let mut runs = runs();
        for node in ["b", "c", "c"] {
            assert_eq!(runs.note(40, &record(node, 9, Some(3)), (7, Some(20))), Ok(()));
        }
        assert_eq!(runs.strangers, [name("c")].into());
        (0..2 * MAX_MEMBERS).for_each(|n| {
            runs.note(40, &record(&format!("c{n}"), 9, Some(3)), (7, Some(20))).expect("goes on");
        });
        assert_eq!(runs.strangers.len(), MAX_MEMBERS);
    }
}
