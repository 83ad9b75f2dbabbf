// What cuda_fp16.h and cuda_bf16.h have alike: the pair, operators and functions of a type of 16
// bits, for the parser, and the classes of their bits, inlined where a kernel uses them. Before it
// is included stand the macros TILEWISE_T, the type, TILEWISE_P, the name of its pair, TILEWISE_W,
// the word for it in CUDA's names, and TILEWISE_R and TILEWISE_RP, the classes of bits.
// Here the type is an arithmetic one of the compiler; short_float_operators.py refuses the mixtures
// that its class in CUDA refuses. What is converted, added or compared is
// simulator/machine/short_floats.py's business.
#define TILEWISE_GLUE(...) TILEWISE_GLUE_(__VA_ARGS__)
#define TILEWISE_GLUE_(A, B, C) A##B##C
#define TILEWISE_FROM(S, R) TILEWISE_GLUE(__##S##2, TILEWISE_W, R)
#define TILEWISE_TO(S) TILEWISE_GLUE(__, TILEWISE_W, 2##S)
#define TILEWISE_MADE(N, R) TILEWISE_GLUE(N, TILEWISE_W, 2##R)
#define TILEWISE_AS_BITS TILEWISE_GLUE(__, TILEWISE_W, _as_ushort)
#define TILEWISE_OF_BITS TILEWISE_GLUE(__ushort_as_, TILEWISE_W,)
__device__ unsigned short TILEWISE_AS_BITS(TILEWISE_T);
__device__ TILEWISE_T TILEWISE_OF_BITS(unsigned short);
struct __attribute__((aligned(4))) TILEWISE_P {
    TILEWISE_T x, y;
    TILEWISE_P() = default;
    __host__ __device__ constexpr TILEWISE_P(TILEWISE_T x, TILEWISE_T y) : x(x), y(y) {}
};
struct __attribute__((aligned(2))) TILEWISE_R {
    unsigned short x;
    TILEWISE_R() = default;
    __host__ __device__ TILEWISE_R(TILEWISE_T value) : x(TILEWISE_AS_BITS(value)) {}
    __host__ __device__ operator TILEWISE_T() const { return TILEWISE_OF_BITS(x); }
};
struct __attribute__((aligned(4))) TILEWISE_RP {
    unsigned short x, y;
    TILEWISE_RP() = default;
    __host__ __device__ TILEWISE_RP(TILEWISE_P v)
        : x(TILEWISE_AS_BITS(v.x)), y(TILEWISE_AS_BITS(v.y)) {}
    __host__ __device__ operator TILEWISE_P() const {
        return TILEWISE_P(TILEWISE_OF_BITS(x), TILEWISE_OF_BITS(y));
    }
};
__device__ TILEWISE_P TILEWISE_GLUE(make_, TILEWISE_W, 2)(TILEWISE_T, TILEWISE_T);
__device__ TILEWISE_T TILEWISE_FROM(float,)(float);
__device__ TILEWISE_T TILEWISE_FROM(double,)(double);
__device__ float TILEWISE_TO(float)(TILEWISE_T);
#define TILEWISE_TURN(R)                                                                      \
    __device__ TILEWISE_T TILEWISE_FROM(float, R)(float);                                     \
    __device__ TILEWISE_T TILEWISE_FROM(int, R)(int);                                         \
    __device__ TILEWISE_T TILEWISE_FROM(uint, R)(unsigned int);                               \
    __device__ TILEWISE_T TILEWISE_FROM(short, R)(short);                                     \
    __device__ TILEWISE_T TILEWISE_FROM(ushort, R)(unsigned short);                           \
    __device__ TILEWISE_T TILEWISE_FROM(ll, R)(long long);                                    \
    __device__ TILEWISE_T TILEWISE_FROM(ull, R)(unsigned long long);                          \
    __device__ int TILEWISE_TO(int##R)(TILEWISE_T);                                           \
    __device__ unsigned int TILEWISE_TO(uint##R)(TILEWISE_T);                                 \
    __device__ short TILEWISE_TO(short##R)(TILEWISE_T);                                       \
    __device__ unsigned short TILEWISE_TO(ushort##R)(TILEWISE_T);                             \
    __device__ long long TILEWISE_TO(ll##R)(TILEWISE_T);                                      \
    __device__ unsigned long long TILEWISE_TO(ull##R)(TILEWISE_T);
TILEWISE_TURN(_rn) TILEWISE_TURN(_rz) TILEWISE_TURN(_ru) TILEWISE_TURN(_rd)
#undef TILEWISE_TURN
__device__ short TILEWISE_GLUE(__, TILEWISE_W, _as_short)(TILEWISE_T);
__device__ TILEWISE_T TILEWISE_GLUE(__short_as_, TILEWISE_W,)(short);
#define TILEWISE_PLAIN(N)                                                                     \
    __device__ TILEWISE_T N(TILEWISE_T, TILEWISE_T);                                          \
    __device__ TILEWISE_P N##2(TILEWISE_P, TILEWISE_P);
TILEWISE_PLAIN(__hadd) TILEWISE_PLAIN(__hsub) TILEWISE_PLAIN(__hmul)
TILEWISE_PLAIN(__hmax) TILEWISE_PLAIN(__hmin)
#undef TILEWISE_PLAIN
__device__ TILEWISE_T __hdiv(TILEWISE_T, TILEWISE_T);
__device__ TILEWISE_P __h2div(TILEWISE_P, TILEWISE_P);
#define TILEWISE_ENDING(N, E)                                                                 \
    __device__ TILEWISE_T N##E(TILEWISE_T, TILEWISE_T);                                       \
    __device__ TILEWISE_P N##2##E(TILEWISE_P, TILEWISE_P);
TILEWISE_ENDING(__hadd, _rn) TILEWISE_ENDING(__hsub, _rn) TILEWISE_ENDING(__hmul, _rn)
TILEWISE_ENDING(__hadd, _sat) TILEWISE_ENDING(__hsub, _sat) TILEWISE_ENDING(__hmul, _sat)
TILEWISE_ENDING(__hmax, _nan) TILEWISE_ENDING(__hmin, _nan)
#undef TILEWISE_ENDING
#define TILEWISE_FUSED(E)                                                                     \
    __device__ TILEWISE_T __hfma##E(TILEWISE_T, TILEWISE_T, TILEWISE_T);                      \
    __device__ TILEWISE_P __hfma2##E(TILEWISE_P, TILEWISE_P, TILEWISE_P);
TILEWISE_FUSED() TILEWISE_FUSED(_sat) TILEWISE_FUSED(_relu)
#undef TILEWISE_FUSED
__device__ TILEWISE_T __hneg(TILEWISE_T);
__device__ TILEWISE_P __hneg2(TILEWISE_P);
__device__ TILEWISE_T __habs(TILEWISE_T);
__device__ TILEWISE_P __habs2(TILEWISE_P);
#define TILEWISE_TESTS(N)                                                                     \
    __device__ bool __h##N(TILEWISE_T, TILEWISE_T);                                           \
    __device__ bool __h##N##u(TILEWISE_T, TILEWISE_T);                                        \
    __device__ TILEWISE_P __h##N##2(TILEWISE_P, TILEWISE_P);                                  \
    __device__ TILEWISE_P __h##N##u2(TILEWISE_P, TILEWISE_P);                                 \
    __device__ bool __hb##N##2(TILEWISE_P, TILEWISE_P);                                       \
    __device__ bool __hb##N##u2(TILEWISE_P, TILEWISE_P);
TILEWISE_TESTS(eq) TILEWISE_TESTS(ne) TILEWISE_TESTS(lt) TILEWISE_TESTS(le) TILEWISE_TESTS(gt)
TILEWISE_TESTS(ge)
#undef TILEWISE_TESTS
__device__ bool __hisnan(TILEWISE_T);
__device__ TILEWISE_P __hisnan2(TILEWISE_P);
__device__ int __hisinf(TILEWISE_T);
#define TILEWISE_MAP(N)                                                                       \
    __device__ TILEWISE_T h##N(TILEWISE_T); __device__ TILEWISE_P h2##N(TILEWISE_P);
TILEWISE_MAP(sqrt) TILEWISE_MAP(rsqrt) TILEWISE_MAP(rcp) TILEWISE_MAP(exp) TILEWISE_MAP(exp2)
TILEWISE_MAP(exp10) TILEWISE_MAP(log) TILEWISE_MAP(log2) TILEWISE_MAP(log10) TILEWISE_MAP(sin)
TILEWISE_MAP(cos) TILEWISE_MAP(tanh) TILEWISE_MAP(floor) TILEWISE_MAP(ceil) TILEWISE_MAP(trunc)
TILEWISE_MAP(rint)
#undef TILEWISE_MAP
__device__ TILEWISE_P TILEWISE_GLUE(TILEWISE_GLUE(__, TILEWISE_W, 2), TILEWISE_W, 2)(TILEWISE_T);
__device__ TILEWISE_P TILEWISE_MADE(__halves2,)(TILEWISE_T, TILEWISE_T);
__device__ TILEWISE_P TILEWISE_MADE(__float2, _rn)(float);
__device__ TILEWISE_P TILEWISE_MADE(__floats2, _rn)(float, float);
__device__ TILEWISE_P TILEWISE_MADE(__float22, _rn)(float2);
__device__ float2 TILEWISE_TO(2float2)(TILEWISE_P);
__device__ TILEWISE_T TILEWISE_GLUE(__low2, TILEWISE_W,)(TILEWISE_P);
__device__ TILEWISE_T TILEWISE_GLUE(__high2, TILEWISE_W,)(TILEWISE_P);
__device__ float __low2float(TILEWISE_P);
__device__ float __high2float(TILEWISE_P);
__device__ TILEWISE_P TILEWISE_MADE(__low2,)(TILEWISE_P);
__device__ TILEWISE_P TILEWISE_MADE(__high2,)(TILEWISE_P);
__device__ TILEWISE_P __lowhigh2highlow(TILEWISE_P);
__device__ TILEWISE_P TILEWISE_MADE(__lows2,)(TILEWISE_P, TILEWISE_P);
__device__ TILEWISE_P TILEWISE_MADE(__highs2,)(TILEWISE_P, TILEWISE_P);
__device__ TILEWISE_P operator+(TILEWISE_P, TILEWISE_P);
__device__ TILEWISE_P operator-(TILEWISE_P, TILEWISE_P);
__device__ TILEWISE_P operator*(TILEWISE_P, TILEWISE_P);
__device__ TILEWISE_P operator/(TILEWISE_P, TILEWISE_P);
__device__ TILEWISE_P& operator+=(TILEWISE_P&, TILEWISE_P);
__device__ TILEWISE_P& operator-=(TILEWISE_P&, TILEWISE_P);
__device__ TILEWISE_P& operator*=(TILEWISE_P&, TILEWISE_P);
__device__ TILEWISE_P& operator/=(TILEWISE_P&, TILEWISE_P);
__device__ TILEWISE_P operator+(TILEWISE_P);
__device__ TILEWISE_P operator-(TILEWISE_P);
__device__ bool operator==(TILEWISE_P, TILEWISE_P);
__device__ bool operator!=(TILEWISE_P, TILEWISE_P);
__device__ bool operator<(TILEWISE_P, TILEWISE_P);
__device__ bool operator<=(TILEWISE_P, TILEWISE_P);
__device__ bool operator>(TILEWISE_P, TILEWISE_P);
__device__ bool operator>=(TILEWISE_P, TILEWISE_P);
#define TILEWISE_SHUFFLED(T)                                                                  \
    __device__ T __shfl_sync(unsigned int, T, int, int = 32);                                 \
    __device__ T __shfl_up_sync(unsigned int, T, unsigned int, int = 32);                     \
    __device__ T __shfl_down_sync(unsigned int, T, unsigned int, int = 32);                   \
    __device__ T __shfl_xor_sync(unsigned int, T, int, int = 32);
TILEWISE_SHUFFLED(TILEWISE_T) TILEWISE_SHUFFLED(TILEWISE_P)
#undef TILEWISE_SHUFFLED
__device__ TILEWISE_T atomicAdd(TILEWISE_T*, TILEWISE_T);
__device__ TILEWISE_P atomicAdd(TILEWISE_P*, TILEWISE_P);
#undef TILEWISE_AS_BITS
#undef TILEWISE_OF_BITS
#undef TILEWISE_MADE
#undef TILEWISE_TO
#undef TILEWISE_FROM
#undef TILEWISE_GLUE_
#undef TILEWISE_GLUE
#undef TILEWISE_RP
#undef TILEWISE_R
#undef TILEWISE_W
#undef TILEWISE_P
#undef TILEWISE_T
