"""What nvcc gives every .cu file, and NVRTC gets from us."""

from __future__ import annotations

import pytest

from compiler.headers import headers, numbers
from gpu.cuda.compile import compile_text
from tests.programs.table import PROGRAMS, Program


def test_macros_come_last_so_that_they_change_no_header() -> None:
    found, options = headers("__pipeline_commit();", {"T": "float"})
    assert list(found) == ["toolkit.cuh", "types.cuh", "numbers.cuh", "pipeline.cuh", "macros.cuh"]
    assert found["macros.cuh"] == "#define T float\n"
    assert options == [f"--pre-include={name}" for name in found]


@pytest.mark.parametrize(
    ("text", "included"),
    [
        ("int half = n / 2; x = half * y;", ""),
        ("for (unsigned half = n; half > 0; half /= 2) x[half] = 0; // half of n", ""),
        ("__global__ void f(const half* x, float* y)", "#include <cuda_fp16.h>\n"),
        ("using number = half; // of 16 bits", "#include <cuda_fp16.h>\n"),
        ("__half x = __float2half(1.0f);", "#include <cuda_fp16.h>\n"),
        ("__nv_bfloat16 x = __float2bfloat16(1.0f);", "#include <cuda_bf16.h>\n"),
        ("__nv_fp8_e4m3 x(1.0f);", "#include <cuda_fp8.h>\n"),
        ("__nv_cvt_float_to_fp8(x, __NV_NOSAT, kind);", "#include <cuda_fp8.h>\n"),
        ("namespace cg = cooperative_groups;", "#include <cooperative_groups.h>\n"),
        ("typedef cub::BlockScan<int, 64> S;", "#include <cub/block/block_scan.cuh>\n"),
        ("curandState* s, float x = curand_uniform(s);", "#include <curand_kernel.h>\n"),
    ],
)
def test_toolkit_headers_are_included_where_the_text_needs_them(text: str, included: str) -> None:
    assert headers(text, {})[0]["toolkit.cuh"] == included


def test_tensor_cores_bring_what_mma_h_declares() -> None:
    found, options = headers("using namespace nvcuda; wmma::fill_fragment(c, 0.0f);", {})
    assert list(found) == ["toolkit.cuh", "types.cuh", "numbers.cuh", "mma.cuh", "macros.cuh"]
    assert "mma.cuh" not in headers("int wmmas;", {})[0]
    assert not any("mma" in option for option in headers("int wmmas;", {})[1])
    assert "--pre-include=mma.cuh" in options


def test_numbers_are_those_of_the_simulator() -> None:
    assert "#define FLT_MAX 3.402823466e+38f\n" in numbers()
    assert "#define INT_MAX 2147483647\n" in numbers()
    assert "__builtin" not in numbers()


@pytest.mark.usefixtures("nvrtc")
class TestNvrtc:
    def test_a_kernel_in_a_namespace(self) -> None:
        text = "namespace a { namespace { __global__ void f(uint32_t* x) { x[0] = UINT_MAX; } } }"
        assert "f" in compile_text(text, "f", "sm_90").symbol

    def test_a_template_beside_another_with_the_same_parameter(self) -> None:
        text = (
            "template <typename T> __device__ T twice(T x) { return x + x; }\n"
            "template <typename T> __global__ void f(T* x) { x[0] = twice<T>(x[0]); }"
        )
        assert compile_text(text, "f", "sm_90", {"T": "float"}).symbol == "_Z1fIfEvPT_"

    def test_limits_and_comparisons_of_the_library(self) -> None:
        text = (
            "constexpr int R = std::max(3, std::numeric_limits<unsigned char>::max() + 1);\n"
            "__global__ void f(double* x) { __shared__ double s[R]; s[0] = x[0];\n"
            "x[0] = std::clamp(s[0], std::numeric_limits<double>::lowest(),\n"
            "std::numeric_limits<double>::infinity()); }"
        )
        assert "f" in compile_text(text, "f", "sm_90").symbol

    @pytest.mark.parametrize("program", PROGRAMS, ids=str)
    def test_every_program_compiles(self, program: Program) -> None:
        text, defines = program.text, program.defines
        assert compile_text(text, program.kernel, "sm_90", defines, program.file).image
