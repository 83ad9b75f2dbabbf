"""Prints what the worst addresses of the Step page that were found cost.

Run it as `python -m tools.benchmarks.worst_addresses [WORDS …]`, with words for the addresses whose
names have one of them. Each is opened in a process of its own. Seconds are a processor's until the
first picture; a launch's own limit counts them too, so that a busy machine finds what an idle one
does. Memory is the process's largest, a picture's bytes are those that the browser
is sent, and an animation's seconds are ui/run/click_cost.py's estimate.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context

from simulator import LaunchError, SourceError
from simulator.machine.schedule import Schedule
from simulator.verdict.form import ArrayArgument, UserKernel
from tests.ui.user_kernels import ZEROS, array, user_kernel
from ui.drawing.viewport import USUAL
from ui.run import compute
from ui.run.standalone import parse_address
from ui.view.view_url import USER_KERNEL, ComparedScene, View

try:
    import resource
except ImportError:  # on Windows
    resource = None  # type: ignore[assignment]

LARGEST = "M=64&N=64&K=64"
CATALOGUE = (
    "kernel=warptiles",
    "kernel=warptiles&WARPS_DOWN=1&WARPS_ACROSS=1&schedule=ascending",
    "kernel=warptiles&with=warptiles,schedule:descending",
    "kernel=anyshape",
    "kernel=anyshape&with=warptiles",
    "kernel=registers&EACH=2&TILE=16",
    "kernel=tiled&TILE=32&schedule=ascending",
    "kernel=tiled&TILE=32&schedule=ascending&edits=first-barrier",
    "kernel=tiled&TILE=32&schedule=ascending&with=transposed,schedule:descending",
    "kernel=tiled&TILE=32&schedule=ascending&edits=first-barrier&with=tiled,edits:second-barrier",
    "kernel=tiled_double&TILE=32&schedule=ascending&edits=first-barrier",
    "kernel=tensor_tf32&schedule=ascending&with=tensor_fp32",
    "kernel=naive&schedule=ascending&with=uncoalesced",
)


def square(name: str) -> ArrayArgument:
    """The largest array that a scene draws."""
    return ArrayArgument(name, "128", "128")


RESULT = ArrayArgument("y", "128", "128", ZEROS)


def repeated(
    body: str, times: int, block: str = "32", grid: str = "1", before: str = ""
) -> UserKernel:
    """A kernel that does something many times."""
    text = f"""__global__ void k(const float* x, float* y) {{
    int i = threadIdx.x;
    float sum = 0.0f;
{before}    for (int k = 0; k < {times}; ++k) {{
{body}
    }}
    y[i] = sum;
}}
"""
    return user_kernel(text, grid, block, square("x"), RESULT)


READ = "        sum += x[(i + 32 * k) % 16384];"
SHARED = "    __shared__ float s[%d];\n"
RACE = """        s[(i * 5 + k) % 1024] += x[(i + k) % 16384];
        y[(i * 3 + k) % 16384] += s[(i * 7 + k) % 1024];"""
EXCHANGE = """        s[i] = x[i + 32 * (k % 512)];
        __syncthreads();
        y[i + 32 * (k % 512)] = s[31 - i];"""


def many_arrays(count: int, times: int, writes: bool) -> UserKernel:
    """A kernel of many arrays of the largest size."""
    names = [f"a{n}" for n in range(count)]
    kind = "float*" if writes else "const float*"
    lines = (
        f"        {name}[i] += {other}[i + 32 * (k % 500)];" if writes
        else f"        sum += {name}[i + 32 * (k % 500)];"
        for name, other in zip(names, [*names[1:], names[0]], strict=True)
    )  # fmt: skip
    text = (
        f"__global__ void k({', '.join(f'{kind} {name}' for name in names)}, float* y) {{\n"
        "    int i = threadIdx.x;\n    float sum = 0.0f;\n"
        f"    for (int k = 0; k < {times}; ++k) {{\n" + "\n".join(lines) + "\n    }\n"
        "    y[i] = sum;\n}\n"
    )
    return user_kernel(text, "1", "32", *map(square, names), RESULT)


TILED = user_kernel(
    """#define TILE 8
