// Kernel sources with headers, flags and templates: what their compilers find, what Concord refuses, and that a changed
// header gives a new kernel.
#include "devices.hpp"
#include "temporary_folder.hpp"

#include <concord/internal/compile_options.hpp>
#include <concord/internal/includes.hpp>
#include <concord/internal/kernel_body.hpp>

using namespace concord;
using test::cuda_compiler;
using test::throws;

namespace {

constexpr const char* cuda_kernel = R"(
extern "C" __global__ void k(u32* out) { out[threadIdx.x] = RESULT; }
)";
constexpr const char* opencl_kernel = R"(
__kernel void k(__global u32* out, ulong at) { out[at + get_global_id(0)] = RESULT; }
)";

KernelSource cuda_source(const char* text, CompileOptions options = {}) {
    return {"options", {{"options.cu", text}}, {}, std::move(options)};
}

// Compiles a CUDA source with kernel k, without its kernel cached in memory.
void compile_cuda(Device& device, const char* text, CompileOptions options = {}, const char* entry = "k") {
    const KernelSource source = cuda_source(text, std::move(options));
    device.compile({.source = &source, .entry = entry});
}

// Whether a header of CUDA's toolkit is found. MISSING is part of the error without it.
bool has_toolkit_header(Device& device, const std::string& name, const char* missing) {
    try {
        compile_cuda(device, ("#include <" + name + ">\nextern \"C\" __global__ void k() {}").c_str());
        return true;
    } catch (const Error& error) {
        if (std::string_view(error.what()).find(missing) == std::string_view::npos) throw;
        MESSAGE(std::string(error.what()));
        return false;
    }
}

}  // namespace

TEST_SUITE_BEGIN("core");

TEST_CASE("CUDA sources include the toolkit's headers") {
    const auto device = cuda_compiler();
    REQUIRES(device, test::needs::nvrtc);
    REQUIRES(has_toolkit_header(*device, "cuda_fp16.h", "toolkit not found"), test::needs::cuda_toolkit);
    const char* const sources[] = {
        R"(#include <cuda_fp16.h>
extern "C" __global__ void k(__half* x, f32 a) { x[0] = __float2half(a); })",
        R"(#include <cuda_bf16.h>
extern "C" __global__ void k(__nv_bfloat16* x, f32 a) { x[0] = __float2bfloat16(a); })",
        R"(#include <cooperative_groups.h>
extern "C" __global__ void k(u32* x) { x[0] = cooperative_groups::this_thread_block().thread_rank(); })",
        R"(#include <cub/cub.cuh>
extern "C" __global__ void k(u32* x) {
    using Reduce = cub::BlockReduce<u32, 128>;
    __shared__ Reduce::TempStorage storage;
    const u32 sum = Reduce(storage).Sum(x[threadIdx.x]);
    if (threadIdx.x == 0) x[0] = sum;
})",
        R"(#include <cuda/std/array>
#include <cuda/std/cstdint>
#include <cuda/std/limits>
#include <stdint.h>
extern "C" __global__ void k(f32* x) {
    const cuda::std::array<f32, 1> one = {cuda::std::numeric_limits<f32>::max()};
    x[0] = one[uint32_t(0)];
})",
        R"(#include <cuda/atomic>
extern "C" __global__ void k(u32* x) {
    cuda::atomic_ref<u32, cuda::thread_scope_device>(x[0]).fetch_add(1, cuda::memory_order_relaxed);
})",
        R"(#include <cuda_runtime.h>
#include <cuda.h>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <stdio.h>
extern "C" __global__ void k(f32* x, uint64_t n, std::int64_t m) { x[n + m] = FLT_MAX + INT_MAX + sqrtf(x[1]); })",
    };
    for (const char* const source : sources) {
        CAPTURE(source);
        CHECK_NOTHROW(compile_cuda(*device, source));
    }
}

