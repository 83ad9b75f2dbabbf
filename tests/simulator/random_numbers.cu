// Random numbers by curand_kernel.h, for chosen seeds, sequences and offsets: the same function runs
// in the simulator, on a GPU, and on a processor, for which main() prints what random_numbers.json
// keeps. nvcc -std=c++17 random_numbers.cu -o random_numbers && ./random_numbers >random_numbers.json
#include <cstdio>
#include <cstring>
#include <curand_kernel.h>

typedef unsigned long long ull;
constexpr int WORDS = 10, FLOATS = 7, DOUBLES = 4;
constexpr int FOURS = 24;

template <typename S>
__host__ __device__ void draw(ull seed, ull sequence, ull offset, unsigned* words, float* floats,
                              double* doubles) {
    S state;
    curand_init(seed, sequence, offset, &state);
    for (int i = 0; i < 6; i++) words[i] = curand(&state);
    floats[0] = curand_uniform(&state);
    doubles[0] = curand_uniform_double(&state);
    skipahead(7, &state);
    words[6] = curand(&state);
    skipahead(1ull << 35, &state);
    words[7] = curand(&state);
    skipahead_sequence(3, &state);
    words[8] = curand(&state);
    floats[1] = curand_normal(&state);
    floats[2] = curand_normal(&state);
    doubles[1] = curand_normal_double(&state);
    doubles[2] = curand_normal_double(&state);
    float2 pair = curand_normal2(&state);
    floats[3] = pair.x;
    floats[4] = pair.y;
    floats[5] = curand_log_normal(&state, 0.5f, 0.25f);
    floats[6] = curand_normal(&state);
    doubles[3] = curand_log_normal_double(&state, 0.5, 0.25);
    words[9] = curand(&state);
}

template <typename S>
__global__ void numbers(const ull* start, unsigned* words, float* floats, double* doubles) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    draw<S>(start[3 * i], start[3 * i + 1], start[3 * i + 2], words + i * WORDS,
            floats + i * FLOATS, doubles + i * DOUBLES);
}

// What Philox alone gives, four at a time, from each place within its four words.
__host__ __device__ void draw_fours(int place, float* out) {
    curandStatePhilox4_32_10_t state;
    curand_init(99, 4, place, &state);
    for (int i = 0; i < 2; i++) {
        uint4 words = curand4(&state);
        float4 uniform = curand_uniform4(&state);
        float4 normal = curand_normal4(&state);
        double2 doubles = curand_uniform2_double(&state);
        float* o = out + i * 12;
        o[0] = words.x >> 8, o[1] = words.y >> 8, o[2] = words.z >> 8, o[3] = words.w >> 8;
        o[4] = uniform.x, o[5] = uniform.y, o[6] = doubles.x, o[7] = doubles.y;
        o[8] = normal.x, o[9] = normal.y, o[10] = normal.z, o[11] = normal.w;
    }
}

__global__ void fours(float* out) { draw_fours(threadIdx.x, out + FOURS * threadIdx.x); }

static const ull SEEDS[] = {0, 1, 1234, 0xdeadbeefcafebabeull};
static const ull SEQUENCES[] = {0, 1, 5, 1ull << 40, 0xffffffffffffffffull};
static const ull OFFSETS[] = {0, 1, 3, 1000003, 0xfffffffffffffff0ull};

template <typename T> void list(const char* name, const T* values, int count, const char* end) {
    std::printf("  \"%s\": [", name);
    for (int i = 0; i < count; i++) {
        ull bits = 0;
        std::memcpy(&bits, &values[i], sizeof(T));
        std::printf("%s%llu", i ? ", " : "", bits);
    }
    std::printf("]%s\n", end);
}

template <typename S> void print(const char* name) {
    const int count = 100;
    ull start[3 * count];
    unsigned words[WORDS * count];
    float floats[FLOATS * count];
    double doubles[DOUBLES * count];
    int i = 0;
    for (ull seed : SEEDS)
        for (ull sequence : SEQUENCES)
            for (ull offset : OFFSETS) {
                start[3 * i] = seed, start[3 * i + 1] = sequence, start[3 * i + 2] = offset;
                draw<S>(seed, sequence, offset, words + i * WORDS, floats + i * FLOATS,
                        doubles + i * DOUBLES);
                i++;
            }
    std::printf(" \"%s\": {\n", name);
    list("start", start, 3 * count, ",");
    list("words", words, WORDS * count, ",");
    list("floats", floats, FLOATS * count, ",");
    list("doubles", doubles, DOUBLES * count, "");
    std::printf(" },\n");
}

int main() {
    std::printf("{\n");
    print<curandStateXORWOW_t>("curandStateXORWOW_t");
    print<curandStatePhilox4_32_10_t>("curandStatePhilox4_32_10_t");
    float out[4 * FOURS];
    for (int place = 0; place < 4; place++) draw_fours(place, out + FOURS * place);
    list("fours", out, 4 * FOURS, "");
    std::printf("}\n");
}
