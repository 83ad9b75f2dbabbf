"""Texts that a visitor may send to break the compiler, the simulator or what shows errors."""

from __future__ import annotations

K = "__global__ void k(float* x, int n) {{\n{0}\n}}\n"
LONG = 60_000  # characters, nearly all that a text may have
ESC, BELL, RIGHT_TO_LEFT = "\x1b[2J\x1b[31m", "\a\b\r", "\u202e"


def kernel(body: str, before: str = "") -> str:
    return before + K.format(body)


def count(function: str, numbers: int, first: int = 0) -> str:
    """A text once for each number, which it has as #."""
    return "".join(function.replace("#", str(i)) for i in range(first, first + numbers))


def nested(opening: str, inner: str, closing: str, times: int) -> str:
    return opening * times + inner + closing * times


def loops(levels: int) -> str:
    heads = "".join(f"for (int i{n} = 0; i{n} < 2; ++i{n}) " for n in range(levels))
    return f"{heads}x[threadIdx.x] += 1;"


SUM = "constexpr int f(int n) { int s = 0; for (int i = 0; i < n; ++i) s += i; return s; }\n"
SEQUENCE = "template <class T, T... I> struct S { static constexpr int v = sizeof...(I); };\n"
TREE = (
    "template <int N, int M> struct T { static constexpr int v = T<N - 1, 2 * M>::v + "
    "T<N - 1, 2 * M + 1>::v; };\ntemplate <int M> struct T<0, M> { static constexpr int v = 1; };\n"
)
CONDITIONS = (
    "template <int N, int M> __device__ int f() { if constexpr (N > 0) return f<N - 1, 2 * M>() + "
    "f<N - 1, 2 * M + 1>(); else return 1; }\n"
)
PAIRS = "template <class A, class B> struct P {};\nusing T0 = P<int, int>;\n"
HOST_FILE = "/etc/passwd"

# The compiler's time or memory: most end its process.
BOMBS = {
    "a tree of templates": (kernel("x[0] = T<22, 0>::v;", TREE), "more than 2 seconds"),
    "a tree of if constexpr": (kernel("x[0] = f<22, 0>();", CONDITIONS), "The compiler needed"),
    "__make_integer_seq": (kernel("x[0] = __make_integer_seq<S, int, 5000000>::v;", SEQUENCE),
                           "The compiler needed more than"),
    "__make_integer_seq, a billion": (
        kernel("x[0] = __make_integer_seq<S, int, 1000000000>::v;", SEQUENCE), "The compiler"),
    "__make_integer_seq of long": (
        kernel("x[0] = __make_integer_seq<S, long, (1L << 62)>::v;", SEQUENCE), "."),
    "names of types that double": (
        kernel("T27 t; t.nope(); x[0] = t;", PAIRS + "".join(
            f"using T{i} = P<T{i - 1}, T{i - 1}>;\n" for i in range(1, 28))), "The compiler needed"),
    "names of types in a conversion": (
        kernel("T24 t; float y = t; x[0] = y;", PAIRS + "".join(
            f"using T{i} = P<T{i - 1}, T{i - 1}>;\n" for i in range(1, 25))), "."),
    "fifty million members": (
        kernel("constexpr int v = f(); x[0] = v;", "struct A { int m[50000000]; };\n"
               "__device__ constexpr int f() { A a{}; return a.m[3]; }\n"), "."),
    "fifty million cells of a constant": (
        kernel("x[0] = a.m[n];", "struct A { int m[50000000]; };\n"
               "__device__ constexpr A a{};\n"), "."),
    "four hundred constants": (
        kernel("x[0] = " + " + ".join(f"c{i}" for i in range(400)) + ";",
               SUM + count("constexpr int c# = f(15000);\n", 400)), "The compiler needed"),
    "four hundred constants in arrays": (
        kernel(count("__shared__ int a#[f(15000) % 2 + 1]; a#[0] = n;\n", 400), SUM), "."),
    "static_asserts": (kernel("", SUM + count("static_assert(f(16000) > #, \"\");\n", 300)), "."),
    "a product of templates": (
        kernel("x[0] = C<4000>::v;", "template <int N> struct C { static constexpr int v = "
               "C<N - 1>::v + 1; };\ntemplate <> struct C<0> { static constexpr int v = 0; };\n"),
        "."),
    "templates by pairs": (
        kernel("x[0] = f<60, 0>();", "template <int N, int M> __device__ int f() { if constexpr "
               "(N < 2) return 1; else return f<N - 1, M>() + f<N - 2, M + 1>(); }\n"), "."),
    "an argument pack in packs": (
        kernel("x[0] = sizeof(A<" + ", ".join(["int"] * 3000) + ">);",
               "template <class... T> struct A { int v[sizeof...(T)]; };\n"), "."),
    "a fold of thousands": (
        kernel("x[0] = f(" + ", ".join("1" for _ in range(900)) + ");",
               "template <class... T> __device__ int f(T... t) { return (t + ...); }\n"), "."),
    "overloads": (
        kernel("x[0] = " + nested("f(", "n", ")", 100) + ";",
               count("__device__ int f(float a, S# b = 0);\n".replace("S#", "int"), 1)
               + "".join(f"struct S{i} {{ int v; __device__ S{i}(int a) : v(a) {{}} }};\n"
                         f"__device__ int f(S{i} a) {{ return 1; }}\n" for i in range(200))), "."),
    "lambdas in lambdas": (
        kernel("auto f = " + nested("[=](auto a) { return ", "a", "; }(1)", 24) + "; x[0] = f;"),
        "."),
}  # fmt: skip

