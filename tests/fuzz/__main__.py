"""Random kernels through the simulator and a C++ compiler: see `python -m tests.fuzz --help`."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial

from tests.fuzz.constructs import table
from tests.fuzz.differential import batch, host_compiler
from tests.fuzz.generator import generate

BATCH = 100  # kernels that one run of the C++ compiler takes
EVERY = 1000  # kernels between lines of progress


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=2000, help="how many kernels")
    parser.add_argument("--seed", type=int, default=0, help="the first kernel's seed")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--text", action="store_true", help="print the kernels and run nothing")
    parser.add_argument("--sanitize", action="store_true", help="with the compiler's own checks")
    given = parser.parse_args()
    seeds = range(given.seed, given.seed + given.count)
    if given.text:
        print("\n".join(generate(seed).text for seed in seeds))
        return 0
    compiler = host_compiler()
    if compiler is None:
        print("This needs Linux and a C++ compiler: install g++.", file=sys.stderr)
        return 2
    begun, done, failed = time.perf_counter(), 0, 0
    constructs: Counter[str] = Counter()
    for part, reports, found in _batches(seeds, compiler, given.jobs, given.sanitize):
        for report in reports:
            print(report, flush=True)
        done += len(part)
        failed += len(reports)
        constructs.update(found)
        if done % EVERY < BATCH or done == given.count:
            seconds = time.perf_counter() - begun
            print(f"{done:,} kernels, {failed} differ, {seconds:.0f} s", flush=True)
    print(table(constructs, done))
    return 1 if failed else 0


def _batches(
    seeds: range, compiler: str, jobs: int, sanitize: bool
) -> Iterator[tuple[range, list[str], Counter[str]]]:
    batches = [seeds[start : start + BATCH] for start in range(0, len(seeds), BATCH)]
    work = partial(batch, compiler=compiler, sanitize=sanitize)
    if jobs == 1:
        yield from map(work, batches)
        return
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap_unordered(work, batches)


if __name__ == "__main__":
    sys.exit(main())
