"""podman-compose as Docker's is: its messages are on stderr, it fails with what it runs, and `run` takes volumes. Older ones hide the
former, and forget the latter. Run by the Python of podman-compose."""

import builtins
import importlib
import inspect
import runpy
import shutil
import sys

said = builtins.print
codes: list[object] = []


def message(*words: object, **options: object) -> None:
    if words[:1] == ("exit code:",):
        codes.append(words[1])
    said(*words, **options | {"file": sys.stderr})


def remember_volumes() -> None:
    """Gives the containers of `run` the volumes of the command line, if this podman-compose does not."""
    try:
        compose = importlib.import_module("podman_compose")
    except ImportError:
        return
    if "TODO: handle volumes" in inspect.getsource(compose):
        volumes = [f"--volume={volume}" for option, volume in zip(sys.argv, sys.argv[1:]) if option == "--volume"]
        made = compose.container_to_args
        compose.container_to_args = lambda *args, **options: [*volumes, *made(*args, **options)]


builtins.print = message
sys.path.pop(0)
remember_volumes()
sys.argv[0] = shutil.which("podman-compose")
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    # With 125 podman refuses to make a container that is there; podman-compose then starts it.
    if any(code not in (0, 125, None) for code in codes):
        sys.exit(1)
