"""What may be compiled, what a kernel's parameters are, and the compiler's errors as sentences."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from compiler.headers import uses_tensor_cores
from compiler.source import check_input, first_error
from gpu.cuda.compile import check_shared, compile_text, element_type
from simulator.catalogue import Entry, catalogue, whole_catalogue
from simulator.frontend.device_code import SourceFile
from simulator.language.errors import LaunchError, SourceError
from tests.hostile.directives import FOUND, OLDER, spellings

GPU_ALONE = [entry.name for entry in whole_catalogue().values() if not entry.simulated]
KERNEL = 'extern "C" __global__ void f(float* a) { a[threadIdx.x] = X; }\n'
PRODUCT = "__global__ void f(const {0}* A, const {0}* B, {0}* C, int M, int N, int K) {{}}"

HOSTILE = [
    '#include "/etc/passwd"',
    "#include <stdio.h>",
    "  #  include </etc/passwd>",
    "#inc\\\nlude </etc/passwd>",
    "#inc\\  \nlude </etc/passwd>",
    "# /* a */ include </etc/passwd>",
    "# /* over\nlines */ include </etc/passwd>",
    "%:include </etc/passwd>",
    "#include_next <stdio.h>",
    '#embed "/etc/passwd"',
    '#line 1 "/etc/passwd"',
    '#if __has_include("/etc/passwd")\n#endif',
    "#define CAT(a, b) a##b\n#if CAT(__has_, include)(</etc/passwd>)\n#endif",
    'int a = sizeof(R"x("/*)x");\n#include "/etc/passwd"',  # a comment to one reader only
    'int b = 1\'0"\' /* ";\n#include "/etc/passwd"',
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_reads_the_hosts_files(text: str) -> None:
    with pytest.raises(SourceError, match="allowed"):
        check_input(text + "\n" + KERNEL, "f", {})


@pytest.mark.parametrize("text", HOSTILE)
def test_no_device_code_reads_the_hosts_files(text: str) -> None:
    """What names a file is blanked before a compiler gets it, or it is refused."""
    left = SourceFile(f"{text}\n{KERNEL}").device_code("f").text
    try:
        check_input(left, "f", {})
    except SourceError:
        return
    assert not re.search(r"(?:#|%:|\?\?=)\s*(?:include|import|embed|line)|__has_", left)


@pytest.mark.parametrize(
    ("kernel", "defines"),
    [
        ("f\n#include", {}),
        ("f<1>", {}),
        ("", {}),
        ("f", {"X": "1\n#include <a>"}),
        ("f", {"X": '__has_include("/etc/passwd")'}),
        ("f", {"X Y": "1"}),
        ("f", {"__CUDA_ARCH__": "1"}),
    ],
)
def test_no_name_or_macro_carries_more_than_it_says(kernel: str, defines: dict[str, str]) -> None:
    with pytest.raises(SourceError):
        check_input(KERNEL, kernel, defines)


def test_macros_conditions_and_unrolling_are_taken() -> None:
    check_input("#define X 1\n#ifdef X\n#pragma unroll\n#endif\n" + KERNEL, "f", {"TILE": "16"})


@pytest.mark.parametrize("name", list(whole_catalogue()))
def test_every_kernel_of_the_catalogue_is_taken(name: str) -> None:
    entry = whole_catalogue()[name]
    check_input(SourceFile(entry.source()).device_code(entry.kernel).text, entry.kernel, {})
    assert element_type(entry.source(), entry.kernel) in ("float32", "float64")


@pytest.mark.parametrize(
    ("text", "element"),
    [
        (PRODUCT.format("float"), "float32"),
        (PRODUCT.format("double"), "float64"),
        ("#define T double // what it is\n" + PRODUCT.format("T"), "float64"),
        ("// f(int a)\n" + PRODUCT.format("float").replace(", ", " /* , */ , "), "float32"),
    ],
)
def test_what_the_matrices_hold(text: str, element: str) -> None:
    assert element_type(text, "f") == element


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("__global__ void g(float* A) {}", "no kernel named f"),
        ("__global__ void f(float* A) {}", "must take"),
        (PRODUCT.format("int"), "must take"),
        (PRODUCT.format("float").replace("const float* B", "const double* B"), "must take"),
        (PRODUCT.format("float").replace("float* C", "float C"), "must take"),
        (PRODUCT.format("float").replace("int K", "int* K"), "must take"),
    ],
)
def test_a_kernel_with_other_parameters_is_not_launched(text: str, sentence: str) -> None:
    with pytest.raises(SourceError, match=sentence):
        element_type(text, "f")


@pytest.mark.parametrize(
    ("log", "sentence", "line"),
    [
        ('f.cu(12): error: identifier "b" is undefined\n   a[0] = b;\n', "identifier", 12),
        ('f.cu(3): catastrophic error: #error directive: hi\n  #error hi\n', "hi", 3),
        ("f.cu(2): warning #177-D: x\nf.cu(7): error #20: y\n", "NVRTC: y", 7),
        ("ptxas error : Entry 'f' uses too much shared data (0x61a80 bytes, 0xc000 max)",
         "400,000 bytes of shared memory", None),
        ('__nv_name_map(2): error: identifier "g" is undefined', "no kernel named f", None),
        ("nvrtc: something else\n", "something else", None),
        ("/usr/local/cuda/include/cuda_fp16.h(33): error: no room\nf.cu(3): error: oh\n",
         "NVRTC, in cuda_fp16.h: no room.", None),
        ('f.cu(1): catastrophic error: cannot open source file "/opt/x/a.h"\n', '"a.h"', 1),
        ("nvrtc: error: failed to open libnvrtc-builtins.so in /usr/lib/x\n", "in x", None),
    ],
)  # fmt: skip
def test_the_first_error_is_a_sentence(log: str, sentence: str, line: int | None) -> None:
    error = first_error(log, "f", "f.cu")
    assert sentence in error.message
    assert error.message.endswith(".")
    assert (error.span.line if error.span else None) == line


def test_shared_memory_that_a_gpu_has_not_is_a_sentence() -> None:
    check_shared(101376, 101376)
    with pytest.raises(LaunchError, match=r"asks for 164,864 bytes .* up to 101,376\."):
        check_shared(164864, 101376)


def test_tensor_cores_take_a_gpu_that_has_them() -> None:
    text = KERNEL.replace("{", "{ using namespace nvcuda; wmma::fragment<int> f;", 1)
    with pytest.raises(SourceError, match=r"capability 8\.0 or more; this one has 7\.5\.$"):
        compile_text(text, "f", "sm_75", {"X": "3"})


@pytest.mark.parametrize("architecture", ["sm_80", "sm_89", "sm_100", "sm_120"])
@pytest.mark.parametrize("name", GPU_ALONE)
def test_warp_groups_take_a_gpu_that_has_them(name: str, architecture: str) -> None:
    entry = whole_catalogue()[name]
    sentence = rf"^{name} multiplies .* \(wgmma\), which only .* 9\.0 have; this one has \d+\.\d\.$"
    with pytest.raises(SourceError, match=sentence):
        compile_text(entry.source(), entry.kernel, architecture)


@pytest.mark.usefixtures("nvrtc")
class TestNvrtc:
    @pytest.mark.parametrize(
        "entry", [one for one in catalogue().values() if uses_tensor_cores(one.source())]
    )
    @pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
    def test_the_tensor_kernels_compile(self, entry: Entry, architecture: str) -> None:
        for chosen in ({}, entry.teaching[0]):
            assert compile_text(entry.source(**chosen), entry.kernel, architecture).image

    @pytest.mark.parametrize("shape", ["32, 8, 16", "8, 32, 16"])
    def test_a_shape_that_the_header_lacks_is_a_sentence(self, shape: str) -> None:
        tile = f"nvcuda::wmma::fragment<nvcuda::wmma::accumulator, {shape}, float>"
        text = f"#include <mma.h>\n__global__ void f(float* x) {{ {tile} c; x[0] = c.x[0]; }}"
        with pytest.raises(SourceError, match=r"^On a GPU there are fragments of 16x16x16 for "):
            compile_text(text, "f", "sm_90")

    def test_plain_and_mangled_names_compile(self) -> None:
        plain = compile_text(KERNEL, "f", "sm_90", {"X": "3"})
        mangled = compile_text(KERNEL.replace('extern "C"', ""), "f", "sm_90", {"X": "3"})
        assert (plain.symbol, mangled.symbol) == ("f", "_Z1fPf")
        assert plain.image.startswith(b"\x7fELF")

    @pytest.mark.parametrize("name", list(whole_catalogue()))
    def test_the_catalogue_compiles(self, name: str) -> None:
        entry = whole_catalogue()[name]
        assert compile_text(entry.source(), entry.kernel, "sm_90").image

    def test_a_template_and_known_headers_compile(self) -> None:
        text = "#include <cuda_runtime.h>\ntemplate <int N = 4>\n" + KERNEL.replace("X", "N")
        text = text.replace('extern "C" ', "")
        assert compile_text(text, "f", "sm_90").symbol == "_Z1fILi4EEvPf"

    def test_no_spelling_of_a_directive_reads_a_file(self, tmp_path: Path) -> None:
        file = tmp_path / "there.h"
        file.write_text(f"#error {FOUND}\n")
        for name, text in spellings(str(file)):
            if "raw string in a macro" in name:
                continue  # NVRTC 12.9 ends the process
            try:
                log = compile_text(text + KERNEL, "f", "sm_90", {"X": "3"}).log
            except SourceError as error:
                log = str(error)
            assert FOUND not in log, name
            assert OLDER not in log, name

    def test_a_mistake_has_its_line(self) -> None:
        with pytest.raises(SourceError, match=r"^line 1, column 1: NVRTC: identifier \"X\""):
            compile_text(KERNEL, "f", "sm_90")

    def test_asynchronous_copies_keep_the_texts_lines(self) -> None:
        text = catalogue()["pipelined"].source()
        assert compile_text(text, "pipelined", "sm_90").image
        lines = text.splitlines()
        place = next(n for n, line in enumerate(lines, start=1) if "acc[EACH][EACH]" in line)
        with pytest.raises(SourceError, match=f"^line {place}, column 1: NVRTC"):
            compile_text(text.replace("float acc[", "flot acc["), "pipelined", "sm_90")
