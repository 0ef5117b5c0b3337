//! `/v1/admin/backups`: copies of all data.

use actix_web::http::header::CONTENT_DISPOSITION;

use crate::call::pieces;
use crate::prelude::*;
use feed::backup::Backup;

const MEDIA_TYPE: &str = "application/x-tar";

endpoints! { "operations", of_this_server:
    let archive = shape::named("BackupArchive", json!({"type": "string", "format": "binary"}));

    /// Take a backup of all data
    ///
    /// The answer comes when the backup is on the device. It has every change that was acknowledged before the
    /// request. Its verification begins then: `state` in the list of backups has the result. After a verification,
    /// backups older than the newest `backup.keep` verified ones are removed.
    post("/v1/admin/backups", take, "takeBackup")
        .takes_nothing()
        .answers::<BackupBody>(201, "The new backup")
        .refuses(&[Code::BackupBusy, Code::BackupDirUnusable, Code::NoRoom, Code::Stopping, Code::StorageStopped]);

    /// List the backups
    ///
    /// Newest first.
    get("/v1/admin/backups", list, "listBackups")
        .answers_items::<BackupBody>(200, "BackupList", "All backups")
        .refuses(&[Code::BackupDirUnusable]);

    /// Read a backup as one tar archive
    ///
    /// `tideline restore` makes a data directory of the archive.
    get("/v1/admin/backups/{name}", read, "readBackup")
        .not_for_read_keys()
        .answers_in(MEDIA_TYPE, 200, "The archive", archive, "".into())
        .refuses(&[Code::BackupNotFound]);

    /// Remove a backup
    delete("/v1/admin/backups/{name}", remove, "removeBackup")
        .answers_nothing("The backup is removed")
        .refuses(&[Code::BackupNotFound, Code::BackupBusy]);

    /// The end of a copy that `tideline backup --to` has made
    put("/v1/admin/backups/{name}/copy", note_copy, "").takes_unlisted();
}

answers! {
    /// A backup.
    struct BackupBody as Backup (of: Backup) {
        /// The time when it began, in a form that sorts.
        #[schema(pattern = r"^[0-9]{8}T[0-9]{6}\.[0-9]{3}Z$")]
        (name: String) = of.manifest.name;
        /// When it began. It has every change that was acknowledged before.
        (begun_at: Millis as Time) = of.manifest.begun_at;
        /// The time until it was on the device, milliseconds.
        (took_ms: u64) = of.manifest.took_ms;
        /// `unverified`, `verifying`, `verified`, or `failed`.
        (state: &'static str) = of.state.as_str();
        /// When its verification ended.
        (verified_at?: Millis as Time) = of.verified_at;
        /// The first disagreements that its verification found.
        (findings: Vec<String>) = of.findings;
        /// The format of its data directory.
        (format: u32) = of.manifest.format;
        /// The version that took it.
        (release: String) = of.manifest.release;
        /// Bytes of its files. It shares most of them with the data directory and with other backups.
        (bytes: u64) = of.manifest.bytes;
    }
}

/// `POST /v1/admin/backups`
async fn take(mut call: Call) -> Answer {
    call.empty_body().await?;
    let backups = Arc::clone(&call.api.backups);
    let taken = call.run(Wants::Change, move |feed| backups.take(feed.store())).await?;
    reply::with(StatusCode::CREATED, &BackupBody::new(taken))
}

/// `GET /v1/admin/backups`
async fn list(call: Call) -> Answer {
    let backups = Arc::clone(&call.api.backups);
    let found = call.run(Wants::Read, move |_| backups.list()).await?;
    let items: Vec<_> = found.into_iter().map(BackupBody::new).collect();
    reply::items(&items)
}

/// `DELETE /v1/admin/backups/{name}`
async fn remove(call: Call) -> Answer {
    let name = call.part("name");
    let backups = Arc::clone(&call.api.backups);
    call.run(Wants::Change, move |_| backups.remove(&name)).await?;
    reply::nothing()
}

/// The end of a copy that a client has made of a backup.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CopyReport {
    /// Why the copy failed; `None` if it is whole, and on its device.
    failure: Option<String>,
}

/// `PUT /v1/admin/backups/{name}/copy`
async fn note_copy(mut call: Call) -> Answer {
    let CopyReport { failure } = call.json().await?;
    let name = call.part("name");
    let backups = Arc::clone(&call.api.backups);
    call.run(Wants::Change, move |_| backups.note_copy(&name, failure.as_deref())).await?;
    reply::nothing()
}

/// `GET /v1/admin/backups/{name}`
async fn read(call: Call) -> Answer {
    let name = call.part("name");
    let place = call.api.limits.downloads.take(call.caller.holder, 1)?;
    let backups = Arc::clone(&call.api.backups);
    let disposition = format!("attachment; filename=\"tideline-{name}.tar\"");
    let archive = call.run(Wants::Read, move |_| backups.read(&name)).await?;
    let mut response = HttpResponse::Ok();
    response.content_type(MEDIA_TYPE).insert_header((CONTENT_DISPOSITION, disposition));
    pieces::answer(&call.api, response, ("a backup", Some(archive.length())), place, pieces::of(archive)).await
}
