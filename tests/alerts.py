#!/usr/bin/env python3
"""Checks docs/alerts.yaml with promtool, fires each rule from series as the server exports them, and shows that a
quiet server fires none. Each metric of a rule must be on the page of a running server, with the labels that the rule
names; those of nodes of a cluster and of TLS must be in the source of their page. docs/operate/alerts.md must list each rule.

promtool is that of the path, or that of `.ci/tools`. Without it the rules are left out, and that is said."""

import argparse
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

from docs import anchors
from support.client import Client
from support.expect import until
from support.program import Workspace, tool
from support.server import Tideline

ROOT = Path(__file__).resolve().parent.parent
RULES = ROOT / "docs" / "alerts.yaml"
PAGE = ROOT / "docs" / "operate" / "alerts.md"
HTTP = ROOT / "crates" / "http" / "src"
OF_SOME = [HTTP / "admin" / "metrics" / "cluster.rs", HTTP / "figures" / "reloads.rs"]
METRIC = re.compile(r"\b(?:tideline|process)_\w+")
OF_PROMETHEUS = {"up"}
TIMELINE = 'route="/v1/users/{uid}/timeline",method="GET"'


class Fired(NamedTuple):
    """A rule, series that fire it after some minutes, and its summary then."""

    rule: str
    series: dict[str, str]
    at: str
    summary: str
    labels: str = ""
    """Labels of the alert beside those of the server."""
    server: str = 'job="tideline",instance="a"'
    """Those of the server that the expression leaves."""
    interval: str = "1m"
    """The time between two figures, and between two looks at the rules: longer for what takes days."""


# Of a second, healthy server, which must not hide the first one, nor fire: series of times, and those that are not 0. Others
# have the values of the quiet server.
HEALTHY = {"up": 1, "tideline_storage_device_bytes": 0, "tideline_cluster_reachable": 1, "tideline_cluster_caught_up": 1}
FAR = 1_000_000_000

