//! The end of a sequence: all nodes agree, in everything that readers can see.

use model::Millis;

use super::machine::Machine;
use super::nodes::{NODES, meet};
use crate::promises::change::clock;
use crate::promises::mirror::Mirror;
use crate::promises::ops::Op;
use crate::promises::replay::{Findings, same_tables, seen};
use crate::promises::shape::NEVER;

impl Machine {
    /// Ends all faults of the log, and compares the nodes at one position, before and after all their jobs are done.
    pub(crate) fn end(&mut self) -> Result<(), String> {
        self.nodes.log().calm();
        meet(&self.nodes)?;
        if self.counts.undecided == 0 {
            self.all_read()?;
        }
        self.compare()?;
        for number in 0..NODES {
            self.nodes.go_to(number);
            if self.counts.undecided == 0 {
                self.nodes.case.apply(&Op::Drain(false))?;
            } else {
                self.nodes.case.system.drain()?;
            }
        }
        self.compare()?;
        for system in self.nodes.systems() {
            let mut findings = Findings::default();
            feed::check::audit(system.store(), &mut findings).map_err(|e| format!("an audit fails: {e}"))?;
            // An inbox that was damaged on purpose, and that nobody has read since.
            findings.0.retain(|line| !line.ends_with("inboxes has its row, which cannot be read"));
            ensure_eq!(findings.0, Vec::<String>::new(), "the audit of a node");
        }
        Ok(())
    }

    /// Compares everything with the model, on each node.
    fn all_read(&mut self) -> Result<(), String> {
        for number in 0..NODES {
            self.nodes.go_to(number);
            let case = &mut self.nodes.case;
            case.read_all().map_err(|wrong| format!("node {number}: {wrong}"))?;
            let mut whole = Mirror::default();
            for mirror in [&mut self.mirror, &mut whole] {
                let read = mirror.read_on(&case.system.feed, 100, false);
                let read = read.and_then(|()| mirror.compare(&case.model, case.system.feed.reaction_kinds()));
                read.map_err(|wrong| format!("node {number}: {wrong}"))?;
            }
            ensure_eq!(&whole, &self.mirror, "the feed of changes of node {number}");
            case.hosts.check(case.system.store()).map_err(|wrong| format!("node {number}: {wrong}"))?;
        }
        Ok(())
    }

    /// Compares the nodes with each other. All are at one position.
    fn compare(&self) -> Result<(), String> {
        let (_, kept) = self.nodes.plan.config_of_all();
        // Rows that a purge would remove do not count.
        let final_before = if kept == NEVER { Millis::MAX } else { 0 };
        let time = clock();
        for system in self.nodes.systems() {
            feed::notices::tables::keep_notices(system.store(), system.feed.notices_since(time));
        }
        same_tables(self.nodes.systems(), final_before)?;
        let mut all = self.nodes.systems().map(|system| seen(&system.feed, self.ids, 7));
        let first = all.next().ok_or("no nodes")?;
        all.try_for_each(|other| {
            for (is, should_be) in other.iter().zip(&first) {
                ensure_eq!(is, should_be, "one node and another");
            }
            Ok(())
        })
    }
}
