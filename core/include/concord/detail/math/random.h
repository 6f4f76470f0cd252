// Counter-based random numbers of bodies, in C++20, CUDA C++ and OpenCL C 1.2.
//
// Algorithm  Philox4x32-10: ten rounds of two products, each 32 x 32 to 64 bits. Equal to philox4x32 of Random123.
// Source     J. Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011.

CONCORD_MATH concord_u32x4 concord_philox4x32(concord_u32x4 counter, concord_u32x2 key) {
    for (u32 round = 0; round < 10; ++round) {
        const u64 a = (u64)0xd2511f53u * counter.x;
        const u64 b = (u64)0xcd9e8d57u * counter.z;
        counter = concord_make_u32x4((u32)(b >> 32) ^ counter.y ^ key.x, (u32)b,
                                     (u32)(a >> 32) ^ counter.w ^ key.y, (u32)a);
        key = concord_make_u32x2(key.x + 0x9e3779b9u, key.y + 0xbb67ae85u);
    }
    return counter;
}

// The upper 24 bits as a multiple of 2^-24 in [0, 1).
CONCORD_MATH f32 concord_uniform_f32(u32 bits) {
    return (f32)(bits >> 8) * 0x1p-24f;
}

// The upper 53 bits as a multiple of 2^-53 in [0, 1).
CONCORD_MATH f64 concord_uniform_f64(u32 high, u32 low) {
    return (f64)((((u64)high << 32) | low) >> 11) * 0x1p-53;
}
