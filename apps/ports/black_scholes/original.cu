// Prices of European calls and puts by Black and Scholes, a thread per option.
__device__ float cdf(float x) {
    return 0.5f * erfcf(-0.70710678f * x);
}

extern "C" __global__ void black_scholes(float* call, float* put, const float* price,
                                         const float* strike, const float* years, float rate,
                                         float volatility, size_t n) {
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float spread = volatility * sqrtf(years[i]);
    float drift = rate + 0.5f * volatility * volatility;
    float d1 = (logf(price[i] / strike[i]) + drift * years[i]) / spread;
    float n1 = cdf(d1), n2 = cdf(d1 - spread);
    float discounted = strike[i] * expf(-rate * years[i]);
    call[i] = price[i] * n1 - discounted * n2;
    put[i] = discounted * (1 - n2) - price[i] * (1 - n1);
}