__global__ void product(const float* A, const float* B, float* C, int n) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    for (int again = 0; again < 12; ++again) {
        float acc = 0.0f;
        for (int t = 0; t < n / TILE; ++t) {
            As[ty][tx] = A[row * n + t * TILE + tx];
            Bs[ty][tx] = B[(t * TILE + ty) * n + col];
            __syncthreads();
            for (int k = 0; k < TILE; ++k)
                acc += As[ty][k] * Bs[k][tx];
            __syncthreads();
        }
        C[row * n + col] = acc;
    }
}
""",
    "n / TILE,n / TILE", "TILE,TILE", ArrayArgument("A", "n", "n"), ArrayArgument("B", "n", "n"),
    ArrayArgument("C", "n", "n", ZEROS), ("n", "128"), roles="A=A B=B C=C M=n N=n K=n",
)  # fmt: skip
LINES = user_kernel(
    "__global__ void k(const float* x, float* y) {\n    int i = threadIdx.x;\n    float s = 0.0f;\n"
    + "    for (int k = 0; k < 8; ++k) {\n"
    + "".join(f"        s += x[i + {n}];\n" for n in range(2300))
    + "    }\n    y[i] = s;\n}\n",
    "1", "32", square("x"), RESULT,
)  # fmt: skip
VARIABLES = user_kernel(
    "__global__ void k(const float* x, float* y) {\n    int i = threadIdx.x;\n"
    + "".join(f"    float v{n} = x[i + {n}];\n" for n in range(600))
    + "    for (int k = 0; k < 10; ++k) {\n"
    + "".join(f"        v{n} += v{(7 * n + 1) % 600};\n" for n in range(600))
    + "    }\n    y[i] = v0;\n}\n",
    "1", "32", square("x"), RESULT,
)  # fmt: skip
RACES = user_kernel(
    "__global__ void k(float* y) {\n    __shared__ float s[64];\n    int i = threadIdx.x;\n"
    + "".join(
        f"    s[(i + {n}) % 64] = y[(i * {n}) % 16384];\n"
        f"    y[(i + {n}) % 700] += s[(i * 7 + {n}) % 64];\n"
        for n in range(400)
    )
    + "}\n",
    "8", "1024", RESULT,
)  # fmt: skip
PRINTING = user_kernel(
    f"""__global__ void k() {{
    for (int k = 0; k < 6600; ++k) printf("{"p" * 200} %d %d\\n", threadIdx.x, k);
}}
""",
    "1", "32",
)  # fmt: skip
DYNAMIC = user_kernel(
    """__global__ void k(const float* x, float* y) {
    extern __shared__ float s[];
    int i = threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < 4900; ++k) {
        if (k % 64 == 0) s[(i + 32 * k) % 58112] = x[i];
        sum += s[(i * 33 + k) % 58112];
    }
    y[i] = sum;
}
""",
    "1", "32", square("x"), RESULT, shared="227 * 1024",
)  # fmt: skip
STRUCTS = user_kernel(
    "struct S { " + " ".join(f"float m{n};" for n in range(60)) + """ };
