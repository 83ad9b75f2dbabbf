"""What Dockerfile, .dockerignore and compose.yaml name is there; no image is built here."""

from __future__ import annotations

import ast
import json
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from ui.gpu.cluster_queue import RESOURCE

ROOT = Path(__file__).resolve().parent.parent
PORT = "8501"
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
STAGES = re.findall(r"^FROM (\S+) AS (\S+)$", DOCKERFILE, re.MULTILINE)
PATIENCE = 60.0  # seconds until the app has failed to start


def command(instruction: str) -> list[str]:
    """The command of an instruction that gives it as a list."""
    [found] = re.findall(rf"^{instruction}\b.*?(\[.*\])$", DOCKERFILE, re.MULTILINE)
    words = json.loads(found)
    assert words[0] == "python"
    return [sys.executable, *words[1:]]


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What .dockerignore lets into the image, as a folder of its own."""
    folder = tmp_path_factory.mktemp("image")
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [line for line in lines if not line.startswith("#")]
    assert rules[0] == "*", "nothing but what is named"
    for rule in rules[1:-1]:
        source, target = ROOT / rule.removeprefix("!"), folder / rule.removeprefix("!")
        if source.is_dir():
            shutil.copytree(source, target)  # compiled, as the image compiles it
        else:
            shutil.copy(source, target)
    assert rules[-1] == "**/__pycache__"
    return folder


def is_healthy(check: list[str], context: Path) -> bool:
    """Whether the image's check of its health, which is run in the image's folder, succeeds."""
    done = subprocess.run(check, cwd=context, stderr=subprocess.DEVNULL, check=False)
    return done.returncode == 0


def is_listening(port: int) -> bool:
    with socket.socket() as asked:
        return asked.connect_ex(("127.0.0.1", port)) == 0


def test_the_app_starts_from_the_image_s_files_and_is_found_healthy(context: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    start, check = (
        [word.replace(PORT, port) for word in command(name)] for name in ("CMD", "HEALTHCHECK")
    )
    assert [word for word in start if port in word], "on the port that is published"
    assert not is_healthy(check, context)
    app = subprocess.Popen(start, cwd=context, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + PATIENCE
        while not (is_listening(int(port)) and is_healthy(check, context)):
            time.sleep(0.05)
            assert app.poll() is None, "the app has ended"
            assert time.monotonic() < until, "the app is not healthy"
    finally:
        app.terminate()
        app.wait(10)


def test_the_image_has_what_a_scene_needs_which_streamlit_is_not(context: Path) -> None:
    script = (
        "import sys; from ui.notebook import show; shown = show('tiled', M=4, N=4, K=4, TILE=2);"
        "assert 'streamlit' not in sys.modules; print(shown)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=context, capture_output=True, text=True, check=True
    )
    assert done.stdout == "Scene of tiled: 41 steps\n"


@pytest.mark.deep
def test_every_page_opens_from_the_image_s_files(context: Path) -> None:
    script = (
        "from pathlib import Path\n"
        "from streamlit.testing.v1 import AppTest\n"
        "app = AppTest.from_file('app.py', default_timeout=60).run()\n"
        "pages = sorted(Path('ui/pages').glob('[!_]*.py'))\n"
        "opened = [app.switch_page(str(page)).run() for page in pages]\n"
        "print(len(pages), [each for one in opened for each in (*one.exception, *one.error)])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=context, capture_output=True, text=True, check=True
    )
    assert done.stdout == "5 []\n", done.stderr


def test_the_image_has_every_package_that_it_imports(context: Path) -> None:
    own = {path.name for path in ROOT.iterdir() if (path / "__init__.py").is_file()}
    imported = {
        module.partition(".")[0]
        for path in context.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom | ast.Import)
        for module in (
            [node.module or ""] if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
        )
    }  # fmt: skip
    assert {"simulator", "ui"} <= imported & own
    assert {name for name in imported & own if not (context / name).is_dir()} == set()


def test_what_is_copied_and_compiled_is_there(context: Path) -> None:
    for sources in re.findall(r"^COPY (.+) \S+$", DOCKERFILE, re.MULTILINE):
        assert all((context / source).exists() for source in sources.split()), sources
    [compiled] = re.findall(r"compileall -q (.*)$", DOCKERFILE, re.MULTILINE)
    assert all((context / name).exists() for name in compiled.split())


@pytest.mark.skipif(sys.platform == "win32", reason="sed is not there.")
@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, lambda line: [] if line.startswith("cupy") else [line]),
        (1, lambda line: [line.replace("cupy-cuda12x", "cupy-cuda12x[ctk]")] * ("cupy-" in line)),
    ],
)
def test_cupy_is_in_the_gpu_s_image_alone(number: int, expected: Any) -> None:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith("cupy-cuda12x") for line in lines) == 1
    chosen = re.findall(r"^RUN (sed .*? requirements.txt) >", DOCKERFILE, re.MULTILINE)[number]
    done = subprocess.run(
        ["/bin/sh", "-c", chosen], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [one for line in lines for one in expected(line)]


def test_the_app_runs_without_rights_and_the_last_stage_is_the_app() -> None:
    names = [name for _, name in STAGES]
    assert names[-1] == "app"
    assert all(image in names for image, _ in STAGES[1:])
    for stage in re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)[1:]:
        users = re.findall(r"^USER (\d+)$", stage, re.MULTILINE)
        assert users[-1:] in ([], ["10001"]), stage


def test_each_service_is_a_stage_on_the_port_of_the_app() -> None:
    assert f"EXPOSE {PORT}\n" in DOCKERFILE
    assert "app" in COMPOSE["services"]
    for name, service in COMPOSE["services"].items():
        assert service["build"]["target"] in {name for _, name in STAGES}
        assert (ROOT / service["build"]["context"]).samefile(ROOT)
        assert ("ports" in service) == (name == "app"), "a scheduler is not to be reached"
    assert COMPOSE["services"]["app"]["ports"] == [f"{PORT}:{PORT}"]


def test_what_serving_names_is_handed_to_the_app() -> None:
    named = set(re.findall(r"TILEWISE_[A-Z_]+", (ROOT / "docs/serving.md").read_text("utf-8")))
    assert named <= COMPOSE["services"]["app"]["environment"].keys()


def test_the_cluster_s_services_find_each_other_and_say_how_they_are() -> None:
    services = COMPOSE["services"]
    scheduler = services["scheduler"]["command"]
    port = scheduler[scheduler.index("--port") + 1]
    for name in ("scheduler", "worker", "gpu-worker"):
        service = services[name]
        words = service["command"]
        assert words[:3] == ["python", "-m", "dask"]
        health = words[words.index("--dashboard-address") + 1]
        assert f"127.0.0.1{health}/health" in service["healthcheck"]["test"][-1]
        if name != "scheduler":
            assert f"tcp://scheduler:{port}" in words
            assert set(service["profiles"]) <= set(services["scheduler"]["profiles"])
    assert "TILEWISE_SCHEDULER" in services["app"]["environment"]


def test_the_gpu_s_service_has_a_gpu_cupy_and_the_cluster_s_word_for_it() -> None:
    service = COMPOSE["services"]["gpu-worker"]
    [device] = service["deploy"]["resources"]["reservations"]["devices"]
    assert "gpu" in device["capabilities"]
    assert service["build"]["target"] == "gpu"
    assert service["image"] != COMPOSE["services"]["app"]["image"]
    assert f"{RESOURCE}=1" in service["command"]