FIRED = [
    Fired("TidelineDown", {"up": "0x5"}, "3m", "a does not answer"),
    Fired("TidelineRestarts", {"process_cpu_seconds_total": "9 1 9 1 9 1 9"}, "6m",
          "a starts again and again; its server log has the reason of each stop"),
    Fired("TidelineMemory", {"process_resident_memory_bytes": "2147483648x9", "tideline_memory_planned_bytes": "2e9x9"}, "6m",
          "a takes 2GiB, more than all its bounds together"),
    Fired("TidelineOverloaded", {'tideline_overloaded_total{full="jobs"}': "0+60x9"}, "5m",
          "a refuses requests: the bound jobs is met", 'full="jobs"', 'instance="a"'),
    Fired("TidelineSlowPages", {
        f'tideline_http_request_duration_seconds_bucket{{le="0.1",{TIMELINE}}}': "0x30",
        f'tideline_http_request_duration_seconds_bucket{{le="0.25",{TIMELINE}}}': "0+60x30",
        f'tideline_http_request_duration_seconds_bucket{{le="+Inf",{TIMELINE}}}': "0+60x30",
    }, "20m", "one of a hundred pages of a takes 248.5ms or more", server='instance="a"'),
    Fired("TidelineJobsPileUp", {"tideline_job_places": "60000x20", "tideline_job_places_limit": "100000x20"}, "11m",
          "jobs of a come faster than workers finish them"),
    Fired("TidelineJobsFail", {"tideline_job_failures_total": "0+1x9"}, "5m", "jobs of a fail; its server log has the cause"),
    Fired("TidelineJobsFail", {"tideline_parked_jobs": "1x9"}, "5m", "jobs of a fail; its server log has the cause"),
    Fired("TidelineLateDelivery", {
        'tideline_delivery_lag_seconds_bucket{le="60.0"}': "0x30",
        'tideline_delivery_lag_seconds_bucket{le="300.0"}': "0+60x30",
        'tideline_delivery_lag_seconds_bucket{le="+Inf"}': "0+60x30",
    }, "20m", "fan-outs of a take longer than a minute", server='instance="a"'),
    Fired("TidelineDamagedInboxes", {"tideline_damaged_inboxes_total": "0 0 1 1"}, "3m",
          "a has dropped damaged inboxes; the device may damage other data, too"),
    Fired("TidelineDiskFull", {"tideline_storage_writes_refused": "1x9"}, "1m", "a takes no changes: its disk is full or broken"),
    Fired("TidelineDiskFull", {"tideline_storage_writes_stopped": "1x9"}, "1m", "a takes no changes: its disk is full or broken"),
    Fired("TidelineDiskFull", {"tideline_storage_background_errors_total": "0 0 1 1"}, "3m",
          "a takes no changes: its disk is full or broken"),
    Fired("TidelineDiskFills", {"tideline_storage_device_bytes": "60e9+10e6x600", "tideline_storage_device_limit_bytes": "80e9x600"},
          "7h", "the disk of a will be full within two days, or has less than a tenth left"),
    Fired("TidelineDiskFills", {"tideline_storage_device_bytes": "73e9x60", "tideline_storage_device_limit_bytes": "80e9x60"},
          "40m", "the disk of a will be full within two days, or has less than a tenth left"),
    Fired("TidelineStorageStopped", {"tideline_storage_needs_restart": "1x9"}, "1m",
          "the storage engine of a has stopped: repair the cause, and restart the server"),
    Fired("TidelineDiskHangs", {"tideline_storage_sample_age_seconds": "0+60x9"}, "5m", "the disk of a does not answer"),
    Fired("TidelineSlowDisk", {"tideline_storage_stops_total": "0+1x9"}, "5m",
          "the disk of a is too slow: compactions do not keep up with the changes"),
    Fired("TidelineBackupOld", {"tideline_backup_newest_verified_timestamp_seconds": "3600x80"}, "73h",
          "a has no good backup of the last two days", interval="1h"),
    Fired("TidelineBackupOld", {"tideline_backup_newest_verified_timestamp_seconds": "3600x80",
                                'tideline_cluster_log_info{log="of-a"}': "1x80"}, "73h",
          "the cluster of the log of-a has no good backup of the last two days", 'log="of-a"', "", "1h"),
    Fired("TidelineBackupNotCopied", {"tideline_backup_newest_copied_timestamp_seconds": "3600x80"}, "73h",
          "no backup of the last two days of a was copied elsewhere", interval="1h"),
    Fired("TidelineBackupFailed", {"tideline_backup_failures_total": "0 0 1 1"}, "3m",
          "a backup of a has failed, or the copy of one"),
    Fired("TidelineBackupFailed", {"tideline_backup_copy_failures_total": "0 0 1 1"}, "3m",
          "a backup of a has failed, or the copy of one"),
    Fired("TidelineReloadFailed", {'tideline_reload_failed{of="keys"}': "1x9"}, "6m",
          "the changed keys of a cannot be used; those before stay in force", 'of="keys"'),
    Fired("TidelineCertificateEnds", {"tideline_certificate_ends_timestamp_seconds": "1000000x9"}, "1m",
          "the certificate of a ends in less than two weeks"),
    Fired("TidelineWebhookLate", {'tideline_webhook_lag_seconds{webhook="push"}': "601x9"}, "1m",
          "the receiver push of a does not take changes", 'webhook="push"'),
    Fired("TidelineWebhookGap", {'tideline_webhook_gaps_total{webhook="push"}': "0 0 1 1"}, "3m",
          "the receiver push of a has missed changes: it has to read anew", 'webhook="push"'),
    Fired("TidelineStandbyLate", {"tideline_standby_lag_seconds": "61+60x20"}, "6m",
          "the standby a lacks changes; its server log has the reasons"),
    Fired("TidelineStandbyBehind", {'tideline_standby_behind_seconds{standby="b"}': "61+60x20"}, "6m",
          "the standby b of a lacks changes, or does not call", 'standby="b"'),
    Fired("TidelineLogUnreachable", {"tideline_cluster_reachable": "0x9"}, "2m",
          "the node a cannot reach the command log: changes and strict reads get 503"),
    Fired("TidelineNodeNotReady", {"tideline_cluster_caught_up": "0x20"}, "11m",
          "the node a has started and does not become ready"),
    Fired("TidelineNodeSlow", {"tideline_cluster_oldest_wait_seconds": "2x9"}, "3m", "changes and strict reads of the node a wait"),
    Fired("TidelineNodeLags", {"tideline_cluster_lag": "1001x9"}, "6m", "the node a applies changes more slowly than they come"),
    Fired("TidelineForeignWrites", {"tideline_cluster_passed_over_total": "0 0 1 1"}, "3m",
          "another program writes to the topic of the command log"),
    Fired("TidelineLogBusy", {"tideline_cluster_waiting": "8001x9"}, "2m", "changes come to a faster than the command log takes them"),
    Fired("TidelineFanOutsLeftOut", {"tideline_fan_outs_left_out_total": "0+1x30"}, "20m",
          "the node a has no room for the fan-outs of other nodes"),
    Fired("TidelineNodesDiffer", {"tideline_cluster_differing_nodes": "1x9"}, "1m", "the tables of a and of 1 other nodes differ"),
    Fired("TidelineClockWrong", {"tideline_cluster_log_clock_ahead_seconds": "-61x9"}, "1m",
          "the clock of a, or of the broker that leads the command log, is wrong"),
    Fired("TidelineOwnerSilent", {"tideline_cluster_answered_here_total": "0+120x30"}, "20m",
          "another node does not answer a, which pulls the pages of its users"),
]


