"""A comparison's figures: the dataclasses that pages draw and the JSON that programs read."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

from gpu.device import Device, device_from

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Record = TypeVar("Record", bound="DataclassInstance")


@dataclass(frozen=True, slots=True)
class KernelResult:
    """One kernel's figures in a comparison. The names are an interface; None is not measured.

    ms: median milliseconds of `repeats` launches, ms_spread their 20th and 80th percentile.
    tflops: 2 M N K operations over that time, in 10^12 a second. cublas_ratio: cuBLAS's time over
    this one, so above 1 is faster. peak_share: of the device's FP32 peak. gb_per_s: 10^9 bytes a
    second if A and B were read once and C written once. max_rel_error, rel_norm_error and
    error_bound: see gpu.verify. registers and local_bytes are a thread's, shared_bytes a block's;
    occupancy is resident threads over the most there can be. error: why it could not run.
    simulated: the simulator's counters of the same launch (gpu.predict); counters: the same as the
    hardware counted them (gpu.hardware). A counter that an older recording lacks is missing from
    the mapping: its value is unknown.
    """

    name: str
    verified: bool
    verdict: str
    element: str = "float32"
    ms: float | None = None
    ms_spread: tuple[float, float] | None = None
    repeats: int = 0
    tflops: float | None = None
    cublas_ratio: float | None = None
    peak_share: float | None = None
    gb_per_s: float | None = None
    max_rel_error: float | None = None
    rel_norm_error: float | None = None
    error_bound: float | None = None
    registers: int | None = None
    shared_bytes: int | None = None
    local_bytes: int | None = None
    occupancy: float | None = None
    grid: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None
    defines: Mapping[str, str] = field(default_factory=dict)
    source: str | None = None
    error: str | None = None
    simulated: Mapping[str, int] | None = None
    counters: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Kernels measured in one run on one device for one size M, N, K."""

    device: Device
    size: tuple[int, int, int]
    kernels: tuple[KernelResult, ...]

    @property
    def verified(self) -> bool:
        """Whether every kernel's C is right."""
        return all(kernel.verified for kernel in self.kernels)

    def to_json(self) -> dict[str, Any]:
        """The object {"device", "size", "kernels"}."""
        return {
            "device": dataclasses.asdict(self.device),
            "size": list(self.size),
            "kernels": [dataclasses.asdict(kernel) for kernel in self.kernels],
        }


def comparison_from(found: Any) -> Comparison:
    """A Comparison from its JSON object; keys it does not know are passed over.

    ValueError, a sentence, where something is missing or of another type.
    """
    if not isinstance(found, dict) or not {"device", "size", "kernels"} <= set(found):
        raise ValueError("A comparison holds device, size and kernels.")
    size, kernels = found["size"], found["kernels"]
    if not (isinstance(size, list) and len(size) == 3 and all(type(n) is int for n in size)):
        raise ValueError("A comparison's size is three whole numbers M, N, K.")
    if not isinstance(kernels, list) or not kernels:
        raise ValueError("A comparison's kernels are a list, not empty.")
    if not isinstance(found["device"], dict):
        raise ValueError("A comparison's device is an object.")
    return Comparison(
        device_from(found["device"]),
        (size[0], size[1], size[2]),
        tuple(record_from(KernelResult, kernel, "A kernel") for kernel in kernels),
    )


def record_from(kind: type[Record], found: Any, what: str) -> Record:
    """A dataclass of plain fields from its JSON object; `what` names it in a ValueError's sentence.

    Keys that it has no field for are passed over.
    """
    if not isinstance(found, dict):
        raise ValueError(f"{what} is an object.")
    hints = typing.get_type_hints(kind)
    values: dict[str, Any] = {}
    for item in fields(kind):
        if item.name not in found:
            if item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING:
                raise ValueError(f"{what} lacks {item.name}.")
            continue
        value = found[item.name]
        if isinstance(value, list):
            value = tuple(value)
        if not _fits(value, hints[item.name]):
            raise ValueError(f"{what}'s {item.name} is {found[item.name]!r}.")
        values[item.name] = value
    return kind(**values)


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value read from JSON is of the annotated type."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, one) for one in arguments)
    if origin is tuple:
        return (
            isinstance(value, tuple)
            and len(value) == len(arguments)
            and all(_fits(part, one) for part, one in zip(value, arguments, strict=True))
        )
    if origin is not None:
        return isinstance(value, Mapping) and all(
            _fits(part, arguments[1]) for part in value.values()
        )
    if hint is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, hint)
