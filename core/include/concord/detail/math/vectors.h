// Small vectors of bodies, in C++20, CUDA C++ and OpenCL C 1.2: a struct and a function that makes it. A body calls
// them f32x2 and make_f32x2. The list CONCORD_VECTORS in vocabulary.hpp names them. They are aligned to their size, at
// most 16 bytes, so that a GPU moves one in an access or two. In C++ they are structs like those of CONCORD_STRUCT.
#if defined(__OPENCL_C_VERSION__) || defined(__CUDACC_RTC__) || defined(CONCORD_MATH_FOR_NVCC)
#define CONCORD_ELEMENT(NAME)
#else
#define CONCORD_ELEMENT(NAME) static constexpr std::string_view concord_name = NAME, concord_definition = "";
#endif

#define CONCORD_VECTOR_2(T, VECTOR, MAKE, NAME, ALIGNMENT)      \
    typedef struct __attribute__((aligned(ALIGNMENT))) VECTOR { \
        T x, y;                                                 \
        CONCORD_ELEMENT(NAME)                                   \
    } VECTOR;                                                   \
    CONCORD_MATH VECTOR MAKE(T x, T y) {                        \
        VECTOR v;                                               \
        v.x = x;                                                \
        v.y = y;                                                \
        return v;                                               \
    }
#define CONCORD_VECTOR_4(T, VECTOR, MAKE, NAME, ALIGNMENT)      \
    typedef struct __attribute__((aligned(ALIGNMENT))) VECTOR { \
        T x, y, z, w;                                           \
        CONCORD_ELEMENT(NAME)                                   \
    } VECTOR;                                                   \
    CONCORD_MATH VECTOR MAKE(T x, T y, T z, T w) {              \
        VECTOR v;                                               \
        v.x = x;                                                \
        v.y = y;                                                \
        v.z = z;                                                \
        v.w = w;                                                \
        return v;                                               \
    }

CONCORD_VECTOR_2(f32, concord_f32x2, concord_make_f32x2, "f32x2", 8)

CONCORD_VECTOR_4(f32, concord_f32x4, concord_make_f32x4, "f32x4", 16)

#if CONCORD_HAS_F64
CONCORD_VECTOR_2(f64, concord_f64x2, concord_make_f64x2, "f64x2", 16)
#endif

#if CONCORD_HAS_F64
CONCORD_VECTOR_4(f64, concord_f64x4, concord_make_f64x4, "f64x4", 16)
#endif

CONCORD_VECTOR_2(i32, concord_i32x2, concord_make_i32x2, "i32x2", 8)

CONCORD_VECTOR_4(i32, concord_i32x4, concord_make_i32x4, "i32x4", 16)

CONCORD_VECTOR_2(u32, concord_u32x2, concord_make_u32x2, "u32x2", 8)

CONCORD_VECTOR_4(u32, concord_u32x4, concord_make_u32x4, "u32x4", 16)

CONCORD_VECTOR_4(u8, concord_u8x4, concord_make_u8x4, "u8x4", 4)
