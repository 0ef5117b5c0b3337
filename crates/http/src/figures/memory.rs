//! The memory to plan for a server, and the memory that it may take.

use std::fs;
use std::path::Path;

use crate::figures::disk::number_after;

/// The part of the bounds for all that is small: jobs, filters, connections and the program, one of so many.
const OTHERS: u64 = 8;
/// Of each version of control groups: where Linux has them, what is before that of the process in its list, and the file with
/// a limit.
const GROUPS: [(&str, &str, &str); 2] =
    [("/sys/fs/cgroup", "0::/", "memory.max"), ("/sys/fs/cgroup/memory", ":memory:/", "memory.limit_in_bytes")];

/// The memory to plan, bytes: the sum of the bounds in force, and a part for all that is small.
pub(crate) fn planned(bounds: u64) -> u64 {
    bounds + bounds / OTHERS
}

/// Warns if the process may take less memory than is planned, bytes.
pub(crate) fn warn_if_less_than(planned: u64) {
    let (planned, there) = (planned >> 20, allowed().map(|bytes| bytes >> 20));
    if let Some(there) = there.filter(|there| *there < planned) {
        tracing::warn!(
            planned_mb = planned,
            allowed_mb = there,
            "the settings need more memory than the machine or its control group has: the system may end the server \
             under load. Lower storage.cache_mb (docs/operate/capacity.md)"
        );
    }
}

/// The memory that this process may take, bytes: that of the machine, or the least limit of its control groups.
fn allowed() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok()?;
    let machine = number_after(&machine, "MemTotal:").map(|kib| kib * 1024);
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = GROUPS.into_iter().filter_map(|(root, before, file)| {
        let (_, group) = groups.lines().find_map(|line| line.split_once(before))?;
        least(Path::new(root), group, file)
    });
    machine.into_iter().chain(limits).min()
}

/// The least limit of a control group and those above it; `None` if none has a limit. A container may see only the group at
/// the root, which is its own.
fn least(root: &Path, group: &str, file: &str) -> Option<u64> {
    let limit = |dir: &Path| fs::read_to_string(dir.join(file)).ok()?.trim().parse::<u64>().ok();
    root.join(group).ancestors().take_while(|dir| dir.starts_with(root)).filter_map(limit).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_limit_of_all_groups_counts() {
        let root = tempfile::tempdir().expect("temp dir");
        let group = root.path().join("a/b/c");
        fs::create_dir_all(&group).expect("makes");
        let least = |group| least(root.path(), group, "memory.max");
        assert_eq!(least("a/b/c"), None, "no group has a file");
        for (dir, limit) in [("a/b/c", "max\n"), ("a/b", "3000\n"), ("a", "2000\n")] {
            fs::write(root.path().join(dir).join("memory.max"), limit).expect("writes");
        }
        assert_eq!(least("a/b/c"), Some(2000));
        assert_eq!(least(""), None, "the root has no limit");
        fs::write(root.path().join("memory.max"), "1000").expect("writes");
        assert_eq!(least("a/b/c"), Some(1000));
    }
}
