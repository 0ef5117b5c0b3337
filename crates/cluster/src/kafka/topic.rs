//! The topic of the log: made once, looked at before each start of a node.

// Unlike a runtime of tokio, this may also be called from a thread of one.
use pollster::block_on;
use rdkafka::admin::{
    AdminClient, AdminOptions, ConfigEntry, ConfigResource, ConfigSource, NewTopic, ResourceSpecifier, TopicReplication,
};
use rdkafka::config::FromClientConfigAndContext;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode as Code};

use super::connection::client;
use super::rules::{Found, Settings, judge};
use super::watch::Watch;
use super::{MAX_MESSAGE, PARTITION};
use crate::prelude::*;
use model::threads::try_for;

/// For each request.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How long brokers that do not tell the settings of the topic are asked again, as after an election among them.
const TIME_LIMIT: Duration = Duration::from_secs(30);
/// Between two such questions.
const AGAIN: Duration = Duration::from_millis(250);
/// For a new topic until it has a leader.
const ELECTION: Duration = Duration::from_secs(30);
/// Events of a client during one question, at most.
const EVENTS: usize = 256;

/// Makes the topic of the settings, which keep an acknowledged record: `replication` copies, of which `min_in_sync` have a
/// record before it is acknowledged, on their disks with `flush`. Records are kept for the time of `retention`. False, and
/// no change, if the topic exists. Fails if fewer brokers than copies are there, or if no broker answers.
pub fn make_topic(cluster: &Cluster) -> Result<bool> {
    let name = cluster.topic.as_str();
    let number = |n: usize| i32::try_from(n).map_err(|_| Error::Setup("cluster.replication: too large".to_owned()));
    let replication = number(cluster.replication)?;
    let min = cluster.min_in_sync.to_string();
    let retention = cluster.retention.as_millis().to_string();
    let largest = MAX_MESSAGE.to_string();
    let topic = [
        ("min.insync.replicas", min.as_str()),
        ("unclean.leader.election.enable", "false"),
        ("message.timestamp.type", "LogAppendTime"),
        ("cleanup.policy", "delete"),
        ("retention.ms", &retention),
        ("retention.bytes", "-1"),
        ("max.message.bytes", &largest),
        // Brokers write what others have sent in gzip or zstd anew, so that nodes can read it, and pass over it.
        ("compression.type", "lz4"),
    ]
    .into_iter()
    // Without it, it is as the brokers have it.
    .chain(cluster.flush.then_some(("flush.messages", "1")))
    .fold(NewTopic::new(name, 1, TopicReplication::Fixed(replication)), |topic, (key, value)| topic.set(key, value));

    let consumer: BaseConsumer<Watch> = asker(cluster)?;
    metadata(&consumer, None)?;
    let admin: AdminClient<Watch> = asker(cluster)?;
    let options = AdminOptions::new().request_timeout(Some(TIMEOUT)).operation_timeout(Some(TIMEOUT));
    let made = block_on(admin.create_topics([&topic], &options)).map_err(|error| failed(name, "be made", &error))?;
    match made.into_iter().next() {
        Some(Ok(_)) => {}
        Some(Err((_, Code::TopicAlreadyExists))) => return Ok(false),
        Some(Err((_, code))) => return Err(failed(name, "be made", &KafkaError::AdminOp(code))),
        None => return Err(failed(name, "be made", &KafkaError::NoMessageReceived)),
    }
    let read = try_for(ELECTION, AGAIN, |_| true, || consumer.fetch_watermarks(name, PARTITION, TIMEOUT));
    read.map(|_| true).map_err(|error| failed(name, "be read after it was made", &error))
}

/// Looks at the topic before a node uses it. Fails, with the name of the setting, if an acknowledged record could be
/// lost or changed, or if no broker answers. The result has one line for each lesser danger. A cluster with one replica is
/// for trials: one broker is enough for it.
pub(crate) fn check_topic(cluster: &Cluster) -> Result<Vec<String>> {
    let name = cluster.topic.as_str();
    let metadata = metadata(&asker(cluster)?, Some(name))?;
    let topic = metadata.topics().iter().find(|topic| topic.name() == name);
    let (partitions, error) = topic.map_or((&[][..], None), |topic| (topic.partitions(), topic.error()));
    match error.map(Code::from) {
        None if !partitions.is_empty() => {}
        None | Some(Code::UnknownTopicOrPartition | Code::UnknownTopic) => {
            return Err(Error::Setup(format!(
                "the topic {name:?} does not exist: cluster.topic or cluster.brokers is wrong, or there is no cluster yet \
                 (\"tideline cluster init\" begins one), or its log is lost (\"tideline cluster recover\" begins another \
                 one with the data of a node)"
            )));
        }
        Some(code) => return Err(failed(name, "be looked at", &KafkaError::MetadataFetch(code))),
    }
    let brokers: Vec<i32> = metadata.brokers().iter().map(|broker| broker.id()).collect();
    let admin = asker(cluster)?;
    let settings = settings_of_topic(&admin, name)?;
    let (mut known, mut silent, mut has_elr) = (Vec::new(), None, None);
    for &id in &brokers {
        match entries(&admin, ResourceSpecifier::Broker(id)) {
            Ok(entries) => {
                *has_elr.get_or_insert(false) |= entries.iter().any(is_of_elr);
                known.push((id, by_name(entries)));
            }
            Err(error) => silent = Some(format!("the settings of broker {id} cannot be seen: {}", cause(&error))),
        }
    }
    let found = Found {
        partitions: partitions.len(),
        replicas: partitions.iter().map(|one| one.replicas().len()).min().unwrap_or_default(),
        in_sync: partitions.iter().map(|one| one.isr().len()).min().unwrap_or_default(),
        settings,
        brokers: known,
        has_elr,
    };
    let mut warnings = judge(name, &found, cluster.replication == 1).map_err(Error::Setup)?;
    warnings.extend(silent);
    Ok(warnings)
}

