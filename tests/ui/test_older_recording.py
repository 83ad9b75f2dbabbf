"""A recording made before a counter or a section existed opens, and shows it as unknown."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from gpu import recorded
from gpu.comparison import Comparison
from gpu.recorded import RecordedRun
from gpu.tables import table as text_table
from tests.ui.test_gpu_page import without
from ui.gpu_charts import counters, performance, roofline

SIZE = (4096, 4096, 4096)
SECTIONS = ("bits", "ceilings", "latency")


@pytest.fixture
def older(tmp_path: Path) -> RecordedRun:
    """The shipped recording as an older, and a newer, version would have written it.

    "tiled" lacks a predicted counter of global memory, "registers" a measured one of shared
    memory; three optional sections are missing, and there are keys that nobody knows yet.
    """
    whole: dict[str, Any] = json.loads(
        (recorded.FOLDER / "nvidia-h200.json").read_text(encoding="utf-8")
    )
    for section in SECTIONS:
        del whole[section]
    for comparison in whole["comparisons"]:
        comparison["from_the_future"] = [1]
        comparison["device"]["from_the_future"] = None
        for kernel in comparison["kernels"]:
            kernel["from_the_future"] = {"a": 1}
            if kernel["name"] == "tiled":
                del kernel["simulated"]["global_store_sectors"]
                kernel["simulated"]["l2_hits"] = 7
            if kernel["name"] == "registers" and kernel["counters"]:
                del kernel["counters"]["shared_load_wavefronts"]
    (tmp_path / "older.json").write_text(json.dumps(whole), encoding="utf-8")
    found = recorded.recordings(tmp_path)
    assert found.problems == ()
    return found.runs[0]


@pytest.fixture
def comparison(older: RecordedRun) -> Comparison:
    return next(one for one in older.comparisons if one.size == SIZE)


def row(rows: list[dict[str, str]], kernel: str) -> dict[str, str]:
    return next(one for one in rows if one["Kernel"] == kernel)


def test_sections_that_are_missing_are_none_and_empty(older: RecordedRun) -> None:
    assert older.limits is None
    assert older.bits == ()


def test_tables_show_a_missing_counter_as_unknown(comparison: Comparison) -> None:
    tiled = row(counters.build_table(comparison), "tiled, TILE 16")
    assert tiled["Global sectors, predicted"] == "unknown"
    assert tiled["Global sectors, measured over predicted"] == "unknown"
    assert int(tiled["Global sectors, measured"].replace(",", "")) > 0
    assert "%" in tiled["Shared wavefronts, measured over predicted"]
    registers = row(counters.build_table(comparison), "registers")
    assert registers["Shared wavefronts, measured"] == "unknown"
    assert int(registers["Shared wavefronts, predicted"].replace(",", "")) > 0
    taken = row(performance.build_resource_table(comparison), "tiled, TILE 16")
    assert taken["Global sectors"] == "unknown"
    assert int(taken["Shared wavefronts"].replace(",", "")) > 0
    assert "unknown" in text_table(comparison)


def test_figures_have_no_marker_for_a_missing_counter(comparison: Comparison) -> None:
    names = [performance.kernel_label(kernel) for kernel in counters.profiled_kernels(comparison)]
    tiled = names.index("tiled, TILE 16")
    figure = counters.draw_counts(comparison, "Global sectors")
    measured, predicted = figure.data
    assert predicted.x[tiled] is None or math.isnan(predicted.x[tiled])
    assert measured.x[tiled] > 0
    assert figure.layout.annotations[tiled].text == "tiled, TILE 16: predicted unknown"
    assert sum("unknown" in name.text for name in figure.layout.annotations) == 1
    assert "tiled, TILE 16: unknown predicted" in counters.describe(comparison, "Global sectors")


def test_the_roofline_has_no_point_whose_bytes_are_unknown(comparison: Comparison) -> None:
    points = [performance.kernel_label(point.kernel) for point in roofline.find_points(comparison)]
    assert "registers" in points
    assert "tiled, TILE 16" not in points
    assert roofline.draw_roofline(comparison).data
    assert "tiled, TILE 16: operations a byte unknown" in roofline.describe(comparison)


def test_the_page_opens(monkeypatch: pytest.MonkeyPatch, older: RecordedRun) -> None:
    found = recorded.Recordings((older,), ())
    monkeypatch.setattr(recorded, "recordings", lambda: found)
    page = without(monkeypatch, "")
    assert not page.exception
    tables = [one.value for one in page.table if "Global sectors" in one.value]
    assert [list(one["Global sectors"]).count("unknown") for one in tables] == [1]
