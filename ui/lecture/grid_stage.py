"""The stage of the grid: which block owns which tile of C, and how blocks share the GPU in waves.

B is above C and A to its left, each in tiles: a block's row of tiles of A and its column of
tiles of B, in the order in which it multiplies them, make its tile of C. Where blocks share K, each
has a piece of that row and column, and its sums are added into the same tile. Under them are the
multiprocessors of the newest recorded GPU, each as full as it has blocks of the shown block's wave.
At the foot is a launch of the same kernel that is too large for the GPU: C in blocks that ran,
that run, on all multiprocessors, and that wait, in numbered waves.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from gpu.cuda.device import Device
from gpu.recorded import recordings
from simulator import Step
from simulator.language.ctype import Array
from simulator.launch import WARP_SIZE
from ui.analysis.scene_model import SceneModel, follows_products, multiplied_tile
from ui.drawing.canvas import Shape, Trace, labels, outline
from ui.drawing.paths import box, head, px
from ui.drawing.sheet import Rectangle
from ui.lecture.board import sums_of_threads
from ui.lecture.cells import Cells, number_width
from ui.lecture.colours import mix
from ui.lecture.letters import fit
from ui.lecture.panel_context import PanelContext
from ui.lecture.stage_panel import StagePanel

LINES = 2  # of words above the matrices, and above the multiprocessors, at most
LINE = 1.35  # of their height, from one to the next
GRID_SHARE = 0.46  # of the height that words leave, the matrices'
LARGEST = 4.0  # of a small letter, a tile
GAP = 5.0
MOST_TILES = 64  # in a row: more are drawn as one
WAVES = 2.5  # of the large launch at least
LARGE_SHARE = 0.3  # of the height that words leave, the large launch
LARGE_WIDTH = 0.42  # of the width, its blocks
LEAST_LARGE = 4.0  # of a small letter, its height
NOW = 1  # the wave of it that runs
NUMBERED = 0.8  # of a wave's number, the height of its blocks at least
PLUS = 12.0  # pixels, the sign where they meet
HEAD, LARGE_HEAD = 7.0, 14.0  # pixels, of an arrow; of the one to the multiprocessors
RUNNING = 0.6  # of the colour of what runs, in a block's: its number is still read
LEAST_FULL = 0.12  # of a multiprocessor, what one block of many fills at least
SUM = 0.8  # of a tile, one piece's sums on their way into it
BLOCKS_PER_MULTIPROCESSOR = 32  # CUDA C++ Programming Guide, compute capability 9.0 and 10.0
RESERVED = 1024  # bytes of shared memory for each block, from the same table


class GridStage(StagePanel):
    """The blocks of the launch, and the multiprocessors that run them."""

    def __init__(self, context: PanelContext) -> None:
        model, letters, areas = context.model, context.letters, context.areas
        self._model, self._palette, self._letters = model, context.palette, letters
        stage, maps = areas.stage, areas.corner
        launch = model.recording.launch
        self._across, self._down, deep = launch.grid
        x, y, z = model.recording.block
        self._block = y, x
        self._devices = [run.device for run in recordings().runs]
        self._held = resident_blocks(model, self._devices[0]) if self._devices else 0
        count = self._across * self._down
        first = z * count
        self._number = first + y * self._across + x
        self._pieces, self._piece = deep, z
        self._waves = np.zeros((self._down, self._across), np.int64)
        self._wave = self._wave_blocks = 0
        if self._held:
            at_once = self._held * self._devices[0].multiprocessors
            self._waves = (np.arange(first, first + count) // at_once).reshape(self._waves.shape)
            self._wave = int(self._waves[y, x])
            self._wave_count = -(-count * deep // at_once)
            self._wave_blocks = min(at_once, count * deep - self._wave * at_once)
        self._words = Rectangle(
            maps.right + 1.5 * letters.name, stage.top, stage.right, maps.bottom
        )
        self._terms = 0 if model.product is None else 1
        if model.tiles_of_k is not None:
            self._terms = min(model.tile_count, MOST_TILES)
        line = LINE * letters.name
        self._lines = (
            fit(self._describe_grid(), letters.name, self._words.width, LINES),
            fit(self._describe_gpu(), letters.name, stage.width, LINES),
        )
        above, under = (len(lines) * line for lines in self._lines)
        top = stage.top + above if areas.far is not None else maps.bottom
        free = stage.bottom - top - under - letters.small
        self._large = self._large_launch()
        large = LARGE_SHARE * free if self._large is not None else 0.0
        if large < LEAST_LARGE * letters.small:
            self._large, large = None, 0.0
        grid = GRID_SHARE / (1 - LARGE_SHARE) * (free - large)
        self._place(Rectangle(stage.left, top, stage.right, top + grid))
        below = top + grid + letters.small
        self._below = Rectangle(stage.left, below, stage.right, below + under)
        self._gpu = self._place_gpu(
            Rectangle(stage.left, self._below.bottom, stage.right, stage.bottom - large)
        )
        foot = Rectangle(
            stage.left, stage.bottom - large + 1.8 * letters.small, stage.right, stage.bottom
        )
        self._place_large(foot)

    def _place(self, area: Rectangle) -> None:
        """The tiles of A and of B, and the blocks of C."""
        terms, gap = self._terms, GAP if self._terms else 0.0
        size = min(
            (area.width - gap) / (terms + self._across), (area.height - gap) / (terms + self._down),
            LARGEST * self._letters.small,
        )  # fmt: skip
        x, y = area.left + terms * size + gap, area.top + terms * size + gap
        self._a = Cells(area.left, y, size, size, self._down, terms)
        self._b = Cells(x, area.top, size, size, terms, self._across)
        self._c = Cells(x, y, size, size, self._down, self._across)

    def _place_gpu(self, area: Rectangle) -> Cells | None:
        """A cell for each multiprocessor, in as square cells as there is room for."""
        if not self._devices or area.height <= 0:
            return None
        count = self._devices[0].multiprocessors
        rows = max(1, round(math.sqrt(count * area.height / area.width)))
        columns = -(-count // rows)
        size = min(area.width / columns, area.height / rows)
        return Cells(area.left, area.top, size, size, rows, columns)

    def _large_launch(self) -> tuple[int, int, int] | None:
        """Rows and columns of C that take some waves of blocks, and these blocks down and across.

        None without a recorded GPU or a product.
        """
        model = self._model
        if not self._held or model.product is None:
            return None
        rows, columns = model.tile[:2] if model.tile is not None else (
            sums_of_threads(model)[0].max(axis=0) + 1
        )  # fmt: skip
        wave, side = self._held * self._devices[0].multiprocessors, int(max(rows, columns))
        size = side
        while -(-size // int(rows)) * -(-size // int(columns)) < WAVES * wave:
            size += side
        return size, -(-size // int(rows)), -(-size // int(columns))

    def _place_large(self, area: Rectangle) -> None:
        """The blocks of the large launch, and beside them the multiprocessors."""
        self._foot = area
        if self._large is None:
            return
        _, down, across = self._large
        middle = area.left + LARGE_WIDTH * area.width
        self._blocks = Cells(
            area.left, area.top, (middle - area.left) / across, area.height / down, down, across
        )
        places = replace(area, left=middle + 3 * self._letters.small)
        self._all = self._place_gpu(places)

    def changing(self, step: Step) -> list[Trace]:
        """What the block owns and how many run at once, in words, and the tiles' names."""
        palette, letters = self._palette, self._letters
        line = LINE * letters.name
        points = [
            (area.left, area.top + (0.5 + i) * line)
            for lines, area in zip(self._lines, (self._words, self._below), strict=True)
            for i in range(len(lines))
        ]
        names, at = self._tile_names()
        small, foot = letters.small, self._foot
        numbers, middles = self._wave_numbers()
        return [
            labels(points, [*self._lines[0], *self._lines[1]], letters.name, palette.ink),
            labels(at, names, letters.small, palette.ink, "middle center"),
            labels([(foot.left, foot.top - 0.8 * small)], [self._describe_large()], small,
                   palette.ink),
            labels(middles, numbers, letters.number, palette.ink, "middle center"),
        ]  # fmt: skip

    def shapes(self, step: Step) -> list[Shape]:
        """The tiles that are multiplied, each block's wave, and the multiprocessors."""
        palette, (y, x) = self._palette, self._block
        tile = None if self._terms == 1 else multiplied_tile(self._model, step)
        if self._terms == 1:
            done = 1  # the whole row of A and column of B
        elif tile is None:
            done = self._terms if follows_products(self._model, step) else 0
        else:
            done = tile
        band = [(self._a.path(y, t) + self._b.path(t, x), t) for t in range(self._terms)]
        colours = len(palette.tiles)
        now = "" if tile is None or tile >= self._terms else band[tile][0]
        states = self._states(self._waves, self._wave)
        return [
            outline(self._a.whole() + self._b.whole(), palette.line, 0, palette.cell, "below"),
            *(outline("".join(path for path, t in band[:done] if t % colours == i),
                      palette.line, 0, mix(palette.tiles[i], palette.paper, 0.5), "below")
              for i in range(colours)),
            *(outline(now if tile is not None and tile % colours == i else "",
                      palette.tile_edges[i], 3, palette.tiles[i], "below")
              for i in range(colours)),
            *(outline(self._c.fill(blocks), palette.line, 0, colour, "below")
              for blocks, colour in states),
            outline("".join(map(Cells.lines, (self._a, self._b, self._c))), palette.line, 0.7,
                    layer="below"),
            outline(self._c.path(y, x), palette.focus, 4, palette.focus_fill, "below"),
            outline(self._band_arrows(), palette.ink, 3),
            *self._piece_shapes(),
            *self._large_shapes(),
            *self._gpu_shapes(),
        ]  # fmt: skip

    def _states(self, waves: Array, now: int) -> list[tuple[Array, str]]:
        """The blocks that ran, that run, and that wait, bool as waves are, and their colours."""
        palette = self._palette
        running = mix(palette.cell, palette.number, RUNNING)
        return [(waves < now, palette.done), (waves == now, running), (waves > now, palette.idle)]

    def _band_arrows(self) -> str:
        """From the block's row of A and its column of B into its tile of C."""
        (y, x), a, b, c = self._block, self._a, self._b, self._c
        if not self._terms or self._pieces > 1:
            return ""
        left, top, right, bottom = c.box(y, x)
        path = ""
        for ends in (
            (a.right, (top + bottom) / 2, left, (top + bottom) / 2),
            ((left + right) / 2, b.bottom, (left + right) / 2, top),
        ):
            path += "M{},{}L{},{}".format(*map(px, ends)) + head(*ends, HEAD)
        return path

    def _describe_large(self) -> str:
        """How many waves the large launch takes, and how full the last one is."""
        if self._large is None:
            return ""
        size, down, across = self._large
        wave = self._held * self._devices[0].multiprocessors
        waves = -(-down * across // wave)
        full = f"{100 * (down * across - (waves - 1) * wave) / wave:.0f}% full"
        wordings = (
            f"A C of {size} × {size} would take {waves} waves, the last {full}",
            f"If C were {size} × {size}: {waves} waves, the last {full}", f"{waves} waves",
        )  # fmt: skip
        return [*fit(wordings, self._letters.small, self._foot.width, 1), ""][0]

    def _large_waves(self) -> Array:
        """The wave of each block of the large launch: int [rows, columns]."""
        count = self._blocks.rows * self._blocks.columns
        wave = self._held * self._devices[0].multiprocessors
        waves: Array = (np.arange(count) // wave).reshape(self._blocks.rows, self._blocks.columns)
        return waves

    def _wave_numbers(self) -> tuple[list[str], list[tuple[float, float]]]:
        """The number of each wave of the large launch, from 1, where there is room for it."""
        texts: list[str] = []
        points: list[tuple[float, float]] = []
        if self._large is not None:
            waves, cells = self._large_waves(), self._blocks
            for wave in range(int(waves.max()) + 1):
                rows = np.flatnonzero((waves == wave).any(axis=1))
                if rows.size * cells.height >= NUMBERED * self._letters.number:
                    texts.append(str(wave + 1))
                    points.append(
                        (
                            (cells.left + cells.right) / 2,
                            cells.top + (rows[0] + rows[-1] + 1) / 2 * cells.height,
                        )
                    )
        return texts, points

    def _large_shapes(self) -> list[Shape]:
        """The large launch's blocks by what they do, and an arrow to where the running ones are."""
        if self._large is None or self._all is None:
            return []
        palette, cells, gpu = self._palette, self._blocks, self._all
        waves = self._large_waves()
        states = self._states(waves, NOW)
        rows = np.flatnonzero(states[1][0].any(axis=1))
        y = cells.top + (rows[0] + rows[-1] + 1) / 2 * cells.height
        ends = cells.right, y, gpu.left, min(max(y, gpu.top), gpu.bottom)
        arrow = "M{},{}L{},{}".format(*map(px, ends)) + head(*ends, LARGE_HEAD)
        count = self._devices[0].multiprocessors
        full = np.arange(gpu.rows * gpu.columns).reshape(gpu.rows, gpu.columns) < count
        return [
            *(outline(cells.fill(blocks), palette.line, 0, colour, "below")
              for blocks, colour in states),
            outline("".join(cells.border(waves == i) for i in range(int(waves.max()) + 1)),
                    palette.ink, 1),
            outline(gpu.fill(full), palette.line, 0.7, states[1][1], "below"),
            outline(gpu.lines(), palette.near, 1, layer="below"),
            outline(arrow, palette.ink, 4),
        ]  # fmt: skip

    def _piece_shapes(self) -> list[Shape]:
        """Where blocks share K: the piece of each, and their sums on their way into the tile."""
        palette, (y, x) = self._palette, self._block
        others = own = sums = arrows = plus = ""
        if self._pieces > 1 and self._terms > 1:
            each = -(-self._terms // self._pieces)
            target, size = self._c.box(y, x), SUM * self._c.width
            at, height, half = target[0] - PLUS, target[1] - 3 * PLUS, 0.6 * PLUS
            plus = (
                f"M{px(at - half)},{px(height)}H{px(at + half)}"
                f"M{px(at)},{px(height - half)}V{px(height + half)}"
            )
            for piece in range(self._pieces):
                first, count = piece * each, min(each, self._terms - piece * each)
                if count <= 0:
                    continue
                path = self._a.path(y, first, 1, count) + self._b.path(first, x, count, 1)
                left, top = self._a.left + first * self._a.width, self._b.top + first * size
                place = (left, top, left + size, top + size)
                sums += box(*place)
                ends = (place[2], place[3], target[0], target[1])
                arrows += "M{},{}L{},{}".format(*map(px, ends)) + head(*ends, HEAD)
                if piece == self._piece:
                    own += path + box(*place)
                else:
                    others += path
        return [
            outline(sums, palette.ink, 1, palette.idle),
            outline(arrows + plus, palette.ink, 2),
            outline(others, palette.ink, 2, dash="dot"),
            outline(own, palette.focus, 3),
        ]

    def _gpu_shapes(self) -> list[Shape]:
        """The multiprocessors, as full as they are of blocks, and the one with the block shown."""
        palette, gpu = self._palette, self._gpu
        if gpu is None or not self._held:
            return []
        count = self._devices[0].multiprocessors
        own = self._number % (self._held * count) % count
        return [
            outline("".join(gpu.path(*divmod(i, gpu.columns)) for i in range(count)),
                    palette.line, 0.7, palette.cell, "below"),
            outline(self._fill_up(gpu, count), palette.line, 0.7,
                    mix(palette.cell, palette.number, RUNNING), "below"),
            outline(gpu.path(*divmod(own, gpu.columns)), palette.focus, 3),
        ]  # fmt: skip

    def _fill_up(self, gpu: Cells, count: int) -> str:
        """Each multiprocessor up to the share of its places that the wave's blocks take."""
        path = ""
        for i in range(min(count, self._wave_blocks)):
            share = -(-(self._wave_blocks - i) // count) / self._held
            left, top, right, bottom = gpu.box(*divmod(i, gpu.columns))
            path += box(left, bottom - max(LEAST_FULL, share) * (bottom - top), right, bottom)
        return path

    def _tile_names(self) -> tuple[list[str], list[tuple[float, float]]]:
        """The names of the block's tiles, where they have room."""
        y, x = self._block
        size = self._letters.small
        separate = "," if max(self._across, self._down, self._terms) > 10 else ""
        A, B, C = self._model.product.names if self._model.product is not None else ("", "", "")
        named = [(self._c, (y, x), f"{C}{y}{separate}{x}")]
        named += [(self._a, (y, t), f"{A}{y}{separate}{t}") for t in range(self._terms)]
        named += [(self._b, (t, x), f"{B}{t}{separate}{x}") for t in range(self._terms)]
        longest = max(len(name) for *_, name in named)
        if self._c.width < number_width(longest, size) or self._c.height < 1.2 * size:
            return [], []
        points = [cells.centres()[row * cells.columns + column]
                  for cells, (row, column), _ in named]  # fmt: skip
        return [name for *_, name in named], points

    def _describe_grid(self) -> tuple[str, ...]:
        y, x = self._block
        count = self._model.recording.launch.blocks
        if count == 1:
            return ("The grid is one block.",)
        terms = f": {self._terms} tiles of A by {self._terms} of B" if self._terms > 1 else ""
        return (f"Block ({x}, {y}), one of {count:,}, computes its tile of C{terms}.",
                f"Block ({x}, {y}) of {count:,} computes its tile of C.",
                f"Block ({x}, {y}) of {count:,}.")  # fmt: skip

    def _describe_gpu(self) -> tuple[str, ...]:
        """How many of the blocks run at once."""
        if not self._held:
            return ()
        device = self._devices[0]
        busy = min(device.multiprocessors, self._wave_blocks)
        idle = device.multiprocessors - busy
        wave = "" if self._wave_count == 1 else f"Wave {self._wave + 1} of {self._wave_count:,}: "
        blocks = f"{self._wave_blocks:,} block{'s' * (self._wave_blocks > 1)}"
        end = f"{idle} idle" if idle else f"up to {self._held} on each"
        return (f"{wave}{blocks} at once on the {device.name}'s {device.multiprocessors} "
                f"multiprocessors, {end}.",
                f"{wave}{blocks} on {device.multiprocessors} multiprocessors, {end}.",
                f"{blocks}, {end}.")  # fmt: skip


def resident_blocks(model: SceneModel, device: Device) -> int:
    """The most blocks of a launch that a multiprocessor holds by their threads and shared memory.

    Registers, which the compiler gives, may allow fewer.
    """
    launch = model.recording.launch
    warps = -(-launch.threads // WARP_SIZE)
    by_threads = device.threads_per_multiprocessor // (warps * WARP_SIZE)
    values: list[Array] = (
        list(model.recording.steps[0].shared.values()) if (model.recording.steps) else []
    )
    shared = sum(one.nbytes for one in values) + RESERVED
    by_shared = (device.shared_bytes_per_block + RESERVED) // shared
    return max(1, min(by_threads, by_shared, BLOCKS_PER_MULTIPROCESSOR))