/// Whether the topic loses only its oldest records: nothing is taken out of its middle.
pub(crate) fn keeps_all_but_the_oldest(cluster: &Cluster) -> Result<bool> {
    let settings = settings_of_topic(&asker(cluster)?, cluster.topic.as_str())?;
    Ok(settings.get("cleanup.policy").is_some_and(|policy| policy == "delete"))
}

fn failed(topic: &str, what: &str, error: &KafkaError) -> Error {
    Error::Setup(format!("the topic {topic:?} cannot {what}: {}", cause(error)))
}

fn cause(error: &KafkaError) -> String {
    code(error).map_or_else(|| error.to_string(), |code| code.to_string())
}

/// The code of an error. The library has none for those of administration.
fn code(error: &KafkaError) -> Option<Code> {
    match error {
        KafkaError::AdminOp(code) => Some(*code),
        error => error.rdkafka_error_code(),
    }
}

/// A client for questions or changes. It is in no group, and makes no topic by asking for it.
fn asker<T: FromClientConfigAndContext<Watch>>(cluster: &Cluster) -> Result<T> {
    client(cluster, &[], Watch::new("setup"))
}

/// The brokers, and the topic if one is named.
fn metadata(asker: &BaseConsumer<Watch>, topic: Option<&str>) -> Result<rdkafka::metadata::Metadata> {
    let asked = Instant::now();
    asker.fetch_metadata(topic, TIMEOUT).map_err(|error| {
        // The cause, such as a wrong password, is among the events; a poll takes one.
        (0..EVENTS).for_each(|_| drop(asker.poll(Duration::ZERO)));
        let faults = asker.client().context().since(asked);
        Error::Setup(format!("no broker of the command log answers: {}{faults}", cause(&error)))
    })
}

fn settings_of_topic(admin: &AdminClient<Watch>, name: &str) -> Result<Settings> {
    let told = try_for(TIME_LIMIT, AGAIN, is_silence, || entries(admin, ResourceSpecifier::Topic(name)));
    told.map(by_name).map_err(|error| match is_silence(&error) {
        false => failed(name, "tell its settings (DescribeConfigs)", &error),
        true => {
            let cause = cause(&error);
            Error::Setup(format!("no broker of the command log answers (DescribeConfigs): {cause}"))
        }
    })
}

/// Whether no broker that could answer was there.
fn is_silence(error: &KafkaError) -> bool {
    use Code::{
        AllBrokersDown, BrokerNotAvailable, BrokerTransportFailure, LeaderNotAvailable, NetworkException,
        OperationTimedOut, RequestTimedOut,
    };
    matches!(
        code(error),
        Some(
            AllBrokersDown
                | BrokerNotAvailable
                | BrokerTransportFailure
                | LeaderNotAvailable
                | NetworkException
                | OperationTimedOut
                | RequestTimedOut
        )
    )
}

/// Brokers with eligible leader replicas give this setting a value for the whole cluster, which cannot be removed.
fn is_of_elr(entry: &ConfigEntry) -> bool {
    entry.name == "min.insync.replicas" && entry.source == ConfigSource::DynamicDefaultBroker
}

fn by_name(entries: Vec<ConfigEntry>) -> Settings {
    entries.into_iter().filter_map(|entry| Some((entry.name, entry.value?))).collect()
}

fn entries(admin: &AdminClient<Watch>, of: ResourceSpecifier<'_>) -> Result<Vec<ConfigEntry>, KafkaError> {
    let options = AdminOptions::new().request_timeout(Some(TIMEOUT));
    let found = block_on(admin.describe_configs([&of], &options))?;
    let entries = match found.into_iter().next() {
        Some(Ok(ConfigResource { entries, .. })) => entries,
        Some(Err(code)) => return Err(KafkaError::AdminOp(code)),
        None => return Err(KafkaError::NoMessageReceived),
    };
    // The library tells a refusal as a list without entries.
    if entries.is_empty() {
        return Err(KafkaError::AdminOp(match of {
            ResourceSpecifier::Broker(_) => Code::ClusterAuthorizationFailed,
            _ => Code::TopicAuthorizationFailed,
        }));
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_of_administration_is_silence() {
        assert!(is_silence(&KafkaError::AdminOp(Code::OperationTimedOut)));
        assert!(is_silence(&KafkaError::MetadataFetch(Code::BrokerTransportFailure)));
        assert!(!is_silence(&KafkaError::AdminOp(Code::TopicAuthorizationFailed)));
        assert!(!is_silence(&KafkaError::NoMessageReceived));
    }
}
