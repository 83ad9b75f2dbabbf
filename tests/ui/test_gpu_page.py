"""The GPU page, with a GPU process that stands in for one and without any."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from gpu import recorded
from gpu.scale.recorded import scalings
from simulator.broken_file import Broken
from tests.gpu.jobs import FAKE
from ui.gpu_charts.performance import size_name

PAGE = str(Path(__file__).resolve().parents[2] / "ui" / "pages" / "gpu.py")
NOTHING = (
    "import gpu.cuda.probe, gpu.cuda.device\n"
    "gpu.cuda.probe.take_probe = lambda: gpu.cuda.device.Probe({})\n"
    "from gpu.worker import JOBS, serve\n"
    "serve(JOBS)\n"
)


def opened(monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]) -> AppTest:
    """The page with its own GPU process."""
    st.cache_resource.clear()
    st.cache_data.clear()
    monkeypatch.setattr("gpu.worker.COMMAND", command)
    page = AppTest.from_file(PAGE, default_timeout=60).run()
    assert not page.exception
    return page


def unrecorded(monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The page with a GPU that works and no recorded run beside it."""
    monkeypatch.setattr(recorded, "recordings", lambda: recorded.Recordings((), ()))
    return opened(monkeypatch, FAKE)


def without(monkeypatch: pytest.MonkeyPatch, probe: str) -> AppTest:
    return opened(monkeypatch, (sys.executable, "-c", NOTHING.format(probe)))


def settled(page: AppTest) -> AppTest:
    """The page once its job has ended."""
    for _ in range(100):
        job = page.session_state["compare_job"]
        if job is None:
            return page
        if job.state.finished:
            page.run()
        time.sleep(0.1)
    raise AssertionError("the job did not end")


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("probe", "part", "command"),
    [
        ("distribution='ubuntu'", "an NVIDIA driver", "sudo ubuntu-drivers install"),
        ("driver_cuda=13000", "CuPy", 'python -m pip install "cupy-cuda12x[ctk]"'),
        ("driver_cuda=13000, cupy='14', device_status=100", "an NVIDIA GPU", "nvidia-smi"),
        ("driver_cuda=13000, cupy='14', device_status=0, devices=1", "NVRTC", "[ctk]"),
        (
            "driver_cuda=13000, cupy='14', device_status=0, devices=1, nvrtc='12.9'",
            "cuBLAS",
            "[ctk]",
        ),
    ],
)
def test_without_a_gpu_the_page_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, probe: str, part: str, command: str
) -> None:
    page = without(monkeypatch, probe)
    (missing,) = [one for one in page.expander if one.label.startswith("What is missing")]
    assert missing.label == f"What is missing to run kernels here: {part}"
    assert not missing.proto.expanded
    assert missing is page.expander[-1]  # below all results
    assert command in missing.code[0].value
    assert not [button for button in page.button if button.key == "compare_run"]


def test_without_a_gpu_the_recorded_run_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    run = recorded.recordings().runs[0]
    page = without(monkeypatch, "")
    assert run.device.name in page.header[0].value
    assert str(run.when.year) in page.header[0].value
    rows = speeds(page)
    assert "cuBLAS" in list(rows["Kernel"])
    other = page.selectbox(key="recorded_size").options[0]
    page.selectbox(key="recorded_size").select(other).run()
    assert not page.exception
    assert not speeds(page).equals(rows)


@pytest.mark.deep
def test_two_recorded_kernels_are_compared_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    (comparison,) = (
        one for one in recorded.recordings().runs[0].comparisons if one.size == (4096, 4096, 4096)
    )
    ms = {kernel.name: kernel.ms or 0.0 for kernel in comparison.kernels}
    page = without(monkeypatch, "")
    assert sentence(page).startswith(
        f"**tiled runs at {ms['naive'] / ms['tiled']:.2f} × the speed of naive**"
    )
    page.selectbox(key="recorded_compared").select("registers").run()
    page.selectbox(key="recorded_base").select("tiled:TILE=32").run()
    assert not page.exception
    ratio = ms["tiled:TILE=32"] / ms["registers"]
    compared = f"**registers runs at {ratio:.2f} × the speed of tiled (TILE 32)**"
    assert sentence(page).startswith(compared)
    assert {"registers", "tiled, TILE 32"} <= set(speeds(page)["Kernel"])


