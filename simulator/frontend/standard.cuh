// What kernels take of <algorithm> and <limits>, in constant expressions too: for both compilers.
// It compares as the C++ library does ([alg.min.max]): with a NaN the first one stays.
namespace std {
template <typename T> __host__ __device__ constexpr T min(T a, T b) { return b < a ? b : a; }
template <typename T> __host__ __device__ constexpr T max(T a, T b) { return a < b ? b : a; }
template <typename T> __host__ __device__ constexpr T clamp(T v, T low, T high) {
    return v < low ? low : high < v ? high : v;
}
template <typename T> struct tilewise_limits;
#define TILEWISE_LIMITS(T, LOWEST, LEAST, MOST, STEP)                                         \
    template <> struct tilewise_limits<T> {                                                   \
        static constexpr T lowest = LOWEST, least = LEAST, most = MOST;                       \
        static constexpr T step = STEP;                                                       \
    };
#define TILEWISE_WHOLE(T, LEAST, MOST) TILEWISE_LIMITS(T, LEAST, LEAST, MOST, 0)
#define TILEWISE_FLOAT(T, F) TILEWISE_LIMITS(T, -F##_MAX, F##_MIN, F##_MAX, F##_EPSILON)
TILEWISE_WHOLE(signed char, -128, 127) TILEWISE_WHOLE(unsigned char, 0, 255)
TILEWISE_WHOLE(short, -32768, 32767) TILEWISE_WHOLE(unsigned short, 0, 65535)
TILEWISE_WHOLE(int, INT_MIN, INT_MAX) TILEWISE_WHOLE(unsigned int, 0, UINT_MAX)
TILEWISE_WHOLE(long, LONG_MIN, LONG_MAX) TILEWISE_WHOLE(unsigned long, 0, ULONG_MAX)
TILEWISE_WHOLE(long long, LLONG_MIN, LLONG_MAX) TILEWISE_WHOLE(unsigned long long, 0, ULLONG_MAX)
TILEWISE_FLOAT(float, FLT) TILEWISE_FLOAT(double, DBL)
template <typename T> struct numeric_limits {
    __host__ __device__ static constexpr T lowest() { return tilewise_limits<T>::lowest; }
    __host__ __device__ static constexpr T min() { return tilewise_limits<T>::least; }
    __host__ __device__ static constexpr T max() { return tilewise_limits<T>::most; }
    __host__ __device__ static constexpr T epsilon() { return tilewise_limits<T>::step; }
    __host__ __device__ static constexpr T infinity() { return CUDART_INF; }
};
}
#undef TILEWISE_FLOAT
#undef TILEWISE_WHOLE
#undef TILEWISE_LIMITS