__global__ void k(S* p, float* y) {
    int i = threadIdx.x;
    S one = p[i];
    for (int k = 0; k < 6600; ++k) one.m3 += p[(i + k) % 256].m7;
    p[i] = one;
    y[i] = one.m3;
}
""",
    "1", "32", array("p", "256"), RESULT,
)  # fmt: skip
COMMENTS = "".join(f"// {'x' * 70}{n}\n" for n in range(740))[:60_000].rsplit("\n", 1)[0] + "\n"

USER_KERNELS = {
    "a step for each read of one warp": repeated(READ, 6600),
    "that, of one thread": repeated(READ, 6600, "1"),
    "that, of 1,024 threads": repeated(READ, 700, "1024"),
    "that, behind 60 KB of comments": replace(
        (slow := repeated(READ, 6600)), text=COMMENTS + slow.text
    ),
    "3,000 blocks": repeated(READ, 20, "256", "3000"),
    "two accesses and a barrier, 2,400 times": repeated(EXCHANGE, 2400, before=SHARED % 32),
    "a race, 64 blocks of 1,024": repeated(RACE, 40, "1024", "64", SHARED % 1024),
    "a race, a block of 1,024": repeated(RACE, 300, "1024", "1", SHARED % 1024),
    "a race, one warp": repeated(RACE, 3000, before=SHARED % 1024),
    "800 lines of races": RACES,
    "2,300 lines": LINES,
    "600 variables": VARIABLES,
    "14 arrays written": many_arrays(14, 190, writes=True),
    "60 arrays read": many_arrays(60, 320, writes=False),
    "a shared array of 48 KB written": repeated(
        "        s[(i + 32 * k) % 12288] = x[i];\n        sum += s[(i * 33 + k) % 12288];", 3000,
        before=SHARED % 12288,
    ),
    "a local array of 8 KB": repeated(
        "        a[k % 2048] = x[k];\n        sum += a[(7 * k) % 2048];", 300,
        before="    float a[2048];\n",
    ),
    "expressions of 120 reads": repeated(
        "        sum += " + " +\n".join(f"x[i + {32 * n}] * {n}.5f" for n in range(120)) + ";",
        300,
    ),
    "printf": PRINTING,
    "a shared array of 227 KB": DYNAMIC,
    "structs of 60 members": STRUCTS,
    "a tiled product, 12 times": TILED,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cost:
    """What opening an address has cost."""

    seconds: float  # of a processor
    megabytes: float  # of the process at its largest; 0 where that is not known
    sent: int  # bytes
    steps: int
    animation: float  # seconds, estimated
    problem: str  # why there is no picture; "" where there is one


def views() -> Iterator[tuple[str, View]]:
    """The addresses, each with a name."""
    for query in CATALOGUE:
        yield query, parse_address(f"{query}&{LARGEST}")
    for name, kernel in USER_KERNELS.items():
        yield f"own: {name}", View(user_kernel=kernel)
    for name in ("a step for each read of one warp", "two accesses and a barrier, 2,400 times"):
        view = View(user_kernel=USER_KERNELS[name])
        beside = replace(view, comparison=ComparedScene(USER_KERNEL, (), (), view.schedule))
        yield f"own: {name}, compared with itself", beside
    ascending = View(user_kernel=TILED, schedule=Schedule.ASCENDING)
    yield "own: a tiled product, 12 times, warp by warp", ascending
    yield (
        "own: that, a different barrier removed on each side",
        replace(
            ascending, edits=("first-barrier",),
            comparison=ComparedScene(USER_KERNEL, (), ("second-barrier",), Schedule.DESCENDING),
        ),
    )  # fmt: skip


def measure(view: View) -> Cost:
    """Open a view in this process, which has opened nothing before."""
    look = replace(USUAL, stage=view.stage)
    begun = time.process_time()
    sent, steps, animation, problem = 0, 0, 0.0, ""
    try:
        opened, picture = compute.open_scene(view, look)
        sent, steps = len(picture.figure), opened.navigation["steps"]
    except (SourceError, LaunchError) as error:
        problem = str(error)
    seconds = time.process_time() - begun
    if not problem:
        animation = compute.animation_work(view).seconds
    largest = 0 if resource is None else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Cost(seconds, largest / 1024, sent, steps, animation, problem)


def main(words: list[str]) -> None:
    """Measure and print: a row as each is known, then all as a table, the most seconds first."""
    found: list[tuple[str, Cost]] = []
    for name, view in views():
        if words and not any(word in name for word in words):
            continue
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            cost = pool.submit(measure, view).result()
        found.append((name, cost))
        print(f"{cost.seconds:6.1f} s  {name}  {cost.problem.splitlines()[:1] or ''}", flush=True)
    print("\n| address | processor | memory | sent | steps | its animation |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, cost in sorted(found, key=lambda one: -one[1].seconds):
        shown = (
            f"{cost.sent / 1e6:.2f} MB | {cost.steps:,} | {cost.animation:.0f} s"
            if not cost.problem else "refused | |"
        )  # fmt: skip
        print(f"| {name} | {cost.seconds:.1f} s | {cost.megabytes:.0f} MB | {shown} |")


if __name__ == "__main__":
    main(sys.argv[1:])
