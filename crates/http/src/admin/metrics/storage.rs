//! Figures of the store and the process.

use std::fmt;

use super::page::Page;
use crate::admin::disk_figures::DiskFigures;
use model::store::EngineUsage;

/// Writes the figures as they were at the time of the sample.
pub(super) fn figures(page: &mut Page<'_>, sample: &DiskFigures) -> fmt::Result {
    let usage = &*sample.store;
    let tables = || usage.tables.iter();
    page.each(
        "tideline_table_rows",
        "Estimated number of rows of a table.",
        "table",
        tables().map(|table| (table.table, table.rows)),
    )?;
    page.each(
        "tideline_table_bytes",
        "Bytes of a table on disk and in write buffers.",
        "table",
        tables().map(|table| (table.table, table.bytes)),
    )?;
    page.fill(
        "tideline_memtable_bytes",
        [
            "Memory used by rows that are not in table files yet.",
            "Memory of such rows at which they are written to table files.",
        ],
        usage.write_buffers,
    )?;
    page.fill(
        "tideline_arrivals_bytes",
        [
            "Memory used by changes of inboxes that are not written yet.",
            "Memory of such changes at which fan-outs wait.",
        ],
        usage.arrivals,
    )?;
    page.one(
        "tideline_damaged_inboxes_total",
        "Inboxes that could not be read and were dropped. The next read of their user rebuilds them.",
        usage.damaged_inboxes,
    )?;
    page.fill(
        "tideline_log_bytes",
        [
            "Bytes of the write-ahead log.",
            "Size of the write-ahead log at which its oldest rows are written to table files.",
        ],
        usage.log,
    )?;
    page.fill(
        "tideline_unpushed_rows",
        ["Authors with unpushed items, kept in memory.", "Limit of authors with unpushed items kept in memory."],
        usage.unpushed,
    )?;
    page.one(
        "tideline_unpushed_rows_left_out_total",
        "Authors with unpushed items that did not fit in memory; above 0, reads look up unknown authors in the table.",
        usage.unpushed_left_out,
    )?;
    page.fill(
        "tideline_partial_push_recipients",
        ["Users who get partial pushes, kept in memory.", "Limit of users who get partial pushes kept in memory."],
        usage.partial_push_recipients,
    )?;
    page.one(
        "tideline_partial_push_recipients_left_out_total",
        "Users who get partial pushes and did not fit in memory; above 0, fan-outs look up unknown users in the table.",
        usage.partial_push_recipients_left_out,
    )?;
    let filters = || usage.filters.iter();
    page.each(
        "tideline_filter_keys",
        "Keys in a filter.",
        "filter",
        filters().map(|filter| (filter.name, filter.keys.used)),
    )?;
    page.each(
        "tideline_filter_keys_limit",
        "Keys for which a filter is sized; more keys cause more look-ups, but no wrong answer.",
        "filter",
        filters().map(|filter| (filter.name, filter.keys.limit)),
    )?;
    page.each(
        "tideline_filter_bytes",
        "Memory used by a filter.",
        "filter",
        filters().map(|filter| (filter.name, filter.bytes)),
    )?;
    page.one(
        "tideline_storage_writes_refused",
        "1 if the last change was refused because the device is full or has failed.",
        u64::from(usage.writes_refused),
    )?;
    page.one(
        "tideline_storage_needs_restart",
        "1 if the storage engine has stopped and accepts no changes until the server is restarted.",
        u64::from(usage.needs_restart),
    )?;
    page.one(
        "tideline_storage_writes_stopped",
        "1 while the storage engine holds back all writes.",
        u64::from(usage.writes_stopped),
    )?;
    page.one(
        "tideline_storage_background_errors_total",
        "Errors in the background threads of the storage engine.",
        usage.background_errors,
    )?;
    engine(page, &usage.engine)?;
    page.fraction(
        "tideline_storage_sample_age_seconds",
        "Age of the figures of the store and the process; above 1 if the disk does not answer.",
        sample.at.elapsed().as_secs_f64(),
    )?;
    page.fraction(
        "process_cpu_seconds_total",
        "Total user and system CPU time spent in seconds.",
        sample.process.processor_seconds,
    )?;
    for (name, help, value) in [
        ("process_resident_memory_bytes", "Resident memory size in bytes.", sample.process.resident_bytes),
        ("process_open_fds", "Number of open file descriptors.", sample.process.open_files),
        ("process_max_fds", "Maximum number of open file descriptors.", sample.process.max_files),
    ] {
        if let Some(value) = value {
            page.one(name, help, value)?;
        }
    }
    Ok(())
}

/// The engine's work in the background, and the stalls of changes by it.
fn engine(page: &mut Page<'_>, engine: &EngineUsage) -> fmt::Result {
    for (name, help, value) in [
        ("tideline_storage_compactions_running", "Compactions that run.", engine.compactions),
        ("tideline_storage_flushes_running", "Write buffers being written to table files.", engine.flushes),
        (
            "tideline_storage_compaction_pending_bytes",
            "Estimated bytes that compactions have yet to rewrite.",
            engine.compaction_debt,
        ),
        (
            "tideline_storage_fresh_files",
            "Table files that no compaction has seen (level 0), of the table that has most of them.",
            engine.fresh_files,
        ),
        ("tideline_storage_slowdowns_total", "Times that the engine slowed changes down.", engine.slowdowns),
        ("tideline_storage_stops_total", "Times that the engine held changes back.", engine.stops),
        (
            "tideline_storage_slowdown_bytes_per_second",
            "Bytes a second to which the engine slows changes down at present; 0 for no limit.",
            engine.slowed_to,
        ),
    ] {
        page.one(name, help, value)?;
    }
    Ok(())
}
