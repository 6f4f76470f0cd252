// Small vectors of bodies, in C++20, CUDA C++ and OpenCL C 1.2: a struct and a function that makes it. A body calls
// them u32x2 and make_u32x2. The list CONCORD_VECTORS in vocabulary.hpp names them.

typedef struct {
    u32 x, y;
} concord_u32x2;

CONCORD_MATH concord_u32x2 concord_make_u32x2(u32 x, u32 y) {
    concord_u32x2 v;
    v.x = x;
    v.y = y;
    return v;
}

typedef struct {
    u32 x, y, z, w;
} concord_u32x4;

CONCORD_MATH concord_u32x4 concord_make_u32x4(u32 x, u32 y, u32 z, u32 w) {
    concord_u32x4 v;
    v.x = x;
    v.y = y;
    v.z = z;
    v.w = w;
    return v;
}
