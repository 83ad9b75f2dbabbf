"""What went wrong on the GPU, as a sentence, and whether its process can go on."""

from __future__ import annotations

from simulator.language.errors import LaunchError, SourceError
from simulator.language.printable import printable, without_folders

# cudaError_t and CUresult share these numbers (CUDA Driver API, section 6.1).
CUDA_ERRORS = {
    1: "this GPU does not accept such a launch (invalid value)",
    2: "the GPU ran out of memory; choose smaller matrices or close other programs that use it",
    9: "this GPU does not accept the grid or the block (invalid configuration)",
    46: "the GPU is busy or reserved by another program",
    98: "this GPU cannot run the compiled kernel (invalid device function)",
    100: "there is no GPU any more",
    101: "there is no GPU with that number",
    209: "the kernel was compiled for another GPU",
    214: "the GPU's memory has an uncorrectable error",
    700: "the kernel read or wrote outside its arrays (illegal address)",
    701: "the block needs more registers or shared memory than a multiprocessor has",
    702: "the kernel ran longer than the system allows (launch timeout)",
    710: "an assert in the kernel failed",
    714: "the GPU's hardware met an error in the kernel's stack",
    715: "the kernel executed an illegal instruction",
    716: "the kernel read or wrote at an address that is not a multiple of the access's size",
    717: "the kernel used an address of the wrong memory space",
    718: "the kernel jumped to an invalid address",
    719: "the kernel failed while running (launch failure); "
    "reading or writing outside shared memory is the usual cause",
    720: "too many blocks for a cooperative launch",
    721: "the GPU met a hardware error; restart the machine if it happens again",
    802: "the GPU is not ready yet",
    999: "the driver reports an unknown error",
}


def explain(error: BaseException) -> tuple[str, bool]:
    """The sentence for an error, and whether the process that met it must be replaced."""
    if isinstance(error, (SourceError, LaunchError)):
        return str(error), False
    if type(error).__name__ == "OutOfMemoryError":
        return f"{CUDA_ERRORS[2][0].upper()}{CUDA_ERRORS[2][1:]}.", True
    status = getattr(error, "status", None)
    if isinstance(status, int):
        reason = CUDA_ERRORS.get(status, _message(error) or "it gave no reason")
        return f"{reason[0].upper()}{reason[1:]}: {type(error).__name__} {status}.", True
    return f"A fault in Tilewise's GPU process: {type(error).__name__}: {_message(error)}", True


def _message(error: BaseException) -> str:
    """What an error of others says: printable, and without this machine's folders."""
    return without_folders(printable(str(error).strip()))
