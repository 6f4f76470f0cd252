#pragma once
// The table of the languages of kernels. Another language is an enumerator of Dialect and a row here. A language with
// the suffix of another one takes its files. docs/extending/language.md says what one with a new suffix needs as well.

#include <concord/error.hpp>
#include <concord/traits.hpp>

#include <span>

namespace concord::detail {

// A flag of a compiler that a kernel's source may not set. An empty value stands for any.
struct RefusedFlag {
    std::string_view name, value;
    std::string_view why;
};

struct Language {
    Dialect dialect;
    std::string_view name;      // for people: "OpenCL C"
    std::string_view platform;  // what its kernels run on: "OpenCL"
    std::string_view id;        // in reports: "opencl"
    LaunchModels launch;        // how devices run its kernels

    // Below: of languages that are compiled from source. The others have no suffix.
    std::string_view suffix = {};                               // of files
    std::string_view TypeRow::*spelling = nullptr;              // of the element types
    std::string_view ConversionSource::*conversions = nullptr;  // of storage types
    std::string_view f64_macro = {};  // f64 exists only where the compiler defines this; empty: always
    std::string_view before = {}, constants = {};   // texts before and after the types
    std::string_view function = {}, kernel = {};    // qualifiers
    std::string_view global = {}, restricted = {};  // qualifiers of pointers to buffers
    std::string_view offset = {};  // type of the parameter behind each buffer; empty: pointers carry offsets
    std::string_view index = {};   // the macros CONCORD_X … with the place of a work-item
    std::string_view group = {};   // the macros of group kernels
    bool is_c = false;             // no constexpr, static_cast, T(x) and ::
    bool has_headers = true;       // the compiler brings headers
    bool joins_flags = false;      // flags travel as one string
    std::span<const RefusedFlag> own_flags = {}, inexact_flags = {};

    constexpr bool is_compiled() const { return !suffix.empty(); }
};

// Constants of C's headers that CUDA C++ has only after an include, and names that OpenCL C lacks or defines otherwise.
inline constexpr std::string_view cuda_constants = R"(#define CONCORD_OVERLOADABLE
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fc00000)
#define FLT_MAX 0x1.fffffep127f
#define FLT_MIN 0x1p-126f
#define FLT_EPSILON 0x1p-23f
#define DBL_MAX 0x1.fffffffffffffp1023
#define DBL_MIN 0x1p-1022
#define DBL_EPSILON 0x1p-52
#define INT_MAX 0x7fffffff
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 0xffffffffu
#define M_E 0x1.5bf0a8b145769p1
#define M_LOG2E 0x1.71547652b82fep0
#define M_LOG10E 0x1.bcb7b1526e50ep-2
#define M_LN2 0x1.62e42fefa39efp-1
#define M_LN10 0x1.26bb1bbb55516p1
#define M_PI 0x1.921fb54442d18p1
#define M_PI_2 0x1.921fb54442d18p0
#define M_PI_4 0x1.921fb54442d18p-1
#define M_1_PI 0x1.45f306dc9c883p-2
#define M_2_PI 0x1.45f306dc9c883p-1
#define M_2_SQRTPI 0x1.20dd750429b6dp0
#define M_SQRT2 0x1.6a09e667f3bcdp0
#define M_SQRT1_2 0x1.6a09e667f3bcdp-1
)";
inline constexpr std::string_view opencl_constants =
    R"(#define CONCORD_OVERLOADABLE __attribute__((overloadable))
#undef NAN
#define NAN as_float(0x7fc00000u)
typedef char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef uchar uint8_t;
typedef ushort uint16_t;
typedef uint uint32_t;
typedef ulong uint64_t;
)";

// Where a work-item is, in kernels over an index space; steps lead to the next work-item's place in a loop.
inline constexpr std::string_view cuda_index =
    R"(#define CONCORD_X (u64(blockIdx.x) * blockDim.x + threadIdx.x)
