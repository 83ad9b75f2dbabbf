"""The GPU page's section of the whole grid, alone; worker processes import this file too."""

from __future__ import annotations

from ui.gpu.grid_section import draw_grid

if __name__ == "__main__":
    draw_grid()
