"""A machine for the units: a container that boots with systemd, with a user who may call sudo."""

import json

from .containers import Engine
from .rehearsal import until

NETWORK = "machines"
DATA = "/var/lib/tideline"
OPERATOR, HOME = "ada", "/home/ada"


class Machine:
    """A container with systemd, and with a volume at `mount`, which is empty but for the folder `lost+found` of a device."""

    def __init__(self, engine: Engine, base: str, name: str, mount: str = DATA):
        self.engine, self.name = engine, name
        engine.run("podman", "run", "--detach", "--name", name, "--hostname", name, "--pull", "never", "--network", NETWORK,
                   "--systemd", "always", "--volume", f"{name}:{mount}", base, "/lib/systemd/systemd")
        booted = lambda: engine.try_run("podman", "exec", name, "systemctl", "is-system-running").stdout.strip()
        until(f"{name} boots", lambda: booted() in ("running", "degraded"))
        self.root(f"mkdir -m 700 {mount}/lost+found && useradd --create-home {OPERATOR}")
        self.root(f"echo '{OPERATOR} ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/{OPERATOR}")

    def asks(self, commands: str) -> str:
        """What commands print at a prompt: only the commands themselves stop at a failure."""
        answer = self.engine.try_run("podman", "exec", "--user", OPERATOR, "--workdir", HOME, self.name, "bash", "-c", commands)
        return answer.stdout + answer.stderr

    def root(self, commands: str) -> str:
        return self.shell(commands, user="root", where="/root")

    def shell(self, commands: str, user: str = OPERATOR, where: str = HOME) -> str:
        """What the commands print, which end at the first that fails."""
        # An operator does not start a unit as often.
        self.engine.try_run("podman", "exec", self.name, "systemctl", "reset-failed")
        answer = self.engine.try_run("podman", "exec", "--user", user, "--workdir", where, self.name,
                                     "bash", "-euo", "pipefail", "-c", commands)
        said = answer.stdout + answer.stderr
        assert answer.returncode == 0, f"{self.name}: {commands}\n{said[-3000:]}\n{self.log()}"
        return said

    def log(self) -> str:
        return self.asks("sudo journalctl --no-pager --lines 30 --unit tideline --unit tideline-standby")

    def key(self) -> str:
        return self.shell("head -1 key").strip()

    def call(self, method: str, path: str, body: object = None) -> tuple[int, str]:
        """Status and body of an answer; 0 without one."""
        sent = ["--data-binary", json.dumps(body), "--header", "Content-Type: application/json"] if body is not None else []
        answer = self.engine.try_run("podman", "exec", self.name, "curl", "--silent", "--request", method, "--header",
                                     f"Authorization: Bearer {self.key()}", *sent, "--write-out", "\n%{http_code}",
                                     f"http://127.0.0.1:8080{path}").stdout
        text, _, status = answer.rpartition("\n")
        return int(status or 0), text

    def serves(self) -> None:
        until(lambda: f"{self.name} serves\n{self.log()}", lambda: self.call("GET", "/v1/users/2/timeline")[0] == 200)

    def publishes(self, text: str) -> None:
        status, answer = self.call("POST", "/v1/content", {"author_id": 1, "text": text})
        assert status == 201, f"{self.name}: {status} {answer}"

    def texts(self) -> list[str]:
        status, answer = self.call("GET", "/v1/users/2/timeline")
        assert status == 200, f"{self.name}: {status} {answer}\n{self.log()}"
        return [item["text"] for item in json.loads(answer)["items"]]

    def follows(self) -> None:
        """Waits until a standby has all of its server."""
        def has_all() -> bool:
            figures = self.call("GET", "/metrics")[1].splitlines()
            return 'tideline_standby_state{state="following"} 1' in figures and "tideline_standby_lag_rows 0" in figures
        until(lambda: f"{self.name} follows\n{self.log()}", has_all)