#define CONCORD_Y (u64(blockIdx.y) * blockDim.y + threadIdx.y)
#define CONCORD_Z blockIdx.z
#define CONCORD_STEP_Y (u64(gridDim.y) * blockDim.y)
#define CONCORD_STEP_Z gridDim.z
#define CONCORD_GROUP_X blockIdx.x
)";
inline constexpr std::string_view opencl_index = R"(#define CONCORD_X get_global_id(0)
#define CONCORD_Y get_global_id(1)
#define CONCORD_Z get_group_id(2)
#define CONCORD_STEP_Y get_global_size(1)
#define CONCORD_STEP_Z get_num_groups(2)
#define CONCORD_GROUP_X get_group_id(0)
)";

// What group kernels are made of. CONCORD_LOCAL_SPACE: of pointers into local memory. CONCORD_WARPS: whether work-items
// exchange values in warps of 32. CONCORD_INLINED: functions that read ids. PoCL 3.1 shares these between threads in
// functions that it does not inline.
inline constexpr std::string_view cuda_group = R"(#define CONCORD_SHARED __shared__
#define CONCORD_LOCAL_SPACE
#define CONCORD_MEET __syncthreads()
#define CONCORD_WARPS 1
#define CONCORD_INLINED static __device__ __forceinline__
#define CONCORD_ITEM_X threadIdx.x
#define CONCORD_ITEM_Y threadIdx.y
#define CONCORD_ITEM_Z threadIdx.z
#define CONCORD_ITEM ((CONCORD_ITEM_Z * group_size_y + CONCORD_ITEM_Y) * group_size_x + CONCORD_ITEM_X)
#define CONCORD_GROUP_X blockIdx.x
#define CONCORD_GROUP_Y blockIdx.y
#define CONCORD_GROUP_Z blockIdx.z
#define CONCORD_REQUIRED_SIZE
)";
inline constexpr std::string_view opencl_group = R"(#define CONCORD_SHARED __local
#define CONCORD_LOCAL_SPACE __local
#define CONCORD_MEET barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define CONCORD_WARPS 0
#define CONCORD_INLINED static inline __attribute__((always_inline))
#define CONCORD_ITEM_X ((u32)get_local_id(0))
#define CONCORD_ITEM_Y ((u32)get_local_id(1))
#define CONCORD_ITEM_Z ((u32)get_local_id(2))
#define CONCORD_ITEM ((CONCORD_ITEM_Z * group_size_y + CONCORD_ITEM_Y) * group_size_x + CONCORD_ITEM_X)
#define CONCORD_GROUP_X get_group_id(0)
#define CONCORD_GROUP_Y get_group_id(1)
#define CONCORD_GROUP_Z get_group_id(2)
#if CONCORD_MANY
#define CONCORD_REQUIRED_SIZE __attribute__((reqd_work_group_size(group_size_x, group_size_y, group_size_z)))
#else
#define CONCORD_REQUIRED_SIZE
#endif
)";

inline constexpr std::string_view fast_math =
    "it replaces division, square root and functions by approximations";
inline constexpr RefusedFlag inexact_cuda[] = {
    {"use_fast_math", "", fast_math},
    {"fmad", "true", "it contracts products and sums to fma, which other devices do not"},
    {"ftz", "true", "it replaces denormal numbers by zero"},
    {"prec-div", "false", "it makes division inexact"},
    {"prec-sqrt", "false", "it makes square roots inexact"},
};
inline constexpr RefusedFlag inexact_opencl[] = {
    {"cl-fast-relaxed-math", "", fast_math},
    {"cl-unsafe-math-optimizations", "", "it permits transformations that change results"},
    {"cl-mad-enable", "", "it contracts products and sums to mad, which may be inexact"},
    {"cl-denorms-are-zero", "", "it replaces denormal numbers by zero"},
    {"cl-finite-math-only", "", "it permits any result for infinities and NaNs"},
    {"cl-no-signed-zeros", "", "it ignores the sign of zeros"},
    {"cl-single-precision-constant", "", "it rounds f64 constants to f32"},
    {"ffast-math", "", fast_math},
    {"Ofast", "", fast_math},
    {"ffp-contract", "", "it may contract products and sums to fma"},
    {"funsafe-math-optimizations", "", "it permits transformations that change results"},
    {"fassociative-math", "", "it reorders sums"},
    {"freciprocal-math", "", "it makes division inexact"},
    {"ffinite-math-only", "", "it permits any result for infinities and NaNs"},
    {"fno-signed-zeros", "", "it ignores the sign of zeros"},
    {"ffp-model", "", "it may permit transformations that change results"},
    {"fapprox-func", "", fast_math},
    {"Xclang", "", "it passes flags that Concord does not check"},
    {"mllvm", "", "it passes flags that Concord does not check"},
};