def test_the_sentence_comes_first_and_the_charts_have_kernels_in_float32_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = without(monkeypatch, "")
    texts = [str(text.value) for text in page.markdown]
    explained, begins = texts[texts.index(sentence(page)) + 1 :][:2]
    assert explained == (
        "**Tiled**: a block shares tiles of A and B.  \n"
        "**Naive**: a thread reads its row and its column."
    )
    assert begins.startswith("A kernel is the code that the simulator steps through")
    assert set(speeds(page)["Type"]) == {"FP32"}
    shown = {row["Kernel"]: float(row["TFLOP/s"]) for _, row in speeds(page).iterrows()}
    assert shown["naive"] > max(shown.values()) / 25, "its bar is no sliver"
    page.selectbox(key="recorded_base").select("cublas").run()
    assert any("**cuBLAS**: NVIDIA's own library." in text.value for text in page.markdown)


def sentence(page: AppTest) -> str:
    """The sentence that compares two kernels."""
    return next(
        str(text.value) for text in page.markdown if "**" in text.value and " × " in text.value
    )


def test_the_kernel_of_the_address_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpu.worker.COMMAND", (sys.executable, "-c", NOTHING.format("")))
    page = AppTest.from_file(PAGE, default_timeout=60)
    page.query_params["kernel"] = "padded"
    page.run()
    assert not page.exception
    assert page.selectbox(key="recorded_compared").value == "padded"
    page.query_params["kernel"] = "of another day"
    assert (
        AppTest.from_file(PAGE, default_timeout=60).run().selectbox(key="recorded_compared").value
        == "tiled"
    )


@pytest.mark.deep
def test_the_chosen_kernels_are_shown_and_none_means_all(monkeypatch: pytest.MonkeyPatch) -> None:
    page = without(monkeypatch, "")
    page.multiselect(key="recorded_kernels").set_value(["rows"]).run()
    assert list(speeds(page)["Kernel"]) == ["naive", "tiled, TILE 16", "rows"]  # and those compared
    page.multiselect(key="recorded_kernels").set_value([]).run()
    assert list(speeds(page)["Kernel"])[-2:] == ["cuBLAS, TF32", "cuBLAS, half"]
    assert len(speeds(page)) == len(recorded.recordings().runs[0].comparisons[0].kernels)


@pytest.mark.parametrize(
    ("size", "kernel"),
    [
        ((4, 4096, 4096), "few_rows"),
        pytest.param((4096, 4, 4096), "few_columns", marks=pytest.mark.deep),
    ],
)
def test_a_size_with_few_rows_or_columns_shows_the_kernel_for_it(
    monkeypatch: pytest.MonkeyPatch, size: tuple[int, int, int], kernel: str
) -> None:
    page = without(monkeypatch, "")
    page.selectbox(key="recorded_size").set_value(size_name(size)).run()
    assert not page.exception
    assert page.selectbox(key="recorded_few_compared").value == kernel
    assert kernel in list(speeds(page)["Kernel"])
    assert any(text.value.startswith(f"**{kernel} runs at ") for text in page.markdown)


def test_the_page_says_why_counters_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    page = without(monkeypatch, "")
    (why,) = [text.value for text in page.markdown if "wider words" in text.value]
    assert why.startswith("transposed (TILE 32) shows 28% of the predicted shared wavefronts")


