//! The machine and the versions of a run.

use std::fs::read_to_string;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use crate::postgres_side::programs;
use crate::process::output;
use crate::report::median;

/// Cores of the machine.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The load averages of the last 1, 5 and 15 minutes.
pub fn load() -> String {
    let text = read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(3).collect::<Vec<_>>().join(" ")
}

/// A list of the facts; `dir` has the data.
pub fn describe(dir: &Path) -> String {
    let first = |file: &str, key: &str| {
        let text = read_to_string(file).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
        line.trim_start_matches([' ', '\t', ':', '=']).trim().trim_matches('"').to_owned()
    };
    let memory: u64 =
        first("/proc/meminfo", "MemTotal:").split(' ').next().and_then(|kib| kib.parse().ok()).unwrap_or(0);
    let dir_text = dir.display().to_string();
    let disk = output("findmnt", &["-n", "-o", "FSTYPE,SOURCE", "-T", &dir_text]);
    let facts = [
        ("processor", format!("{}, {} cores", first("/proc/cpuinfo", "model name"), cores())),
        ("memory", format!("{:.1} GiB", memory as f64 / f64::from(1 << 20))),
        ("system", format!("{}, Linux {}", first("/etc/os-release", "PRETTY_NAME"), output("uname", &["-r"]))),
        (
            "disk",
            format!(
                "{}; writing and flushing 4 KiB takes {:.2} ms (median)",
                disk.split_whitespace().collect::<Vec<_>>().join(" "),
                flush_time(dir)
            ),
        ),
    ];
    facts.map(|(what, fact)| format!("| {what} | {fact} |")).join("\n")
}

/// Milliseconds.
fn flush_time(dir: &Path) -> f64 {
    let mut file = tempfile::tempfile_in(dir).expect("a file");
    let times = (0..51).map(|_| {
        let begun = Instant::now();
        file.write_all(&[1; 4096]).and_then(|()| file.sync_data()).expect("writes");
        begun.elapsed().as_secs_f64() * 1e3
    });
    median(times.collect())
}

/// A list of versions.
pub fn versions() -> String {
    let root = env!("CARGO_MANIFEST_DIR");
    let lock = read_to_string(Path::new(root).join("Cargo.lock")).unwrap_or_default();
    let locked = |name: &str| {
        let after = lock.split(&format!("name = \"{name}\"\nversion = \"")).nth(1);
        after.and_then(|text| text.split('"').next()).unwrap_or("?").to_owned()
    };
    let postgres = programs().map(|bin| output(&bin.join("postgres").display().to_string(), &["--version"]));
    let redis = output("redis-server", &["--version"]);
    let redis = redis.split(' ').find_map(|word| word.strip_prefix("v=")).unwrap_or("?");
    // It prints this to stderr or to stdout, and fails.
    let wrk = std::process::Command::new("wrk").arg("-v").output();
    let wrk = wrk.map(|output| [output.stdout, output.stderr].concat()).unwrap_or_default();
    let wrk = String::from_utf8_lossy(&wrk);
    let changed = if output("git", &["-C", root, "status", "--porcelain", "--untracked-files=no"]).is_empty() {
        ""
    } else {
        ", with changes that are not committed"
    };
    let facts = [
        (
            "Tideline",
            format!(
                "{}, commit {}{changed}",
                env!("CARGO_PKG_VERSION"),
                output("git", &["-C", root, "rev-parse", "--short=10", "HEAD"])
            ),
        ),
        ("Rust", output("rustc", &["--version"])),
        ("RocksDB", format!("of librocksdb-sys {}", locked("librocksdb-sys"))),
        ("actix-web", locked("actix-web")),
        ("Redis", format!("{redis}, client redis {}", locked("redis"))),
        ("PostgreSQL", format!("{}, client tokio-postgres {}", postgres.unwrap_or_default(), locked("tokio-postgres"))),
        ("wrk", wrk.split_whitespace().nth(1).unwrap_or("?").to_owned()),
    ];
    facts.map(|(what, fact)| format!("| {what} | {fact} |")).join("\n")
}
