"""A candidate of a comparison: a kernel of the catalogue in one setting, launched for one size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpu.cuda.compile import element_type
from simulator.catalogue import Entry, whole_catalogue
from simulator.language.errors import LaunchError
from simulator.launch import MAX_GRID, Dim3

LARGEST = 2**31 - 1  # kernels index with int


@dataclass(frozen=True, slots=True)
class Candidate:
    """One kernel of a run: the text that is compiled and how it is launched."""

    name: str  # as `choose` takes it: "tiled:TILE=32"
    text: str  # CUDA C
    kernel: str  # the name of the __global__ function
    grid: Dim3  # blocks in x, y, z
    block: Dim3  # threads in x, y, z
    defines: Mapping[str, str]  # macros and their values
    precision: str = ""  # a name of gpu.precision; "" where the text's parameters say
    # What each parameter gets: "A", "B", "C", or a number with its type, "i32=4096"; none for
    # A, B, C, M, N, K.
    arguments: tuple[str, ...] = ()
    shared_bytes: int = 0  # of dynamic shared memory
    c_holds_zeros: bool = False  # before; else NaN, so that cells that are left out are seen
    options: tuple[str, ...] = ()  # of the compiler, beside the usual ones

    def multiplies(self) -> str:
        """The precision's name, from the text where it is not given; SourceError if it has none."""
        return self.precision or element_type(self.text, self.kernel)


def choose(
    wanted: str, size: tuple[int, int, int], defines: Mapping[str, str] | None = None
) -> Candidate:
    """The candidate for "tiled" or "tiled:TILE=32" from the catalogue, for M, N, K.

    `defines` are macros set in every kernel that has them. LaunchError names what is wrong.
    """
    name, *settings = wanted.split(":")
    if whole_catalogue() and name not in whole_catalogue().everything:
        raise LaunchError(
            f"There is no kernel {name!r}; the catalogue has {', '.join(whole_catalogue())}."
        )
    entry = whole_catalogue()[name]
    settings_of_name = dict(_setting(setting) for setting in settings)
    for macro in settings_of_name:
        if macro not in entry.defines:
            known = ", ".join(entry.defines) or "none"
            raise LaunchError(f"Kernel {name} has no macro {macro}; its macros: {known}.")
    common = {key: value for key, value in (defines or {}).items() if key in entry.defines}
    chosen: dict[str, int] = {}
    for macro, value in (common | settings_of_name).items():
        if not value.isdecimal() or int(value) not in entry.defines[macro]:
            offered = ", ".join(map(str, sorted(entry.defines[macro])))
            raise LaunchError(f"{macro}={value} is not offered for {name}; choose from {offered}.")
        chosen[macro] = int(value)
    check_size(size)
    grid, block = entry.shape(size[0], size[1], **chosen)
    check_grid(name, grid)
    if grid[2] > 1:
        raise LaunchError(
            f"{wanted} adds to a C that must hold zeros at the start; `python -m gpu shapes` "
            "measures it."
        )
    values = {macro: str(chosen.get(macro, offer[0])) for macro, offer in entry.defines.items()}
    return Candidate(
        wanted, entry.source(**chosen), entry.kernel, grid, block, values, entry.precision,
        shared_bytes=entry.shared_bytes(**chosen),
    )  # fmt: skip


def is_meant_for(name: str, size: tuple[int, int, int]) -> bool:
    """Whether recordings measure a kernel, as `choose` takes it, at M, N, K."""
    return whole_catalogue()[name.split(":")[0]].is_meant_for(*size[:2])


def variants(entries: Mapping[str, Entry]) -> list[str]:
    """Each kernel in each setting that is worth measuring, as `choose` takes it."""
    names = []
    for entry in entries.values():
        for chosen in entry.speed:
            usual = {macro: values[0] for macro, values in entry.defines.items()}
            changed = [
                f"{macro}={value}" for macro, value in chosen.items() if value != usual[macro]
            ]
            names.append(":".join([entry.name, *changed]))
    return names


def split_variant(variant: str) -> tuple[str, dict[str, int]]:
    """A kernel's name and the macros that are set in it, of what `choose` takes.

    >>> split_variant("tiled:TILE=32")
    ('tiled', {'TILE': 32})
    """
    name, *settings = variant.split(":")
    return name, {macro: int(value) for macro, value in map(_setting, settings)}


def variant_title(variant: str) -> str:
    """What the kernel of a variant is called, with the macros that are set in it."""
    name, *settings = variant.split(":")
    entry = whole_catalogue().get(name)
    title = entry.title if entry else name
    return ", ".join([title, *(setting.replace("=", " ") for setting in settings)])


def _setting(text: str) -> tuple[str, str]:
    macro, equals, value = text.partition("=")
    if not (macro and equals and value):
        raise LaunchError(f"{text!r} is not a setting; write MACRO=VALUE.")
    return macro, value


def check_grid(name: str, grid: Dim3) -> None:
    """LaunchError where a GPU does not take the grid of a kernel."""
    for axis, blocks, most in zip("xyz", grid, MAX_GRID, strict=True):
        if not 1 <= blocks <= most:
            raise LaunchError(
                f"{name} needs {blocks:,} blocks in {axis}; a GPU takes 1 to {most:,}."
            )


def check_size(size: Sequence[int]) -> None:
    """LaunchError unless M, N and K are sizes that a kernel can index."""
    M, N, K = size
    for name, value in zip("MNK", size, strict=True):
        if value < 1:
            raise LaunchError(f"{name} is {value}; it must be at least 1.")
    for matrix, rows, columns in (("A", M, K), ("B", K, N), ("C", M, N)):
        if rows * columns > LARGEST:
            raise LaunchError(
                f"{matrix} would have {rows * columns:,} elements; the kernels count them with "
                f"int, up to {LARGEST:,}. Choose smaller sizes."
            )