# Directives and other spellings of them: none opens a file, none reaches what it asks for.
DIRECTIVES = {
    "#include of the host": (kernel("x[0] = 1;", f'#include "{HOST_FILE}"\n'), ""),
    "#include behind a mark": (kernel("x[0] = 1;", f'\ufeff#include "{HOST_FILE}"\n'), ""),
    "#include_next": (kernel("x[0] = 1;", f'#include_next "{HOST_FILE}"\n'), "."),
    "#import": (kernel("x[0] = 1;", f'#import "{HOST_FILE}"\n'), "."),
    "#embed": (kernel(f'int a[] = {{\n#embed "{HOST_FILE}"\n}}; x[0] = a[0];'), "."),
    "#include spliced": (kernel("x[0] = 1;", f'#inc\\\nlude "{HOST_FILE}"\n'), ""),
    "#include of a digraph": (kernel("x[0] = 1;", f'%:include "{HOST_FILE}"\n'), ""),
    "#include of a trigraph": (kernel("x[0] = 1;", f'??=include "{HOST_FILE}"\n'), "."),
    "a splice of a trigraph": (kernel("x[0] = 1;", f'#inc??/\nlude "{HOST_FILE}"\n'), "."),
    "#include behind a comment": (kernel("x[0] = 1;", f'/* */ # /* */ include "{HOST_FILE}"\n'), ""),
    "28 comments behind #": (kernel("x[0] = 1;", "#" + "/* x */ " * 28 + "\n"), "."),
    "comments behind # to the end": (kernel("x[0] = 1;", "#" + "/* x */ " * 7000 + "\n"), "."),
    "#include of a macro": (
        kernel("x[0] = 1;", f'#define F "{HOST_FILE}"\n#include F\n'), ""),
    "#include in a kernel": (kernel(f'x[0] = 1;\n#include "{HOST_FILE}"\n'), ""),
    "#include in a comment": (kernel(f'/*\n#include "{HOST_FILE}"\n*/ x[0] = 1;'), ""),
    "#include in a macro": (kernel("x[0] = I;", f'#define I #include "{HOST_FILE}"\n'), "."),
    "_Pragma of a dependency": (
        kernel(f'x[0] = 1; _Pragma("GCC dependency \\"{HOST_FILE}\\"")'), ""),
    "#pragma of a dependency": (
        kernel(f'x[0] = 1;\n#pragma GCC dependency "{HOST_FILE}" oh'), ""),
    "#pragma include_alias": (kernel("x[0] = 1;", f'#pragma include_alias("a", "{HOST_FILE}")\n'), ""),
    "#pragma crash": (kernel("x[0] = 1;\n#pragma clang __debug crash"), ""),
    "#pragma overflow_stack": (kernel("x[0] = 1;\n#pragma clang __debug overflow_stack"), ""),
    "#pragma llvm_fatal_error": (kernel("x[0] = 1;\n#pragma clang __debug llvm_fatal_error"), ""),
    "#pragma parser_crash": (kernel("x[0] = 1;\n#pragma clang __debug parser_crash"), ""),
    "#pragma crash, spliced": (kernel("x[0] = 1;\n#prag\\\nma clang __de\\\nbug crash"), ""),
    "#pragma crash, a digraph": (kernel("x[0] = 1;\n%:pragma clang __debug crash"), ""),
    "#pragma crash, a trigraph": (kernel("x[0] = 1;\n??=pragma clang __debug crash"), "."),
    "#pragma crash with comments": (
        kernel("x[0] = 1;\n# /**/ pragma /**/ clang /**/ __debug /**/ crash"), ""),
    "#pragma crash behind unroll": (kernel("#pragma unroll clang __debug crash\nx[0] = 1;"), "."),
    "_Pragma crash": (kernel('x[0] = 1; _Pragma("clang __debug crash")'), ""),
    "_Pragma by a macro": (
        kernel("x[0] = 1; P(clang __debug crash)", "#define P(a) _Pragma(#a)\n"), ""),
    "_Pragma pasted": (
        kernel('x[0] = 1; P("clang __debug crash")', "#define P _Pra##gma\n"), "."),
    "__pragma": (kernel("x[0] = 1; __pragma(clang __debug crash)"), "."),
    "#pragma push_macro": (
        kernel("x[0] = 1;", '#pragma push_macro("__global__")\n#undef __global__\n'), "."),
    "#line": (kernel("x[0] = oh;", f'#line 1 "{HOST_FILE}"\n'), "."),
    "a line's number": (kernel("x[0] = oh;", f'# 1 "{HOST_FILE}"\n'), "."),
    "__has_include": (
        kernel("x[0] = 1;", f'#if __has_include("{HOST_FILE}")\n#error yes\n#endif\n'), "."),
    "__has_embed": (
        kernel("x[0] = 1;", f'#if __has_embed("{HOST_FILE}")\n#error yes\n#endif\n'), "."),
    "__has_include pasted": (
        kernel("x[0] = 1;", f'#define H __has_##include\n#if H("{HOST_FILE}")\n#endif\n'), "."),
    "__FILE__": (kernel('printf("%s", __FILE__);'), ""),
    "__FILE__ in an error": (kernel("x[0] = __FILE__;"), "."),
    "__BASE_FILE__": (kernel("x[0] = __BASE_FILE__;"), "."),
    "__TIMESTAMP__": (kernel("x[0] = __TIMESTAMP__;"), "."),
    "__builtin_FILE": (kernel("x[0] = __builtin_FILE();"), "."),
    "#error": (kernel("x[0] = 1;", "#error " + "a " * 20_000 + "\n"), "."),
    "#warning": (kernel("x[0] = 1;", "#warning oh\n"), "."),
    "#ident": (kernel("x[0] = 1;", '#ident "a"\n'), "."),
    "#assert": (kernel("x[0] = 1;", "#assert a(b)\n"), "."),
    "an unknown directive": (kernel("x[0] = 1;", "#nonsense\n"), "."),
    "a name of 20,000 letters behind #": (kernel("x[0] = 1;", "#" + "a" * 20_000 + "\n"), "."),
    "ifs without an end": (kernel("x[0] = 1;", "#if 1\n" * 5000), "."),
    "ifs within ifs": (kernel("x[0] = 1;", "#if 1\n" * 3000 + "#endif\n" * 3000), ""),
    "a condition divided by zero": (kernel("x[0] = 1;", "#if 1 / 0\n#endif\n"), "."),
    "a condition of parentheses": (
        kernel("x[0] = 1;", "#if " + nested("(", "1", ")", 20_000) + "\n#endif\n"), "."),
    "a condition of signs": (kernel("x[0] = 1;", "#if " + "!" * 30_000 + "1\n#endif\n"), "."),
    "a condition shifted": (
        kernel("x[0] = 1;", "#if (1 << 99999999999)\n#endif\n#if 1 << (1 << 30) << 30\n#endif\n"),
        "."),
    "a macro of itself": (kernel("x[0] = A;", "#define A A A\n"), "."),
    "macros in a circle": (kernel("x[0] = A;", "#define A B\n#define B A\n"), "."),
    "a macro named defined": (kernel("x[0] = 1;", "#define defined 1\n"), "."),
    "a thousand parameters": (
        kernel("x[0] = A(" + ",".join("1" * 1000) + ");",
               "#define A(" + ",".join(f"a{i}" for i in range(1000)) + ") a999\n"), "."),
    "__VA_OPT__": (kernel("x[0] = A(1);", "#define A(...) __VA_OPT__(1 +) __VA_ARGS__ ## 1\n"), "."),
    "a macro of a keyword": (kernel("x[0] = 1;", "#define float nonsense\n"), "."),
    "__global__ as a macro": (kernel("x[0] = 1;", "#define __global__\n"), "."),
    "a raw string": (kernel("x[0] = 1;", 'const char* a = R"(\n#include "/etc/passwd"\n)";\n'), "."),
    "a raw string without an end": (kernel('printf(R"a('), "."),
    "zeros in the text": (kernel("x[0] = 1;\0"), "plain"),
    "half letters": (kernel("x[0] = 1; // \ud800"), "plain"),
    "a form feed": (kernel("x[0] = 1;\f\v"), ""),
    "carriage returns": (kernel("x[0] = 1;").replace("\n", "\r"), "."),
}  # fmt: skip

