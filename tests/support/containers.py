"""Containers without a service and without a registry: buildah and podman, with storage, networks and settings of their own
in one directory, so that nothing else on the machine is touched."""

import os
import resource
import shutil
import subprocess
from pathlib import Path

from .expect import Impossible

PROGRAMS = ("buildah", "podman", "runc", "mmdebstrap", "podman-compose")
HELPERS = ("netavark", "aardvark-dns", "catatonit", "iptables")
NAME_OF_BASE = "docker.io/library/debian:bookworm-slim"
# A container that does not answer, not a slow machine.
PATIENCE = 120.0


def helper(name: str) -> bool:
    """Whether there is a program that podman calls, which need not be on the path."""
    places = ("/usr/lib/podman", "/usr/libexec/podman", "/usr/sbin", "/usr/local/lib/podman", "/usr/local/libexec/podman")
    return any(shutil.which(name, path=place) for place in (None, *places))


def at_most(kind: int, most: int) -> int:
    """A limit of the session, or less."""
    hard = resource.getrlimit(kind)[1]
    return most if hard == resource.RLIM_INFINITY else min(hard, most)


class Engine:
    """One directory with images, containers and volumes. `base` and the layers of images outlive the run."""

    def __init__(self, home: Path):
        missing = [name for name in PROGRAMS if not shutil.which(name)] + [name for name in HELPERS if not helper(name)]
        if missing:
            raise Impossible(f"{', '.join(missing)} not found")
        if os.geteuid() != 0:
            raise Impossible("making the file system of Debian needs root")
        self.home = home.resolve()
        self.home.mkdir(parents=True, exist_ok=True)
        storage, settings = self.home / "storage.conf", self.home / "containers.conf"
        storage.write_text(f'[storage]\ndriver = "overlay"\ngraphroot = "{self.home}/graph"\nrunroot = "{self.home}/run"\n')
        # podman would set more than this session may have.
        limits = [f'"{name}={most}:{most}"' for name, most in
                  (("nofile", at_most(resource.RLIMIT_NOFILE, 65536)), ("nproc", at_most(resource.RLIMIT_NPROC, 4096)))]
        settings.write_text(
            f'[containers]\ndefault_ulimits = [{", ".join(limits)}]\nlog_driver = "k8s-file"\n'
            f'[engine]\ncgroup_manager = "cgroupfs"\nruntime = "runc"\nevents_logger = "file"\ntmp_dir = "{self.home}/tmp"\n'
            f'[network]\nnetwork_backend = "netavark"\nnetwork_config_dir = "{self.home}/networks"\n'
        )
        ours = {"CONTAINERS_CONF": settings, "CONTAINERS_STORAGE_CONF": storage}
        # Without systemd there are no timers for checks of health: `podman healthcheck run`.
        self.environment = dict(os.environ) | {name: str(path) for name, path in ours.items()} | {"DISABLE_HC_SYSTEMD": "true"}
        for name in ("CONTAINER_HOST", "COMPOSE_FILE", "COMPOSE_PROJECT_NAME"):
            self.environment.pop(name, None)

    def try_run(self, *command: object, seconds: float = PATIENCE, **options) -> subprocess.CompletedProcess[str]:
        """A command with this storage, whatever its exit code."""
        options = {"stdin": subprocess.DEVNULL, "text": True} | options
        if "input" in options:
            del options["stdin"]
        words = list(map(str, command))
        return subprocess.run(words, env=self.environment, capture_output=True, timeout=seconds, check=False, **options)

    def run(self, *command: object, **options) -> str:
        """What a command that must succeed prints."""
        answer = self.try_run(*command, **options)
        if answer.returncode != 0:
            said = answer.stderr if isinstance(answer.stderr, str) else answer.stderr.decode(errors="replace")
            raise AssertionError(f"{' '.join(map(str, command))}: exit code {answer.returncode}\n{said[-3000:]}")
        return answer.stdout

    def base(self, packages: list[str]) -> str:
        """Gives the base image of the Dockerfile its name: a minimal Debian, made once, with these packages besides.
        Returns how it was got."""
        image, made = self.debian(packages)
        self.run("podman", "tag", image, NAME_OF_BASE)
        answer = self.try_run("podman", "run", "--rm", "--pull", "never", "--network", "none", image, "true")
        if answer.returncode != 0:
            raise Impossible("a container does not start: " + answer.stderr.strip()[-500:])
        return "made" if made else "there already"

    def debian(self, packages: list[str]) -> tuple[str, bool]:
        """An image of a minimal Debian with these packages, and whether it was made now."""
        image = f"localhost/base:{'-'.join(['bookworm', *packages])}"
        if self.try_run("podman", "image", "exists", image).returncode == 0:
            return image, False
        archive = self.home / "base.tar"
        include = [f"--include={','.join(packages)}"] if packages else []
        small = [f"--dpkgopt=path-exclude=/usr/share/{part}/*" for part in ("doc", "man", "locale", "info")]
        # Java makes links to its pages there.
        hook = '--essential-hook=mkdir -p "$1/usr/share/man/man1"'
        answer = self.try_run("mmdebstrap", "--variant=minbase", *include, *small, hook, "bookworm", archive, seconds=900)
        if answer.returncode != 0:
            raise Impossible("the packages of Debian cannot be had: " + " | ".join(answer.stderr.splitlines()[-3:]))
        self.run("podman", "import", archive, image, seconds=300)
        archive.unlink()
        return image, True

    def build(self, name: str, dockerfile: Path, files: Path, context: Path) -> None:
        """The last stage of a Dockerfile, with the files of a directory in the place of the stage `build`."""
        self.run("buildah", "build", "--isolation=chroot", "--format", "docker", "--layers", "--network", "host", "--pull-never",
                 "--build-context", f"build={files}", "--build-arg", "TARGETARCH=any", "--file", dockerfile, "--tag", name, context,
                 seconds=600)

    def remove(self) -> None:
        """Removes all containers, volumes and networks."""
        for command in (("rm", "--all", "--force", "--time", "2"), ("volume", "rm", "--all", "--force"), ("network", "prune", "--force")):
            self.try_run("podman", *command)

    def clean(self) -> None:
        """Also removes images that no name leads to. Those that are left are the next run's."""
        self.remove()
        self.try_run("buildah", "rm", "--all")
        self.try_run("podman", "image", "prune", "--force")