@pytest.mark.deep
def test_several_gpus_are_drawn_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    (run, *_), _ = scalings()
    page = without(monkeypatch, "")
    headers = [header.value for header in page.header]
    assert headers.index("Several GPUs: the same idea one level up") > 0
    most = max(one.gpus for one in run.scaling.runs)
    assert any(text.value.startswith(f"**{most} GPUs multiply") for text in page.markdown)
    table = next(one.value for one in page.table if "Of ideal" in one.value)
    assert list(table["Time, ms"]) == [f"{one.ms:#.4g}" for one in run.scaling.runs]
    assert told_step(page).startswith("Step 1 of 2: each GPU computes one part")
    page.button_group(key=f"scale_step_{most}").set_value(1).run()
    assert not page.exception
    assert told_step(page).startswith("Step 2 of 2")
    page.button_group(key="scale_unit").set_value("Milliseconds").run()
    assert not page.exception


def told_step(page: AppTest) -> str:
    """What the page says of the step that is drawn."""
    return next(str(text.value) for text in page.markdown if text.value.startswith("Step "))


def test_without_a_scaling_nothing_is_said_of_several_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Broken("x.json", 3, "It is not one.")
    monkeypatch.setattr("gpu.scale.recorded.scalings", lambda: ((), (broken,)))
    page = without(monkeypatch, "")
    assert all("Several GPUs" not in header.value for header in page.header)
    [error] = page.error
    assert "x.json, line 3" in error.value


def speeds(page: AppTest) -> Any:
    """The table with the kernels' times."""
    return next(one.value for one in page.table if "TFLOP/s" in one.value)


@pytest.mark.deep
def test_looking_again_asks_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    mended = (
        "import os\n"
        "from tests.gpu.fake_worker import JOBS\n"
        "from gpu.worker import serve\n"
        "missing = {'part': 'CuPy', 'what': 'CuPy', 'sentence': 'No.', 'command': 'x'}\n"
        "nothing = {'device': None, 'missing': missing, 'parts': {}}\n"
        "serve(JOBS if 'MENDED' in os.environ else {'status': lambda *_: nothing})\n"
    )
    page = opened(monkeypatch, (sys.executable, "-c", mended))
    assert page.expander[-1].label == "What is missing to run kernels here: CuPy"
    monkeypatch.setenv("MENDED", "1")
    next(button for button in page.button if button.label == "Look again").click()
    page.run()
    assert not page.exception
    assert any("Test GPU" in text.value for text in page.markdown)


def test_a_run_shows_its_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened(monkeypatch, FAKE)
    page.multiselect(key="compare_kernels").set_value(["tiled"]).run()
    page.number_input(key="compare_M").set_value(300).run()
    page.button(key="compare_run").click().run()
    settled(page)
    assert not page.exception
    assert any("multiplies 300 ×" in text.value for text in page.markdown)
    assert list(page.table[0].value["Kernel"]) == ["tiled, TILE 16", "cuBLAS"]
    assert any("__global__ void tiled" in code.value for code in page.code)


def test_a_kernel_whose_c_is_wrong_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened(monkeypatch, FAKE)
    page.multiselect(key="compare_kernels").set_value(["naive", "tiled"]).run()
    page.button(key="compare_run").click().run()
    settled(page)
    assert any("naive: C is wrong" in warning.value for warning in page.warning)


def test_the_chosen_tile_is_in_the_text_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened(monkeypatch, FAKE)
    page.multiselect(key="compare_kernels").set_value(["tiled:TILE=32"]).run()
    assert any("#define TILE 32" in code.value for code in page.code)


def test_a_run_can_be_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_SECONDS", "30")
    page = opened(monkeypatch, FAKE)
    page.button(key="compare_run").click().run()
    page.button(key="compare_job_cancel").click().run()
    settled(page)
    assert [error.value for error in page.error] == ["Cancelled."]
    assert not page.button(key="compare_run").disabled


def test_sizes_that_do_not_fit_are_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened(monkeypatch, FAKE)
    page.multiselect(key="compare_kernels").set_value([]).run()
    assert page.button(key="compare_run").disabled
    assert not page.exception


