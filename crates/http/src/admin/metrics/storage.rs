//! Figures of the store and the process.

use crate::figures::disk::DiskFigures;
use model::figures;
use model::metrics::{Page, by};

/// Writes the figures as they were at the time of the sample, and the memory to plan with, bytes.
pub(super) fn figures(page: &mut Page, sample: &DiskFigures, planned_memory: u64) {
    let usage = &*sample.engine;
    let tables = || usage.tables.iter();
    figures! { page =>
        /// Estimated number of rows of a table.
        tideline_table_rows = by("table", tables().map(|table| (table.table, table.rows)));
        /// Bytes of a table on disk and in write buffers.
        tideline_table_bytes = by("table", tables().map(|table| (table.table, table.bytes)));
        /// Memory used by rows that are not in table files yet.
        tideline_memtable_bytes = usage.write_buffers;
        /// Bytes of the write-ahead log.
        tideline_log_bytes = usage.log;
        /// Bytes of the file system of the data directory that are not free for the server.
        tideline_storage_device_bytes = usage.device;
        /// 1 if the last change was refused because the device is full or has failed.
        tideline_storage_writes_refused = usage.writes_refused;
        /// 1 if the storage engine has stopped and accepts no changes until the server is restarted.
        tideline_storage_needs_restart = usage.needs_restart;
        /// 1 while the storage engine holds back all writes.
        tideline_storage_writes_stopped = usage.writes_stopped;
        /// Errors in the background threads of the storage engine.
        tideline_storage_background_errors_total = usage.background_errors;
        /// Compactions that run.
        tideline_storage_compactions_running = usage.work.compactions;
        /// Write buffers being written to table files.
        tideline_storage_flushes_running = usage.work.flushes;
        /// Estimated bytes that compactions have yet to rewrite.
        tideline_storage_compaction_pending_bytes = usage.work.compaction_debt;
        /// Table files that no compaction has seen (level 0), of the table that has most of them.
        tideline_storage_fresh_files = usage.work.fresh_files;
        /// Times that the engine slowed changes down.
        tideline_storage_slowdowns_total = usage.work.slowdowns;
        /// Times that the engine held changes back.
        tideline_storage_stops_total = usage.work.stops;
        /// Bytes a second to which the engine slows changes down at present; 0 for no limit.
        tideline_storage_slowdown_bytes_per_second = usage.work.slowed_to;
        /// Total user and system CPU time spent in seconds.
        process_cpu_seconds_total = sample.process.processor_seconds;
        /// Resident memory size in bytes.
        process_resident_memory_bytes = sample.process.resident_bytes;
        /// Memory to plan for this server: all bounds in force, and an eighth for all that is small.
        tideline_memory_planned_bytes = planned_memory;
        /// Number of open file descriptors.
        process_open_fds = sample.process.open_files;
        /// Maximum number of open file descriptors.
        process_max_fds = sample.process.max_files;
    }
}
