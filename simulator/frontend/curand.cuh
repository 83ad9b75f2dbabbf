// The part of <curand_kernel.h> that is taken: the generators XORWOW and Philox, declared as cuRAND
// documents them (cuRAND, Device API). For the parser alone; what they compute is in
// simulator/machine/random_numbers.py.
struct curandStateXORWOW {
    unsigned int d, v[5];
    int boxmuller_flag;
    int boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
struct curandStatePhilox4_32_10 {
    uint4 ctr;
    uint4 output;
    uint2 key;
    unsigned int STATE;
    int boxmuller_flag;
    int boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
#define TILEWISE_GENERATOR(STATE)                                                             \
    __device__ void curand_init(unsigned long long, unsigned long long, unsigned long long, STATE*); \
    __device__ void skipahead(unsigned long long, STATE*);                                    \
    __device__ void skipahead_sequence(unsigned long long, STATE*);                           \
    __device__ unsigned int curand(STATE*);                                                   \
    __device__ float curand_uniform(STATE*);                                                  \
    __device__ double curand_uniform_double(STATE*);                                          \
    __device__ float curand_normal(STATE*);                                                   \
    __device__ float2 curand_normal2(STATE*);                                                 \
    __device__ double curand_normal_double(STATE*);                                           \
    __device__ double2 curand_normal2_double(STATE*);                                         \
    __device__ float curand_log_normal(STATE*, float, float);                                 \
    __device__ float2 curand_log_normal2(STATE*, float, float);                               \
    __device__ double curand_log_normal_double(STATE*, double, double);                       \
    __device__ double2 curand_log_normal2_double(STATE*, double, double);
TILEWISE_GENERATOR(curandStateXORWOW)
TILEWISE_GENERATOR(curandStatePhilox4_32_10)
#undef TILEWISE_GENERATOR
__device__ uint4 curand4(curandStatePhilox4_32_10*);
__device__ float4 curand_uniform4(curandStatePhilox4_32_10*);
__device__ double2 curand_uniform2_double(curandStatePhilox4_32_10*);
__device__ float4 curand_normal4(curandStatePhilox4_32_10*);
__device__ float4 curand_log_normal4(curandStatePhilox4_32_10*, float, float);
