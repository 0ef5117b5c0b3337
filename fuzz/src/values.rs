//! Values: any bytes are read without a panic, and a value that is read is written and read again unchanged.

use std::fmt::Debug;

use super::values;
use model::error::Result;
use model::{ContentId, JobId, Lane, UserId};

/// Any bytes, as each of the values.
pub fn values(bytes: &[u8]) {
    let id = ContentId::MIN;
    let job = JobId { lane: Lane::of(UserId::MIN), seq: 1 };
    same(bytes, |bytes| values::read_content(id, bytes), |stored| values::content(stored).ok());
    same(bytes, |bytes| values::read_job(job, bytes), |job| values::job(&job.work, job.progress).ok());
    same(bytes, values::read_profile, |profile| values::profile(profile).ok());
    same(bytes, values::read_settings, |settings| values::settings(*settings).ok());
    same(bytes, values::read_activity, |activity| Some(values::activity(*activity).to_vec()));
    same(bytes, values::read_unpushed, |unpushed| Some(values::unpushed(*unpushed).to_vec()));
    same(bytes, |bytes| values::events::read_logged(1, bytes), |row| Some(values::events::logged(row)));
    same(bytes, values::read_marker, |cursor| Some(values::cursor(*cursor).to_vec()));
    same(bytes, values::read_author, |author| Some(values::author(*author).to_vec()));
    same(bytes, values::read_millis, |at| Some(values::millis(*at).to_vec()));
    same(bytes, values::read_given, |number| Some(values::given(*number).to_vec()));
    if let Some(count) = values::read_count(bytes) {
        assert_eq!(values::count(count), bytes);
    }
    if let Some(counts) = values::read_item_counts(bytes) {
        assert_eq!(values::item_counts(&counts), bytes);
    }
    _ = values::read_deleted_at(bytes);
}

fn same<T: Debug + PartialEq>(bytes: &[u8], read: impl Fn(&[u8]) -> Result<T>, write: impl Fn(&T) -> Option<Vec<u8>>) {
    let Ok(value) = read(bytes) else { return };
    let written = write(&value).expect("a value that was read can be written");
    assert_eq!(read(&written).expect("reads"), value);
}