def test_too_small_a_gpu_is_told_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened(monkeypatch, FAKE)
    for name in "MNK":
        page.number_input(key=f"compare_{name}").set_value(32768)
    page.run()
    assert "are free. M = N = K = " in page.error[0].value
    assert page.button(key="compare_run").disabled


@pytest.mark.deep
def test_the_transactions_of_the_launch_are_in_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened(monkeypatch, FAKE)
    page.multiselect(key="compare_kernels").set_value(["tiled"]).run()
    page.button(key="compare_run").click().run()
    settled(page)
    row = page.table[1].value.iloc[0]
    assert row["Global sectors"] == f"{2 * 4096**3 // 16 // 8 + 4096**2 // 8:,}"
    assert any("No hardware counters" in text.value for text in page.markdown)


@pytest.mark.deep
def test_one_of_several_gpus_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_GPUS", "2")
    page = opened(monkeypatch, FAKE)
    assert page.selectbox(key="compare_gpu").options == ["0: Test GPU", "1: Test GPU 1"]
    page.selectbox(key="compare_gpu").select(1).run()
    assert any("**Test GPU 1**" in text.value for text in page.markdown)
    page.button(key="compare_run").click().run()
    settled(page)
    assert page.session_state["compare_result"].device.name == "Test GPU 1"


@pytest.mark.deep
def test_the_bar_names_the_kernel_that_runs_and_the_place_in_the_queue(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FAKE_SECONDS", "30")
    page = opened(monkeypatch, FAKE)
    page.multiselect(key="compare_kernels").set_value(["naive", "tiled"]).run()
    page.button(key="compare_run").click().run()
    job = page.session_state["compare_job"]
    while not job.state.message.startswith("Running naive"):
        time.sleep(0.1)
    page.run()
    assert "Running naive and checking its C" in told(page)
    other = opened_again()
    other.button(key="compare_run").click().run()
    assert "Place 2 in the queue, one job before yours" in told(other)
    for one in (other, page):
        one.session_state["compare_job"].cancel()
        settled(one)


def opened_again() -> AppTest:
    """The page as another visitor meets it, with the same GPU process."""
    return AppTest.from_file(PAGE, default_timeout=60).run()


def told(page: AppTest) -> str:
    """What the progress bar says."""
    return str(page.get("progress")[0].proto.text)


@pytest.mark.parametrize(
    ("what", "verdict"),
    [("wrong", "row 1, column 2"), pytest.param("right", "Identical", marks=pytest.mark.deep)],
)
def test_two_cs_are_compared_bit_for_bit(
    monkeypatch: pytest.MonkeyPatch, what: str, verdict: str
) -> None:
    pytest.importorskip("clang.cindex", reason="libclang is not installed")
    monkeypatch.setenv("FAKE_BITS", what)
    page = unrecorded(monkeypatch)
    page.selectbox(key="bits_kernel").select("tiled").run()
    page.button(key="bits_run").click().run()
    settled(page)
    assert not page.exception
    assert any("100 × 72 × 36" in text.value for text in page.subheader)
    spoken = [*page.success, *page.error]
    assert len(spoken) == 1
    assert verdict in spoken[0].value


def test_limits_are_measured_and_kept_for_the_roofline(monkeypatch: pytest.MonkeyPatch) -> None:
    page = unrecorded(monkeypatch)
    page.button(key="compare_limits_run").click().run()
    settled(page)
    assert [metric.value for metric in page.metric] == ["0.9 TFLOP/s", "150 GB/s", "50 GB/s"]
    page.button(key="compare_run").click().run()
    settled(page)
    assert any("measured on this GPU" in text.value for text in page.caption)


def test_a_gpu_process_that_dies_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened(monkeypatch, (sys.executable, "-c", "raise SystemExit(3)"))
    assert any("GPU process ended" in text.value for text in page.markdown)
    assert not page.exception
