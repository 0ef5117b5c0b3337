//! From the settings to the command log.

use std::path::Path;
use std::sync::Arc;

use super::kafka::{ClientCert, Connection, Kafka, Mechanism, Sasl, Tls, create_topic};
use super::log::Log;
use config::Cluster;
use model::error::{Error, Result};

/// The command log of the settings. Fails if its topic cannot hold the promise that nothing acknowledged is lost, or
/// does not exist, and warns of lesser dangers.
pub fn connect(cluster: &Cluster) -> Result<Arc<dyn Log>> {
    let kafka = Kafka::open(connection(cluster), cluster.replication == 1)?;
    for danger in kafka.dangers()? {
        tracing::warn!(topic = cluster.topic, "{danger}");
    }
    Ok(Arc::new(kafka))
}

/// Makes the topic of the settings. False if it is there already.
pub fn make_topic(cluster: &Cluster) -> Result<bool> {
    let connection = connection(cluster);
    let number = |n: usize| i32::try_from(n).map_err(|_| Error::Setup("cluster.replication: too large".to_owned()));
    let retention = Some(cluster.retention.get());
    create_topic(&connection, number(cluster.replication)?, number(cluster.min_in_sync)?, retention, cluster.flush)
}

fn connection(cluster: &Cluster) -> Connection {
    let file = |path: &Path| (path != Path::new("")).then(|| path.to_owned());
    let client = file(&cluster.tls_cert).zip(file(&cluster.tls_key));
    let client = client.map(|(cert_file, key_file)| ClientCert { cert_file, key_file });
    let mechanism = match cluster.sasl {
        config::Sasl::Off => None,
        config::Sasl::Plain => Some(Mechanism::Plain),
        config::Sasl::ScramSha256 => Some(Mechanism::ScramSha256),
        config::Sasl::ScramSha512 => Some(Mechanism::ScramSha512),
    };
    Connection {
        brokers: cluster.brokers.clone(),
        topic: cluster.topic.clone(),
        tls: cluster.tls.then(|| Tls { ca_file: file(&cluster.tls_ca), client }),
        sasl: mechanism.map(|mechanism| Sasl {
            mechanism,
            user: cluster.sasl_user.clone(),
            password: cluster.sasl_password.reveal().to_owned(),
        }),
    }
}