def scraped(series: str, instance: str = "a") -> str:
    """A series with the labels that Prometheus adds."""
    name, _, labels = series.rstrip("}").partition("{")
    return f'{name}{{job="tideline",instance="{instance}"{"," if labels else ""}{labels}}}'


def healthy(series: str, samples: list[str]) -> tuple[str, str]:
    """The same series of a healthy server."""
    name = series.split("{")[0]
    if name == "tideline_cluster_log_info":
        return name + '{log="of-b"}', "1x600"
    known = (line.rsplit(" ", 1)[1] for line in samples if line.rsplit(" ", 1)[0] == series)
    value = FAR if name.endswith("_timestamp_seconds") else HEALTHY.get(name, float(next(known, 0)))
    return series, f"{value:f}x600"


def yaml(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


class Rule(NamedTuple):
    text: str

    def field(self, name: str) -> str:
        return re.search(rf"\b{name}: *\"?([^\n\"}}]*)", self.text)[1]

    @property
    def expression(self) -> str:
        return re.search(r"expr: (.*?)\n        (?:for|labels):", self.text, re.S)[1]


def rules() -> dict[str, Rule]:
    return {text.split("\n", 1)[0]: Rule(text) for text in RULES.read_text().split("- alert: ")[1:]}


class Server(Tideline):
    """A command that serves, and what its page of metrics has."""

    def __init__(self, binary: Path, directory: Path, *command: object):
        super().__init__(binary, directory, {})
        self.words = command

    def serving(self) -> list[object]:
        return [*self.words, "--data-dir", self.data]

    def samples(self) -> list[str]:
        _, text = Client(self.address).exchange("GET", "/metrics")
        return [line for line in text.decode().splitlines() if not line.startswith("#")]


def pages(binary: Path) -> list[str]:
    """The samples of a server with a webhook, and of its standby."""
    with Workspace() as work:
        secret = subprocess.run([binary, "key", "new", "--webhook"], capture_output=True, text=True, check=True).stdout
        (work / "secret").write_text(secret)
        (work / "config.toml").write_text(
            f'[[webhooks]]\nname = "push"\nurl = "http://127.0.0.1:9/"\nsecret_file = "{work / "secret"}"\n')
        with Server(binary, work / "a", "serve", "--config", work / "config.toml") as server, \
                Server(binary, work / "b", "standby", "--name", "b", "--from", server.url) as standby:
            def figures() -> list[str] | None:
                samples = [line for one in (server, standby) for line in one.samples()]
                # A busy machine may have no figures of the disk at first.
                there = all(any(line.startswith(name) for line in samples)
                            for name in ("tideline_standby_behind_seconds{", "tideline_storage_device_bytes "))
                return samples if there else None

            return until("the standby has heard of the server, and all figures are there", figures, pause=0.2)


def exported(series: str, samples: list[str]) -> bool:
    """Whether a page has the series, whatever its value; or the source of a node's page declares it."""
    name, _, labels = series.rstrip("}").partition("{")
    if any(f" {name} = " in source.read_text() for source in OF_SOME):
        return True
    wanted = set(re.findall(r'\w+="[^"]*"', labels))
    return name in OF_PROMETHEUS or any(
        re.split(r"[{ ]", line)[0] == name and wanted == set(re.findall(r'\w+="[^"]*"', line)) for line in samples)


def begin(interval: str) -> str:
    return f"rule_files: [{RULES}]\nevaluation_interval: {interval}\ntests:\n"


def firing(known: dict[str, Rule], samples: list[str], interval: str) -> str:
    """The tests for promtool of the rules that fire at this interval."""
    text = begin(interval)
    for fired in (fired for fired in FIRED if fired.interval == interval):
        rule = known[fired.rule]
        text += f"  - interval: {interval}\n    input_series:\n"
        for series, values in fired.series.items():
            text += f"      - {{series: {yaml(scraped(series))}, values: {yaml(values)}}}\n"
            other, values = healthy(series, samples)
            text += f"      - {{series: {yaml(scraped(other, 'b'))}, values: {yaml(values)}}}\n"
        text += f"    alert_rule_test:\n      - eval_time: {fired.at}\n        alertname: {fired.rule}\n        exp_alerts:\n"
        labels = dict(re.findall(r'(\w+)="([^"]*)"', f"{fired.server},{fired.labels}")) | {"severity": rule.field("severity")}
        told = ", ".join(f"{name}: {yaml(value)}" for name, value in labels.items())
        text += f"          - exp_labels: {{{told}}}\n            exp_annotations:\n"
        text += f"              summary: {yaml(fired.summary)}\n              runbook: {yaml(rule.field('runbook'))}\n"
    return text


def quiet(known: dict[str, Rule], samples: list[str]) -> str:
    """The test that constant figures of a server without load fire none."""
    text = begin("1m")
    text += "  - interval: 1m\n    input_series:\n      - {series: " + yaml(scraped("up")) + ", values: 1x120}\n"
    named = {name for rule in known.values() for name in METRIC.findall(rule.expression)}
    for line in samples:
        series, value = line.rsplit(" ", 1)
        value = HEALTHY.get(series, value)  # the device of the test may be full
        if series.split("{")[0] in named:
            text += f"      - {{series: {yaml(scraped(series))}, values: {yaml(f'{float(value):f}x120')}}}\n"
    text += "    alert_rule_test:\n"
    for name in known:
        text += f"      - {{eval_time: 2h, alertname: {name}, exp_alerts: []}}\n"
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, required=True)
    binary = parser.parse_args().binary.resolve()
    known, faults = rules(), []
    samples = pages(binary)
    page = PAGE.read_text()
    for name, rule in known.items():
        if name not in {fired.rule for fired in FIRED}:
            faults.append(f"no test fires {name}")
        if not re.search(rf"^\| `{name}` \|.* {rule.field('severity')} \|$", page, re.M):
            faults.append(f"{PAGE.name} has no row of {name} with the severity {rule.field('severity')}")
        metrics = METRIC.findall(rule.expression)
        faults += [f"{name}: no server exports {metric}" for metric in metrics
                   if not any(re.split(r"[{ ]", line)[0] == metric for line in samples)
                   and not exported(metric, samples)]
        target, _, anchor = rule.field("runbook").partition("#")
        if not (ROOT / target).exists() or anchor and anchor not in anchors(ROOT / target):
            faults.append(f"{name}: there is no {target}#{anchor}")
    faults += [f"{fired.rule}: no server exports {series}" for fired in FIRED for series in fired.series
               if not exported(series, samples)]
    if faults:
        raise SystemExit("\n".join(faults) + f"\nalerts: {len(faults)} faults")
    if not (promtool := tool("promtool")):
        print("alerts: there is no promtool (.ci/tools fetches it), so the rules are left out")
        return
    with Workspace() as work:
        files = {interval: firing(known, samples, interval) for interval in {fired.interval for fired in FIRED}}
        files["quiet"] = quiet(known, samples)
        for name, text in files.items():
            (work / f"{name}.yaml").write_text(text)
        for arguments in (["check", "rules", RULES], ["test", "rules", *(work / f"{name}.yaml" for name in files)]):
            ended = subprocess.run([promtool, *arguments], capture_output=True, text=True)
            if ended.returncode != 0:
                raise SystemExit(f"{ended.stdout}{ended.stderr}alerts: promtool {' '.join(map(str, arguments[:2]))} fails")
    print(f"alerts: {len(known)} rules fire, each as its test says, and none of a quiet server")


if __name__ == "__main__":
    main()
