//! How a node reaches the brokers of the command log.

use std::fmt;
use std::fs::File;
use std::path::PathBuf;

use rdkafka::config::{ClientConfig, RDKafkaLogLevel};
use rdkafka::error::KafkaError;

use super::MAX_MESSAGE;
use model::error::{Error, Result};

/// The brokers and the topic of the command log, and the credentials for them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Connection {
    /// Some brokers as `host:port`; they name the others.
    pub(crate) brokers: Vec<String>,
    /// The topic with the log. It has one partition.
    pub(crate) topic: String,
    /// Encryption, or plain text if absent.
    pub(crate) tls: Option<Tls>,
    /// Name and password, or none if absent.
    pub(crate) sasl: Option<Sasl>,
}

/// Encryption of the connections to the brokers. The name in the certificate of a broker is checked.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tls {
    /// A PEM file with the authorities that sign the certificates of brokers. Without it: those of the system.
    pub(crate) ca_file: Option<PathBuf>,
    /// The certificate of this client, where brokers ask for one.
    pub(crate) client: Option<ClientCert>,
}

/// A certificate with its key.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientCert {
    /// A PEM file with the certificate and its chain.
    pub(crate) cert_file: PathBuf,
    /// A PEM file with the private key, not encrypted.
    pub(crate) key_file: PathBuf,
}

/// A name and a password for the brokers.
#[derive(Clone)]
pub(crate) struct Sasl {
    /// How they are sent.
    pub(crate) mechanism: Mechanism,
    /// The name.
    pub(crate) user: String,
    /// The password.
    pub(crate) password: String,
}

/// A mechanism of SASL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mechanism {
    /// In clear text: only with [`Tls`].
    Plain,
    /// Salted challenge and response with SHA-256.
    ScramSha256,
    /// Salted challenge and response with SHA-512.
    ScramSha512,
}

impl Mechanism {
    /// The registered name.
    fn name(self) -> &'static str {
        match self {
            Self::Plain => "PLAIN",
            Self::ScramSha256 => "SCRAM-SHA-256",
            Self::ScramSha512 => "SCRAM-SHA-512",
        }
    }
}

impl fmt::Debug for Sasl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sasl").field("mechanism", &self.mechanism).field("user", &self.user).finish_non_exhaustive()
    }
}

impl Connection {
    /// The settings that all clients share. Fails if a file of the connection cannot be read.
    pub(super) fn config(&self) -> Result<ClientConfig> {
        let mut config = ClientConfig::new();
        config.set_log_level(RDKafkaLogLevel::Info);
        let message = MAX_MESSAGE.to_string();
        for (key, value) in [
            ("client.id", "tideline"),
            // A topic that was deleted must not come again by itself, with settings that keep no promise.
            ("allow.auto.create.topics", "false"),
            ("message.max.bytes", &message),
            // A broker that hangs keeps its connections open. These waits find it out.
            ("socket.keepalive.enable", "true"),
            ("socket.connection.setup.timeout.ms", "4000"),
            ("api.version.request.timeout.ms", "4000"),
            // Finds a new leader while the former one hangs, if another broker is asked.
            ("topic.metadata.refresh.interval.ms", "2000"),
            ("reconnect.backoff.ms", "100"),
            ("reconnect.backoff.max.ms", "1000"),
            ("log.connection.close", "false"),
        ] {
            config.set(key, value);
        }
        config.set("bootstrap.servers", self.brokers.join(","));
        config.set(
            "security.protocol",
            match (&self.tls, &self.sasl) {
                (None, None) => "plaintext",
                (Some(_), None) => "ssl",
                (None, Some(_)) => "sasl_plaintext",
                (Some(_), Some(_)) => "sasl_ssl",
            },
        );
        if let Some(tls) = &self.tls {
            let client = tls.client.iter().flat_map(|client| [&client.cert_file, &client.key_file]);
            for file in tls.ca_file.iter().chain(client) {
                // The library would not name the file.
                File::open(file).map_err(|error| Error::Setup(format!("{}: {error}", file.display())))?;
            }
            // The library has an OpenSSL of its own, which does not know where the system keeps its authorities.
            let ca = tls.ca_file.as_ref().map_or("probe".into(), |file| file.to_string_lossy());
            config.set("ssl.ca.location", ca).set("ssl.endpoint.identification.algorithm", "https");
            if let Some(client) = &tls.client {
                config.set("ssl.certificate.location", client.cert_file.to_string_lossy());
                config.set("ssl.key.location", client.key_file.to_string_lossy());
            }
        }
        if let Some(sasl) = &self.sasl {
            config.set("sasl.mechanism", sasl.mechanism.name());
            config.set("sasl.username", &sasl.user).set("sasl.password", &sasl.password);
        }
        Ok(config)
    }
}

/// The failure to make a client, without the values of settings: one may be a password.
pub(super) fn unusable(error: &KafkaError) -> Error {
    Error::Setup(match error {
        KafkaError::ClientConfig(_, _, key, _) => format!("the client of the command log: {key} has a wrong value"),
        KafkaError::ClientCreation(cause) => format!("the client of the command log: {cause}"),
        error => format!("the client of the command log: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_in_no_text() {
        let sasl = Sasl { mechanism: Mechanism::Plain, user: "node".into(), password: "s3cret\0".into() };
        let connection = Connection { sasl: Some(sasl), ..Connection::default() };
        let text = format!("{connection:?} {:?}", connection.config().unwrap());
        assert!(text.contains("node") && !text.contains("s3cret"), "{text}");
        let made: Result<rdkafka::consumer::BaseConsumer, KafkaError> = connection.config().unwrap().create();
        let Err(error) = made.map(drop) else { panic!("a zero byte in a password was accepted") };
        assert!(!unusable(&error).to_string().contains("s3cret"));
    }
}