TEST_CASE("CUDA sources include mma.h") {
    const auto device = cuda_compiler();
    REQUIRES(device, test::needs::nvrtc);
    REQUIRES(has_toolkit_header(*device, "cuda_fp16.h", "toolkit not found"), test::needs::cuda_toolkit);
    REQUIRES(has_toolkit_header(*device, "mma.h", "cannot open source file \"crt/mma.h\""),
             test::needs::cuda_mma);
    CHECK_NOTHROW(compile_cuda(*device, R"(#include <mma.h>
extern "C" __global__ void k(f32* x) {
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> sums;
    nvcuda::wmma::fill_fragment(sums, 0);
    nvcuda::wmma::store_matrix_sync(x, sums, 16, nvcuda::wmma::mem_row_major);
})"));
}

TEST_CASE("a missing header is reported with the searched folders") {
    const auto device = cuda_compiler();
    REQUIRES(device, test::needs::nvrtc);
    const test::TemporaryFolder folder("headers");
    const char* const text = "#include \"nowhere.h\"\nextern \"C\" __global__ void k() {}";
    for (const std::string& part : {std::string("options.cu(1)"), std::string("nowhere.h"),
                                    folder.path().string(), std::string("CompileOptions::include_folders")})
        CHECK(throws(ErrorCode::compile_failed, part,
                     [&] { compile_cuda(*device, text, {.include_folders = {folder.path().string()}}); }));
}

TEST_CASE("a changed header of the user's own gives a new CUDA kernel") {
    const auto device = cuda_compiler();
    REQUIRES(device, test::needs::nvrtc);
    const test::TemporaryFolder folder("headers");
    const CompileOptions options{.include_folders = {folder.path().string()}};
    const std::string text = "#include \"outer.h\"\n" + std::string(cuda_kernel);
    folder.write("outer.h", "#include \"inner/inner.h\"\n");
    folder.write("inner/inner.h", "#define RESULT 1\n");
    CHECK_NOTHROW(compile_cuda(*device, text.c_str(), options));
    CHECK_NOTHROW(compile_cuda(*device, text.c_str(), options));  // from the disk cache
    folder.write("inner/inner.h", "#error changed\n");
    CHECK(
        throws(ErrorCode::compile_failed, "changed", [&] { compile_cuda(*device, text.c_str(), options); }));
    // A file that a macro names is not in the key, so that the cache is not used.
    const std::string by_macro = "#define FILE \"outer.h\"\n#include FILE\n" + std::string(cuda_kernel);
    folder.write("inner/inner.h", "#define RESULT 1\n");
    CHECK_NOTHROW(compile_cuda(*device, by_macro.c_str(), options));
    folder.write("inner/inner.h", "#error changed\n");
    CHECK(throws(ErrorCode::compile_failed, "changed",
                 [&] { compile_cuda(*device, by_macro.c_str(), options); }));
}

TEST_CASE("the files that a source includes are found") {
    const test::TemporaryFolder folder("headers");
    folder.write("a.h", "#  include \"below/b.h\"\n#include <a.h>\n");
    folder.write("below/b.h", "#include \"c.h\"\n#include \"missing.h\"\n");
    folder.write("below/c.h", "one");
    const auto read = [&](const char* text, Dialect dialect = Dialect::cuda, bool own = true) {
        CompileOptions options;
        if (own) options.include_folders = {folder.path().string()};
        const KernelSource source("includes", {}, {}, options, options);
        return detail::includes_of(text, source, dialect);
    };
    const detail::Includes first = read("int x;\n # include <a.h>\n#include <cmath>\n");
    CHECK(first.known);
    CHECK(first.names == std::vector<std::string>{"missing.h", "cmath"});
    CHECK(read("#include <a.h>\n").contents == first.contents);
    CHECK(read("/* one */ /* two */ #include <a.h>\n").contents == first.contents);
    folder.write("below/c.h", "two");
    CHECK_FALSE(read("#include <a.h>\n").contents == first.contents);
    CHECK(read("#include <a.h>\n").line() == read("#include <a.h>\n").line());
    CHECK_FALSE(read("#include NAME\n").known);
    CHECK_FALSE(read("#if __has_include(<a.h>)\n#include <a.h>\n#endif\n").known);
    CHECK_FALSE(read("#include <a.h>\n", Dialect::opencl).known);  // the driver may find missing.h
    CHECK(read("#include <below/c.h>\n", Dialect::opencl).known);
    CHECK(read("#include NAME\n", Dialect::cuda, false).known);  // only headers of the toolkit
    CHECK_FALSE(read("int x; // include\n").any);
    CHECK(read("int x;\n").line().empty());
}

TEST_CASE("flags that change results are refused unless the source accepts them") {
    using Flags = std::vector<std::string>;
    const auto check = [](const Flags& cuda, const Flags& opencl, bool allow) {
        const KernelSource source("options", {}, {}, {.flags = cuda, .allow_inexact = allow},
                                  {.flags = opencl, .allow_inexact = allow});
        detail::check_options(source);
    };
    for (const Flags& flags :
         {Flags{"--use_fast_math"}, Flags{"-use_fast_math"}, Flags{"--fmad=true"}, Flags{"-fmad=true"},
          Flags{"-fmad", "true"}, Flags{"--ftz=true"}, Flags{"-ftz", "true"}, Flags{"--prec-div=false"},
          Flags{"--prec-div", "false"}, Flags{"--prec-sqrt=false"}, Flags{"-DN=1", "-prec-sqrt=false"}}) {
        CAPTURE(flags.back());
        const std::string flag = flags.front() == "-DN=1" ? flags.back() : flags.front();
        CHECK(throws(ErrorCode::invalid_argument, "got '" + flag, [&] { check(flags, {}, false); }));
        CHECK_NOTHROW(check(flags, {}, true));
    }
    for (const char* const flag :
         {"-cl-fast-relaxed-math", "-cl-mad-enable", "-cl-denorms-are-zero", "-cl-unsafe-math-optimizations",
          "-cl-finite-math-only", "-cl-no-signed-zeros", "-cl-single-precision-constant"}) {
        CAPTURE(flag);
        CHECK(throws(ErrorCode::invalid_argument, "got '" + std::string(flag) + "'",
                     [&] { check({}, {flag}, false); }));
        CHECK(throws(ErrorCode::invalid_argument, flag,
                     [&] { check({}, {std::string("-DN=1 ") + flag}, false); }));
        CHECK_NOTHROW(check({}, {flag}, true));
    }
    for (const Flags& flags : {Flags{"-arch=sm_80"}, Flags{"--gpu-architecture=sm_80"}, Flags{"-I/x"},
                               Flags{"-I", "/x"}, Flags{"--include-path=/x"}, Flags{"--pre-include=x.h"}}) {
        CAPTURE(flags.front());
        CHECK(throws(ErrorCode::invalid_argument, flags.front(), [&] { check(flags, {}, true); }));
    }
    CHECK(throws(ErrorCode::invalid_argument, "-cl-std=CL2.0", [&] { check({}, {"-cl-std=CL2.0"}, true); }));
    CHECK_NOTHROW(check({"--fmad=false", "-fmad", "false", "--ftz=false", "--prec-div=true", "-DN=1"},
                        {"-cl-opt-disable", "-DN=1"}, false));
}

TEST_CASE("flags reach the CUDA compiler") {
    const auto device = cuda_compiler();
    REQUIRES(device, test::needs::nvrtc);
    const char* const text =
        "#if N != 3 || __cplusplus < 202002L\n#error flags\n#endif\nextern \"C\" __global__ void k() {}";
    CHECK_NOTHROW(compile_cuda(*device, text, {.flags = {"-DN=3", "--std=c++20"}}));
    CHECK(throws(ErrorCode::compile_failed, "error", [&] {
        compile_cuda(*device, text, {.flags = {"-DN=2", "--std=c++20"}});
    }));
    CHECK(throws(ErrorCode::invalid_argument, "--use_fast_math",
                 [&] { compile_cuda(*device, text, {.flags = {"--use_fast_math"}}); }));
    // With fast division a kernel needs fewer instructions, and so fewer registers than IEEE division, which calls a
    // function for rare operands. The quotients are live together, because compilers allocate a minimum of registers.
    const char* const divide =
        "extern \"C\" __global__ void k(f32* x) {\n"
        "    f32 q[32];\n"
        "    for (int i = 0; i < 32; ++i) q[i] = x[threadIdx.x + i] / x[threadIdx.x + i + 32];\n"
        "    for (int i = 0; i < 32; ++i) x[threadIdx.x + i] = q[31 - i];\n"
        "}";
    const auto registers = [&](CompileOptions options) {
        const KernelSource source = cuda_source(divide, std::move(options));
        return device->compile({.source = &source, .entry = "k"})->attributes().registers;
    };
    CHECK(registers({.flags = {"--use_fast_math"}, .allow_inexact = true}) < registers({}));
    CHECK(registers({}) > 32);
    CHECK(registers({.flags = {"-maxrregcount", "32"}}) <= 32);
}

TEST_CASE("a source names each language once") {
    const auto make = [](const std::vector<std::string_view>& suffixes) {
        std::vector<LanguageSource> list;
        list.reserve(suffixes.size());
        for (const std::string_view suffix : suffixes)
            list.push_back({.suffix = suffix, .files = {{"k", "text"}}});
        return KernelSource("k", list);
    };
    CHECK(make({"cl"}).files(Dialect::cuda).empty());
    CHECK(make({"cl", "cu"}).files(Dialect::cuda).size() == 1);
    for (const char* const suffix : {"", "cuda", ".cl"})
        CHECK(throws(ErrorCode::invalid_argument, "unknown suffix of 'k', got '" + std::string(suffix) + "'",
                     [&] {
                         (void)make({"cu", suffix});
                     }));
    CHECK(throws(ErrorCode::invalid_argument, "duplicate suffix of 'k', got 'cu'", [&] {
        (void)make({"cu", "cl", "cu"});
    }));
}

TEST_CASE("the bodies of CUDA kernels are found") {
    const auto bodies = [](std::string_view source) {
        std::string marked(source);
        const std::vector<std::size_t> found = detail::kernel_bodies(source, "k");
        for (auto at = found.rbegin(); at != found.rend(); ++at)
            marked.insert(*at, "@");
        return marked;
    };
    CHECK(bodies("extern \"C\" __global__ void k(u32* x) { x[0] = 1; }") ==
          "extern \"C\" __global__ void k(u32* x) {@ x[0] = 1; }");
    CHECK(bodies("__global__ void __launch_bounds__(N / (2 * M))\n    k(F(int) f, /* ) */ int x = g()) // "
                 "{\n{\n}") ==
          "__global__ void __launch_bounds__(N / (2 * M))\n    k(F(int) f, /* ) */ int x = g()) // {\n{@\n}");
    CHECK(bodies("template <class T> __global__ void k(T) {} template <> __global__ void k(u8) {}") ==
          "template <class T> __global__ void k(T) {@} template <> __global__ void k(u8) {@}");
    CHECK(bodies("KERNEL k(IN(T, in), u64 n) {}") == "KERNEL k(IN(T, in), u64 n) {@}");
    CHECK(bodies("KERNEL_RESIDENT(N) k(u64 n LOCAL_PARAMETER(T, room)) {}") ==
          "KERNEL_RESIDENT(N) k(u64 n LOCAL_PARAMETER(T, room)) {@}");
    CHECK(bodies("KERNEL_OF_ANY_KIND k(u64 n) {}") == "KERNEL_OF_ANY_KIND k(u64 n) {@}");
    for (const char* none :
         {"", "__global__ void k(u32*);", "__device__ void k() {}", "__global__ void kk() { k(); }",
          "// __global__ void k() {}\n", "const char* s = \"__global__ void k() {}\";", "__global__ void k(",
          "#define KERNEL(NAME) __global__ void NAME()\nKERNEL(k) {}", "__global__ void f() {} void k() {}"})
        CHECK(bodies(none) == none);
}

TEST_CASE("expressions name CUDA kernels") {
    const auto device = cuda_compiler();
    REQUIRES(device, test::needs::nvrtc);
    const char* const text = R"(
template <class T> __global__ void scale(T* x, T a) { x[threadIdx.x] *= a; }
namespace physics { template <int n> __global__ void step(f32* x) { x[threadIdx.x] += n; } }
__global__ void plain(f32* x) { x[0] = 1; }
)";
    const KernelSource source = cuda_source(text);
    for (const char* const entry : {"scale<float>", "scale<f64>", "physics::step<3>", "::plain"}) {
        CAPTURE(entry);
        for (int i = 0; i < 2; ++i) {  // compiled, and from the disk cache
            const auto kernel = device->compile({.source = &source, .entry = entry});
            CHECK(kernel->attributes().registers > 0);
            CHECK(kernel->name() == entry);
        }
    }
    CHECK(throws(ErrorCode::compile_failed, "unknown<float>",
                 [&] { device->compile({.source = &source, .entry = "unknown<float>"}); }));
    CHECK(throws(ErrorCode::compile_failed, "'::plain'",
                 [&] { device->compile({.source = &source, .entry = "plain"}); }));
    CHECK(detail::plain_entry("physics::step<3, a::b>") == "step");
    CHECK(detail::plain_entry("::plain") == "plain");
    CHECK(detail::plain_entry("plain") == "plain");
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("device");

// Launches kernel k of the sources and returns its result.
static u32 result_of(Device& device, Stream& stream, const KernelSource& source, const char* entry = "k") {
    const auto kernel = device.compile({.source = &source, .entry = entry});
    const Array<u32> out(stream, std::vector<u32>(1, 0));
    launch(stream, *kernel, LaunchShape::linear(1, 1), out);
    return out.to_host(stream)[0];
}

STREAM_TEST(included_files_and_flags_reach_the_compiler) {
    REQUIRES(device.traits().launch != LaunchModel::host, test::needs::compiler);
    const test::TemporaryFolder folder("headers");
    const std::string include = "#include \"result.h\"\n";
    const std::string cuda = include + cuda_kernel, opencl = include + opencl_kernel;
    CompileOptions options{.include_folders = {folder.path().string()}, .flags = {"-DADDED=10"}};
    const KernelSource source("options", {{"options.cu", cuda}}, {{"options.cl", opencl}}, options, options);
    folder.write("result.h", "#define RESULT 1 + ADDED\n");
    CHECK(result_of(device, stream, source) == 11);
    CHECK(result_of(device, stream, source) == 11);
    folder.write("result.h", "#define RESULT 2 + ADDED\n");
    CHECK(result_of(device, stream, source) == 12);
    options.flags = {"-DADDED=20"};
    const KernelSource other("options", {{"options.cu", cuda}}, {{"options.cl", opencl}}, options, options);
    CHECK(result_of(device, stream, other) == 22);
    // The flags are part of the content by which Device::kernel keeps kernels.
    CHECK(device.kernel({.source = &source, .entry = "k"}) !=
          device.kernel({.source = &other, .entry = "k"}));
}

STREAM_TEST(an_expression_names_the_kernel_in_every_language) {
    REQUIRES(device.traits().launch != LaunchModel::host, test::needs::compiler);
    const KernelSource source(
        "expression", {{"expression.cu", "template <int n> __global__ void five(u32* out) { out[0] = n; }"}},
        {{"expression.cl", "__kernel void five(__global u32* out, ulong at) { out[at] = 5; }"}});
    CHECK(result_of(device, stream, source, "five<5>") == 5);
}

TEST_SUITE_END();
