//! Events of a cluster besides its operations: others write to the topic, the log loses records, a node is slow.

use std::thread;

use cluster::Record;
use serde_json::Value;

use super::machine::{CHANCES, Machine};
use super::nodes::{NODES, fault, meet, read_index, wait};
use crate::wait::{PATIENCE, until};

impl Machine {
    /// Sometimes one of these events.
    pub(crate) fn event(&mut self) -> Result<(), String> {
        match self.nodes.random.u32(..4000) {
            0..100 => self.stranger(),
            100..110 => return self.lose(),
            110..112 => return self.slow(),
            _ => {}
        }
        Ok(())
    }

    /// A record of late, as another one.
    fn altered(&mut self, alter: impl Fn(&mut Value, &str)) -> Vec<u8> {
        let records = self.nodes.log().records();
        let has_commands = |record: &&Record| !record.bytes.ends_with(br#""commands":[]}"#);
        let values = records.iter().rev().take(100).filter(has_commands);
        let values: Vec<Value> = values.filter_map(|record| serde_json::from_slice(&record.bytes).ok()).collect();
        let first = || serde_json::from_slice(&records[0].bytes).expect("a beginning");
        let nth = self.nodes.random.usize(..values.len().max(1));
        let mut value: Value = values.into_iter().nth(nth).unwrap_or_else(first);
        alter(&mut value, &format!("{:016x}", self.nodes.random.u64(..)));
        serde_json::to_vec(&value).expect("writes")
    }

    /// Bytes that nobody of this cluster has written.
    fn stranger(&mut self) {
        let bytes = match self.nodes.random.u32(..4) {
            0 => b"hello".to_vec(),
            1 => Vec::new(),
            2 => br#"{"level":9,"log":"0123456789abcdef"}"#.to_vec(),
            _ => self.altered(|record, token| record["log"] = token.into()),
        };
        self.counts.strangers += 1;
        self.nodes.log().put(bytes);
    }

    /// The log loses a record that one node has applied, and the node goes on writing. It stops, and no other one.
    fn lose(&mut self) -> Result<(), String> {
        self.nodes.log().calm();
        meet(&self.nodes)?;
        let (victim, present) = (self.nodes.random.usize(..NODES), self.nodes.present());
        let others: Vec<_> = (0..NODES).filter(|node| *node != victim).collect();
        let end = self.nodes.log().end();
        others.iter().for_each(|node| self.nodes.log().blind(*node, PATIENCE));
        let lost = self.altered(|record, token| record["session"] = token.into());
        self.nodes.log().put(lost);
        self.nodes.go_to(victim);
        until("a node does not see a record", || self.nodes.case.system.node().position() > end)?;
        let (tells, writes_first) = (self.nodes.random.bool(), self.nodes.random.bool());
        self.nodes.log().cut(end, &[victim], tells);
        if writes_first {
            self.write_on()?;
        }
        self.nodes.log().calm();
        self.nodes.log().blind(victim, PATIENCE);
        for node in others.iter().chain(&others) {
            self.nodes.go_to(*node);
            read_index(&self.nodes.case.system)?;
        }
        self.nodes.go_to(victim);
        if !writes_first {
            self.write_on()?;
        }
        self.nodes.log().calm();
        let system = &self.nodes.case.system;
        until("a node that has seen what the log has lost does not stop", || fault(system).is_some())?;
        for node in others {
            self.nodes.go_to(node);
            read_index(&self.nodes.case.system)?;
        }
        self.nodes.log().heal(victim);
        self.nodes.go_to(victim);
        if self.nodes.random.u32(..4) == 0 {
            self.nodes.replace_with(None);
        } else {
            self.nodes.replace();
        }
        ensure!(fault(&self.nodes.case.system).is_none(), "the log does not let a new node in");
        self.replaced(victim);
        self.nodes.log().set(CHANCES);
        self.nodes.go_to(present);
        Ok(())
    }

    /// The present node sends a record, unless it has stopped.
    fn write_on(&self) -> Result<(), String> {
        let (system, end) = (&self.nodes.case.system, self.nodes.log().end());
        let (node, log) = (system.node(), self.nodes.log());
        thread::scope(|scope| {
            scope.spawn(|| drop(wait(node.read_index())));
            until("a node sends nothing", || log.end() > end || fault(system).is_some())
        })
    }

    /// The present node sees nothing of what it sends, and knows that it is slow until it sees it.
    fn slow(&mut self) -> Result<(), String> {
        let (system, log, number) = (&self.nodes.case.system, self.nodes.log(), self.nodes.present());
        read_index(system)?;
        log.blind(number, PATIENCE);
        thread::scope(|scope| {
            scope.spawn(|| drop(wait(system.node().read_index())));
            let slow = until("a node does not know that it is slow", || system.node().is_slow());
            log.calm();
            slow
        })?;
        until("a node stays slow", || !system.node().is_slow())?;
        log.set(CHANCES);
        Ok(())
    }
}