# Sizes, depths and times.
SIZES = {
    "a large index": (kernel("x[1ll << 61] = 1;"), "."),
    "a large index that is read": (kernel("x[0] = x[1ll << 61];"), "."),
    "a large negative index": (kernel("x[-(1ll << 61)] = 1;"), "."),
    "the largest index": (kernel("x[9223372036854775807ll] = 1;"), "."),
    "an index of floats": (kernel("x[(long long)1e30f] = 1;"), "."),
    "a pointer far away": (kernel("*(float*)(1ll << 61) = 1;"), "."),
    "a pointer of nothing": (kernel("*(float*)0 = 1;"), "."),
    "a pointer moved far": (kernel("float* p = x + (1ll << 60); p += 1ll << 60; *p = 1;"), "."),
    "shared memory far away": (kernel("__shared__ float s[4]; s[1ll << 61] = n; x[0] = s[0];"), "."),
    "local memory far away": (kernel("float s[4]; s[n << 29] = n; x[0] = s[0];"), "."),
    "a struct far away": (
        kernel("S* s = (S*)x; s[1ll << 60].b = 1;", "struct S { int a, b; };\n"), "."),
    "twenty loops of two": (kernel(loops(20)), "."),
    "forty loops of two": (kernel(loops(40)), "."),
    "loops of 4000 by 4000": (
        kernel("for (int i = 0; i < 4000; ++i) for (int j = 0; j < 4000; ++j) x[0] += j;"), "."),
    "a loop in a condition": (kernel("for (int i = 0; i < 2000000000; i += (i % 2)) ;"), "."),
    "a loop of do": (kernel("do { n ^= 1; } while (n >= 0);"), "."),
    "a loop of a call": (
        kernel("while (f(n)) ;", "__device__ bool f(int v) { return v == v; }\n"), "."),
    "a wait for another thread": (
        kernel("volatile float* v = x; while (threadIdx.x && v[0] != 7.f) ;"), "."),
    "a barrier for some": (kernel("if (threadIdx.x < 16) __syncthreads();"), ""),
    "division by zero": (kernel("n = 0; x[0] = 1 / n + 1 % n;"), ""),
    "the least divided by -1": (kernel("n = -2147483647 - 1; x[0] = n / (n - n - 1);"), ""),
    "shifts beyond": (kernel("x[0] = (n << 99) + (n >> -5) + (1ll << (n * 100));"), ""),
    "a float beyond an int": (kernel("x[0] = (int)1e30f + (int)nanf(\"\");"), "."),
    "a switch of thousands": (
        kernel("switch (n) {" + count("case #: x[0] = #; break;\n", 1500) + "}"), "."),
    "a case twice": (kernel("switch (n) { case 1: case 1: x[0] = 1; }"), "."),
    "gotos": (kernel("a: x[0] += 1; goto a;"), "."),
    "computed gotos": (kernel("void* p = &&a; goto *p; a: x[0] = 1;"), "."),
    "a thousand variables": (kernel(count("int a# = n;\n", 2000) + "x[0] = a1999;"), "."),
    "a thousand functions": (
        kernel("x[0] = f999(n);", "__device__ int f0(int v) { return v; }\n" + "".join(
            f"__device__ int f{i}(int v) {{ return f{i - 1}(v); }}\n" for i in range(1, 1000))), "."),
    "a thousand parameters of a kernel": (
        "__global__ void k(float* x, " + ", ".join(f"int a{i}" for i in range(2000)) + ") {}", "."),
    "a thousand kernels": (count("__global__ void k#(float* x) {}\n", 1500), "no kernel named k"),
    "structs in structs": (
        kernel("S40 s; x[0] = sizeof(s);", "struct S0 { int a; };\n" + "".join(
            f"struct S{i} {{ S{i - 1} a, b; }};\n" for i in range(1, 41))), "."),
    "structs in structs, by value": (
        kernel("S12 s{}; S12 t = s; x[0] = sizeof(t);", "struct S0 { int a; };\n" + "".join(
            f"struct S{i} {{ S{i - 1} a, b; }};\n" for i in range(1, 13))), "."),
    "a struct of itself": (kernel("S s; x[0] = 1;", "struct S { S s; };\n"), "."),
    "arrays of arrays": (kernel("float a" + "[2]" * 40 + "; x[0] = 1;"), "."),
    "a union": (kernel("U u; u.a = n; x[0] = u.b;", "union U { int a; float b; };\n"), "."),
    "an array of no size": (kernel("float a[0]; x[0] = a[0];"), "."),
    "an array of a large size": (kernel("float a[9223372036854775807ll]; x[0] = a[0];"), "."),
    "an alignment": (kernel("__align__(1 << 28) float a; x[0] = a;"), "."),
    "a global array of gigabytes": (kernel("x[0] = g[n];", "__device__ float g[1ll << 34];\n"), "."),
    "a constant array of gigabytes": (
        kernel("x[0] = g[n];", "__constant__ float g[1 << 28];\n"), "."),
    "an index in braces": (kernel("int a[] = {[1000000] = 1}; x[0] = a[0];"), "."),
    "a vector of clang": (
        kernel("V v; x[0] = v[0];", "typedef float V __attribute__((vector_size(1 << 20)));\n"), "."),
    "integers of a million bits": (kernel("_BitInt(8000000) a = 1; x[0] = (float)a;"), "."),
    "a number of 50,000 digits": (kernel("x[0] = " + "9" * 50_000 + ";"), "."),
    "a number of 50,000 digits behind a point": (kernel("x[0] = 0." + "1" * 50_000 + "f;"), ""),
    "a large exponent": (kernel("x[0] = 1e999999999f;"), "."),
    "parentheses to the end": (kernel("x[0] = " + nested("(", "1", ")", LONG // 2) + ";"), "."),
    "brackets to the end": (kernel("x" + "[" * LONG), "."),
    "angles to the end": (kernel("P" + "<P" * 20_000), "."),
    "questions": (kernel("x[0] = " + "n ? 1 : " * 500 + "0;"), "."),
    "commas": (kernel("x[0] = (" + "n, " * 900 + "0);"), "."),
    "else ifs": (kernel("if (n) x[0] = 1; " + "else if (n) x[0] = 1; " * 800), "."),
    "pointers to functions": (kernel("void (*p)(); p(); x[0] = 1;"), "."),
    "labels": (kernel(count("l#:\n", 3000) + "x[0] = 1;"), "."),
    "semicolons": (kernel(";" * 25_000 + "x[0] = 1;"), ""),
    "nested comments": (kernel("/*" * 20_000 + "*/ x[0] = 1;"), ""),
    "a comment without an end": (kernel("/* " + "a" * 20_000), "."),
    "quotes": (kernel("'" * 20_000 + '"' * 20_000), "."),
    "backslashes": (kernel("\\\n" * 20_000 + "x[0] = 1;"), ""),
    "attributes": (kernel("__attribute__((" * 3000 + "x[0] = 1;"), "."),
    "an alias": (kernel("x[0] = 1; }\n__device__ void g() __attribute__((alias(\"k\")));\nint a() {"),
                 ""),
    "asm": (kernel('asm("trap;"); x[0] = 1;'), "assembly"),
    "asm of a file": (kernel("x[0] = 1;", f'asm(".incbin \\"{HOST_FILE}\\"");\n'), ""),
    "printf of megabytes": (kernel('printf("%999999999d%n", n, &n);'), "."),
    "printf of a pointer": (kernel('printf("%s", (char*)(1ll << 60));'), "."),
    "printf without arguments": (kernel('printf("%s %d %f");'), "."),
    "an assert": (kernel("assert(n == 5);", "#include <cassert>\n"), "."),
    "malloc of a tebibyte": (kernel("x[0] = *(float*)malloc(1ll << 40);"), "."),
    "memset far away": (kernel("memset(x, 0, 1ll << 60);"), "."),
    "memcpy far away": (kernel("memcpy(x, x + 8, (size_t)-1);"), "."),
    "a shuffle of no lane": (kernel("x[0] = __shfl_sync(0, n, 1 << 30);"), "."),
    "a launch in a kernel": (kernel("k<<<1, 1>>>(x, n);"), "."),
    "exceptions": (kernel("try { throw 1; } catch (...) {} x[0] = 1;"), "."),
    "typeid": (kernel("x[0] = typeid(n).name()[0];"), "."),
    "dynamic_cast": (kernel("S* s = dynamic_cast<S*>((S*)x);", "struct S { int a; };\n"), "."),
    "thread_local": (kernel("thread_local int a = n; x[0] = a;"), "."),
    "coroutines": (kernel("co_return;"), "co_return"),
    "modules": ("import std;\n" + kernel("x[0] = 1;"), "."),
    "concepts": (kernel("x[0] = 1;", "template <class T> concept C = true;\n"), ""),
}  # fmt: skip

# Names, comments and texts that must not be echoed at their length, or steer what shows them.
NAMES = {
    "a name of 50,000 letters": (kernel("x[0] = " + "a" * 50_000 + ";"), "1,000 characters"),
    "a type of 50,000 letters": (kernel("a" * 50_000 + " b; x[0] = 1;"), "1,000 characters"),
    "a call of 50,000 letters": (kernel("a" * 50_000 + "(n);"), "1,000 characters"),
    "a member of 50,000 letters": (
        kernel("S s; s." + "a" * 50_000 + " = 1;", "struct S { int b; };\n"), "1,000 characters"),
    "a kernel of 50,000 letters": (kernel("x[0] = 1;").replace("k(", "k" * 50_000 + "("), "kkk…"),
    "a host function of 20,000 letters": (
        kernel("a" * 20_000 + "();", "void " + "a" * 20_000 + "() {}\n"), "1,000 characters"),
    "a misspelled name of 20,000 letters": (
        kernel("int " + "a" * 20_000 + " = 1; x[0] = " + "a" * 19_999 + "b;"), "1,000 characters"),
    "a macro of 20,000 letters": (
        kernel("x[0] = " + "A" * 20_000 + ";", "#define " + "A" * 20_000 + " oh\n"), "oh"),
    "a header of 50,000 letters": (kernel("x[0] = 1;", '#include "' + "a" * 50_000 + '"\n'), "aaa…"),
    "a namespace of 20,000 letters": (kernel("x[0] = " + "a" * 20_000 + "::b;"), "1,000 characters"),
    "an array of 20,000 letters out of bounds": (
        kernel("__shared__ float " + "a" * 20_000 + "[4]; " + "a" * 20_000
               + "[9] = 1; x[0] = 1;"), "1,000 characters"),
    "names of 300 letters that race": (
        kernel("s[threadIdx.x] = n; x[0] = s[31 - threadIdx.x]; x[threadIdx.x + 99] = s[40];\n"
               "if (n) __syncthreads();", "__device__ float s[32];\n"
               ).replace("s[", "s" * 300 + "["), "sss…"),
    "letters that clear a screen in a comment": (kernel(f"x[0] = oh; // {ESC}{BELL}"), "."),
    "letters that clear a screen in a name": (kernel(f"x[0] = oh{ESC};"), "."),
    "letters that clear a screen in a text": (kernel(f'printf("{ESC}{BELL}"); x[0] = oh;'), "."),
    "escapes in printf": (kernel('printf("\\033[2J\\a\\b\\r%s", "\\x1b]0;oh\\a");'), ""),
    "letters from right to left": (kernel(f"x[0] = oh; // {RIGHT_TO_LEFT} 1;"), "."),
    "letters from right to left in a name": (kernel(f"int a{RIGHT_TO_LEFT} = 1; x[0] = oh;"), "."),
    "letters without a width": (kernel("int a\u200bb = 1; x[0] = ab;"), "."),
    "HTML in an error": (kernel("x[0] = oh;", "#error <script>alert(1)</script><img src=x>\n"), "."),
    "Markdown in an error": (kernel("x[0] = 1;", "#error [a](http://b) ![c](d) $x$ :red[e]\n"), "."),
    "a name in other letters": (kernel("float größe = n; x[0] = größer;"), "größer"),
    "a name of pictures": (kernel("float \U0001f600 = n; x[0] = \U0001f600;"), "."),
    "a static_assert's text": (
        kernel("x[0] = 1;", f'static_assert(false, "{ESC}<b>oh</b>");\n'), "."),
    "a deprecated function's text": (
        kernel("x[0] = f();", f'[[deprecated("{ESC}<b>")]] __device__ int f() {{ return oh; }}\n'),
        "."),
}  # fmt: skip

QUICK = {**DIRECTIVES, **SIZES, **NAMES}
