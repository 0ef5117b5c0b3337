//! How a node reaches the brokers of the command log.

use std::fs::File;
use std::path::{Path, PathBuf};

use rdkafka::client::ClientContext;
use rdkafka::config::{ClientConfig, FromClientConfigAndContext, RDKafkaLogLevel};
use rdkafka::error::KafkaError;

use super::MAX_MESSAGE;
use config::{Cluster, Sasl};
use model::error::{Error, Result};

/// A client with these settings beside those of all clients. Fails if a setting or a file is wrong.
pub(super) fn client<T, C>(cluster: &Cluster, settings: &[(&str, &str)], context: C) -> Result<T>
where
    T: FromClientConfigAndContext<C>,
    C: ClientContext,
{
    let mut config = client_config(cluster)?;
    for (key, value) in settings {
        config.set(*key, *value);
    }
    T::from_config_and_context(&config, context).map_err(|error| unusable(&error))
}

/// The settings of all clients: the way to the brokers. Fails if a file cannot be read.
fn client_config(cluster: &Cluster) -> Result<ClientConfig> {
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
    config.set("bootstrap.servers", cluster.brokers.join(","));
    let has_sasl = cluster.sasl != Sasl::Off;
    config.set(
        "security.protocol",
        match (cluster.tls, has_sasl) {
            (false, false) => "plaintext",
            (true, false) => "ssl",
            (false, true) => "sasl_plaintext",
            (true, true) => "sasl_ssl",
        },
    );
    if cluster.tls {
        let file = |path: &PathBuf| (path != Path::new("")).then(|| path.clone());
        let [ca, cert, key] = [&cluster.tls_ca, &cluster.tls_cert, &cluster.tls_key].map(file);
        for file in ca.iter().chain(&cert).chain(&key) {
            // The library would not name the file.
            File::open(file).map_err(|error| Error::Setup(format!("{}: {error}", file.display())))?;
        }
        // The library has an OpenSSL of its own, which does not know where the system keeps its authorities.
        let ca = ca.unwrap_or_else(|| "probe".into());
        config.set("ssl.endpoint.identification.algorithm", "https");
        for (name, file) in
            [("ssl.ca.location", Some(ca)), ("ssl.certificate.location", cert), ("ssl.key.location", key)]
        {
            file.map(|file| config.set(name, file.to_string_lossy()));
        }
    }
    if has_sasl {
        config.set("sasl.mechanism", cluster.sasl.as_str()).set("sasl.username", &cluster.sasl_user);
        config.set("sasl.password", cluster.sasl_password.reveal());
    }
    Ok(config)
}

/// The failure to make a client, without the values of settings: one may be a password.
fn unusable(error: &KafkaError) -> Error {
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
        let cluster = Cluster {
            sasl: Sasl::Plain,
            sasl_user: "node".into(),
            sasl_password: serde_json::from_value("s3cret".into()).unwrap(),
            ..Cluster::default()
        };
        let mut config = client_config(&cluster).unwrap();
        let text = format!("{cluster:?} {config:?}");
        assert!(text.contains("node") && !text.contains("s3cret"), "{text}");
        config.set("sasl.password", "s3cret\0");
        let made: Result<rdkafka::consumer::BaseConsumer, KafkaError> = config.create();
        let Err(error) = made.map(drop) else { panic!("a zero byte in a password was accepted") };
        assert!(!unusable(&error).to_string().contains("s3cret"));
    }
}
