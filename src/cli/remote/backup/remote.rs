//! The backups of a running server, over HTTP.

use hyper::Method;
use serde::de::IgnoredAny;

use super::super::calls::Server;
use super::BackupSource;
use crate::prelude::*;
use feed::backup::Backup;

/// The path of backups.
const PATH: &str = "/v1/admin/backups";

/// Fails with the reason if no server of this program can have told the backup.
fn checked(server: &Server, backup: Backup) -> Result<Backup> {
    backup.manifest.check().map_err(|why| Error::Setup(format!("{} told of a backup: {why}", server.url())))?;
    Ok(backup)
}

impl BackupSource for Server {
    fn take(&self) -> Result<Backup> {
        checked(self, self.call(Method::POST, PATH, None)?)
    }

    fn list(&self) -> Result<Vec<Backup>> {
        let items: Vec<Backup> = self.field(Method::GET, PATH, "items")?;
        items.into_iter().map(|shown| checked(self, shown)).collect()
    }

    fn read(&self, name: &str) -> Result<(Box<dyn Read + Send>, u64)> {
        let body = Server::read(self, Method::GET, &format!("{PATH}/{name}"), String::new())?;
        let unknown = || Error::Setup(format!("{} gave an archive without a length", self.url()));
        let length = body.length.ok_or_else(unknown)?;
        Ok((Box::new(body), length))
    }

    fn note_copy(&self, name: &str, failure: Option<&str>) -> Result<()> {
        let report = json!({ "failure": failure });
        let _: IgnoredAny = self.call(Method::PUT, &format!("{PATH}/{name}/copy"), Some(&report))?;
        Ok(())
    }
}