inline constexpr std::string_view for_device = "Concord chooses it for the device";
inline constexpr std::string_view use_folders = "list the folder in CompileOptions::include_folders";
inline constexpr std::string_view use_directive = "write #include in the source";
inline constexpr RefusedFlag own_cuda[] = {
    {"arch", "", for_device},          {"gpu-architecture", "", for_device},
    {"include-path", "", use_folders}, {"pre-include", "", use_directive},
    {"include", "", use_directive},
};
inline constexpr RefusedFlag own_opencl[] = {{"cl-std", "", for_device}, {"include", "", use_directive}};

inline constexpr Language languages[] = {
    {.dialect = Dialect::cuda,
     .name = "CUDA C++",
     .platform = "CUDA",
     .id = "cuda",
     .launch = {LaunchModel::groups},
     .suffix = "cu",
     .spelling = &TypeRow::cuda,
     .conversions = &ConversionSource::cuda,
     .constants = cuda_constants,
     .function = "static __device__ __forceinline__ ",
     .kernel = "extern \"C\" __global__ void __launch_bounds__(CONCORD_GROUP_SIZE) ",
     .restricted = "__restrict__",
     .index = cuda_index,
     .group = cuda_group,
     .own_flags = own_cuda,
     .inexact_flags = inexact_cuda},
    {.dialect = Dialect::opencl,
     .name = "OpenCL C",
     .platform = "OpenCL",
     .id = "opencl",
     .launch = {LaunchModel::groups, LaunchModel::single_items},
     .suffix = "cl",
     .spelling = &TypeRow::opencl,
     .conversions = &ConversionSource::opencl,
     .f64_macro = "CONCORD_FP64",  // without it, compilers reject even the name `double`
     // Compilers may contract a * b + c by default. No standard option disables it, only this pragma, which PoCL and
     // NVIDIA's compiler apply to the whole source.
     .before = "#pragma OPENCL FP_CONTRACT OFF\n",
     .constants = opencl_constants,
     // PoCL shares local memory between groups that run at the same time if a function uses it that it compiles apart.
     .function = "static inline __attribute__((always_inline)) ",
     .kernel = "__kernel void ",
     .global = "__global ",
     .restricted = "restrict",
     .offset = "ulong",
     .index = opencl_index,
     .group = opencl_group,
     .is_c = true,
     .has_headers = false,
     .joins_flags = true,
     .own_flags = own_opencl,
     .inexact_flags = inexact_opencl},
    {.dialect = Dialect::host, .name = "C++", .platform = "CPU", .id = "cpu", .launch = {LaunchModel::host}},
};

constexpr const Language& language_of(Dialect dialect) {
    for (const Language& language : languages) {
        if (language.dialect == dialect) return language;
    }
    throw Error(ErrorCode::invalid_argument, "Dialect", "a language without a row in the table");
}

constexpr Dialects all_languages() {
    Dialects list;
    for (const Language& language : languages)
        list.add(language.dialect);
    return list;
}

// The languages of a list, and those that take the files of one of them.
constexpr Dialects with_same_files(Dialects named) {
    Dialects list = named;
    for (const Language& language : languages) {
        for (const Language& other : languages) {
            if (named.has(language.dialect) && language.is_compiled() && other.suffix == language.suffix)
                list.add(other.dialect);
        }
    }
    return list;
}

}  // namespace concord::detail
