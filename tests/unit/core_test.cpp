// Types, errors, views and kernel sources: tests that need no device except the CPU.
#include "devices.hpp"

#include <concord/internal/host_copy.hpp>
#include <concord/internal/host_threads.hpp>
#include <concord/internal/kernel_key.hpp>
#include <concord/internal/processor.hpp>
#include <concord/log.hpp>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace concord;
using test::throws;

TEST_SUITE_BEGIN("core");

TEST_CASE("types have names and sizes") {
    for (Type type : all_types) {
        CHECK(type_named(name_of(type)) == type);
        if (is_storage(type)) continue;
        detail::visit_type(type, [&](auto tag) {
            using T = typename decltype(tag)::type;
            CHECK(type_of<T>() == type);
            CHECK(size_of(type) == sizeof(T));
            CHECK(is_float(type) == std::is_floating_point_v<T>);
            CHECK(is_unsigned(type) == std::is_unsigned_v<T>);
            CHECK(accumulator_of(type) == type);
            CHECK(is_unsigned(detail::bits_of(type)));
            CHECK(size_of(detail::bits_of(type)) == sizeof(T));
        });
        const auto size_of_float = [&] {
            return detail::visit_float(type, []<class T>(detail::TypeTag<T>) { return sizeof(T); });
        };
        if (is_float(type))
            CHECK(size_of_float() == size_of(type));
        else
            CHECK(throws(ErrorCode::unsupported, "not a floating-point type", size_of_float));
    }
    for (const auto& [spelling, type] : {std::pair("u32", Type::u32), std::pair("unsigned int", Type::u32),
                                         std::pair("uint", Type::u32), std::pair("long", Type::i64)})
        CHECK(detail::type_spelled(spelling) == type);
    CHECK_FALSE(detail::type_spelled("").has_value());
    CHECK(type_of<long long>() == Type::i64);
    CHECK(type_of<unsigned long>() == Type::u64);
    CHECK(type_of<const float>() == Type::f32);
    CHECK_FALSE(type_named("f16").has_value());
}

TEST_CASE("the smallest quota of the control groups counts, rounded up") {
    namespace fs = std::filesystem;
    const fs::path root = fs::temp_directory_path() / ("concord-groups-" + std::to_string(getpid()));
    auto write = [&](const fs::path& file, const char* text) {
        fs::create_directories((root / file).parent_path());
        std::ofstream(root / file) << text;
    };
    write("a/b/cpu.max", "max 100000\n");
    CHECK_FALSE(detail::processor_quota("0::/a/b\n", root));
    write("a/cpu.max", "350000 100000\n");
    CHECK(detail::processor_quota("0::/a/b\n", root) == 4);
    write("cpu.max", "50000 100000\n");
    CHECK(detail::processor_quota("0::/a/b\n", root) == 1);
    // Version 1. Only the controller `cpu` counts.
    write("cpu/c/cpu.cfs_quota_us", "200000\n");
    write("cpu/c/cpu.cfs_period_us", "100000\n");
    CHECK(detail::processor_quota("3:cpuset:/c\n2:cpu,cpuacct:/c\n", root) == 2);
    CHECK_FALSE(detail::processor_quota("3:cpuset:/c\n", root));
    write("cpu/c/cpu.cfs_quota_us", "-1\n");
    CHECK_FALSE(detail::processor_quota("2:cpu:/c\n", root));
    CHECK_FALSE(detail::processor_quota("", root));
    CHECK_FALSE(detail::processor_quota("no group\n0\n0:cpu\n", root));
    fs::remove_all(root);
    CHECK(!detail::processor_key().empty());
}

TEST_CASE("an error has a call, a message and a native error") {
    const Error error(ErrorCode::device_failed, "Stream::launch", "3 groups", "CUDA_ERROR_UNKNOWN (999)");
    CHECK(std::string(error.what()) == "Stream::launch: 3 groups [CUDA_ERROR_UNKNOWN (999)]");
    CHECK(error.code() == ErrorCode::device_failed);
    CHECK(error.native() == "CUDA_ERROR_UNKNOWN (999)");
}

TEST_CASE("log levels") {
    CHECK(throws(ErrorCode::invalid_argument, "'loud'", [] { set_log_level("loud"); }));
    CHECK_NOTHROW(set_log_level("warn"));
}

TEST_CASE("views are validated") {
    const auto device = open_device("tbb");
    const auto buffer = device->allocate(100);
    CHECK_NOTHROW(Span<float>(*buffer, 0, 25));
    CHECK_NOTHROW(Span<float>(*buffer, 25, 0));
    CHECK(throws(ErrorCode::invalid_argument, "26 elements", [&] { Span<float>(*buffer, 0, 26); }));
    CHECK(throws(ErrorCode::invalid_argument, "exceeds the buffer",
                 [&] { Span<float>(*buffer, 0, ~u64{0} / 2); }));
    CHECK(throws(ErrorCode::invalid_argument, "multiple", [&] {
        detail::check_view("t", "x", View{buffer.get(), 2, 1, Type::f32});
    }));
    CHECK(throws(ErrorCode::invalid_argument, "exceeds 2^60 bytes",
                 [&] { Span<float>(*buffer, u64{1} << 62, 10); }));
    CHECK(throws(ErrorCode::invalid_argument, "got a view of i32", [&] {
        Span<float>(View{buffer.get(), 0, 4, Type::i32});
    }));
    CHECK(Span<float>().view().type == Type::f32);
    const Array<float> none;
    CHECK(none.span().size() == 0);
    const Span<float> span(*buffer, 1, 20);
    CHECK(span.part(3, 4).view().offset == 16);
    CHECK(throws(ErrorCode::invalid_argument, "[18, 18 + 3)", [&] { (void)span.part(18, 3); }));
    CHECK(throws(ErrorCode::invalid_argument,
                 "exceeds 2^60 bytes, got 2305843009213693952 elements of 8 bytes",
                 [&] { Array<double>(*device, u64{1} << 61); }));
    // A view that no buffer can hold.
    CHECK(throws(ErrorCode::invalid_argument, "exceeds the view", [&] {
        (void)View{buffer.get(), 0, ~u64{0}, Type::f64}.part((u64{1} << 61) + 1, 1);
    }));
    CHECK(overlap(span.view(), span.part(19, 1).view()));
    CHECK_FALSE(overlap(span.part(0, 5).view(), span.part(5, 5).view()));
    CHECK_FALSE(overlap(span.view(), span.part(5, 0).view()));
}

TEST_CASE("arithmetic on sizes detects overflow") {
    using detail::CheckedSize;
    constexpr u64 most = ~u64{0}, half = u64{1} << 32;
    CHECK((CheckedSize(most) + 0).fits());
    CHECK_FALSE((CheckedSize(most) + 1).fits());
    CHECK_FALSE((CheckedSize(1) + most).fits());
    CHECK_FALSE((CheckedSize(most) + 1 + 1).fits());
    CHECK((CheckedSize(half) * (half - 1)).value() == most - half + 1);
    CHECK_FALSE((CheckedSize(half) * half).fits());
    CHECK_FALSE((CheckedSize(half) * half + 0).fits());
    CHECK_FALSE((CheckedSize(half) * half * 1).fits());
    // A product with 0 is 0, whatever the order of the factors.
    CHECK((CheckedSize(half) * half * 0).fits(0));
    CHECK((CheckedSize(0) * half * half * half).fits(0));
    CHECK(CheckedSize(7).fits(7));
    CHECK_FALSE(CheckedSize(8).fits(7));
    CHECK(detail::checked_bytes("f", u64{1} << 57, 8) == detail::max_bytes);
    CHECK(throws(ErrorCode::invalid_argument, "f: size exceeds 2^60 bytes",
                 [] { (void)detail::checked_bytes("f", (u64{1} << 57) + 1, 8); }));
}

TEST_CASE("assemble() emits names, constants, operator and files in order") {
    const KernelSource source{"s", {{"a.cu", "CUDA TEXT"}}, {{"a.cl", "OPENCL TEXT"}}};
    KernelSpec spec;
    spec.source = &source;
    spec.entry = "k";
    spec.constants = {{"T", Type::f32}, {"GROUP", 64}};
    Operator op = operator_from_text("float f(float x, float y) { return x + y; }");
    op.bound = {Type::i32};
    spec.op = &op;
    const std::string cuda = assemble(spec, Dialect::cuda), opencl = assemble(spec, Dialect::opencl);
    const auto order = {"typedef float f32;",
                        "#define T f32",
                        "#define GROUP 64",
                        "concord_function(float x, float y)",
                        "i32 v0",
                        "apply(const Op op, f32 a0, f32 a1)",
                        "concord_function(a0, a1, op.v0)"};
    for (const std::string& text : {cuda, opencl}) {
        std::size_t at = 0;
        for (const char* part : order) {
            CAPTURE(part);
            const std::size_t found = text.find(part, at);
            CHECK(found != std::string::npos);
            at = found;
        }
    }
    CHECK(cuda.find("#line 1 \"a.cu\"\nCUDA TEXT") != std::string::npos);
    CHECK(opencl.find("#line 1 \"a.cl\"\nOPENCL TEXT") != std::string::npos);
    CHECK(opencl.find("CUDA TEXT") == std::string::npos);
    CHECK(throws(ErrorCode::unsupported, "functions", [&] { (void)assemble(spec, Dialect::host); }));
}

TEST_CASE("CONCORD_KERNELS replaces files of kernel sources by name") {
    namespace fs = std::filesystem;
    const KernelSource source{"s", {{"a.cu", "EMBEDDED A"}, {"b.cu", "EMBEDDED B", 7}}, {}};
    KernelSpec spec;
    spec.source = &source;
    const fs::path folder = fs::temp_directory_path() / ("concord-kernels-" + std::to_string(getpid()));
    fs::create_directory(folder);
    std::ofstream(folder / "b.cu") << "CHANGED B";
    setenv("CONCORD_KERNELS", folder.c_str(), 1);
    const std::string text = assemble(spec, Dialect::cuda);
    CHECK(text.find("#line 1 \"a.cu\"\nEMBEDDED A") != std::string::npos);
    CHECK(text.find("#line 1 \"b.cu\"\nCHANGED B") != std::string::npos);
    CHECK(text.find("EMBEDDED B") == std::string::npos);
    // The files of the source are in the text already. The compiler reports other includes.
    std::ofstream(folder / "b.cu") << "// b\n#include \"a.cu\"\n#include \"c.cu\"\nCHANGED B";
    CHECK(assemble(spec, Dialect::cuda).find("#line 1 \"b.cu\"\n// b\n\n#include \"c.cu\"\nCHANGED B") !=
          std::string::npos);
    std::ofstream(folder / "b.cu").flush();  // an empty file is valid
    CHECK(assemble(spec, Dialect::cuda).find("#line 1 \"b.cu\"\n\n") != std::string::npos);

    // Files of the user, whose names are paths, are not replaced.
    const std::string path = (folder / "b.cu").string();
    const KernelSource own{"own", {{path, "OWN TEXT"}}, {}};
    spec.source = &own;
    CHECK(assemble(spec, Dialect::cuda).find("OWN TEXT") != std::string::npos);

    spec.source = &source;
    fs::create_directory(folder / "a.cu");
    const std::string unreadable =
        "cannot be read, got '" + (folder / "a.cu").string() + "': not a regular file";
    CHECK(throws(ErrorCode::io, unreadable.c_str(), [&] { (void)assemble(spec, Dialect::cuda); }));
    fs::remove_all(folder);
    CHECK(throws(ErrorCode::io, "no such folder", [&] { (void)assemble(spec, Dialect::cuda); }));
    unsetenv("CONCORD_KERNELS");
    CHECK(assemble(spec, Dialect::cuda).find("#line 7 \"b.cu\"\nEMBEDDED B") != std::string::npos);
}

TEST_CASE("canonical chunks depend on n alone and leave at most 32768 sums") {
    CHECK(canonical_chunk(0) == 1024);
    CHECK(canonical_chunk(u64{1} << 22) == 1024);
    CHECK(canonical_chunk((u64{1} << 22) + 1) == 2048);
    CHECK(canonical_chunk(u64{1} << 28) == 8192);
    CHECK(canonical_chunk((u64{1} << 28) + 1) == 16384);
    CHECK(canonical_chunk(u64{1} << 40) == u64{1} << 25);
    CHECK(canonical_depth(1) == 8);
    CHECK(canonical_depth(u64{1} << 28) == 64 + 7 + 8 + 7 + 1 + 7);
}

// Runs in a separate process, because the threads stay until it ends.
TEST_CASE("a large copy in a new process" * doctest::skip()) {
    auto threads = [] {
        const std::filesystem::directory_iterator tasks("/proc/self/task");
        return std::distance(begin(tasks), end(tasks));
    };
    const std::vector<std::byte> from(64 << 20, std::byte{7});
    std::vector<std::byte> to(from.size());
    std::thread([] {}).join();  // with the first thread, ThreadSanitizer starts one of its own
    // A thread that has been joined may still be listed for a moment.
    auto before = threads();
    for (int i = 0; i < 100 && before > 1; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        before = std::min(before, threads());
    }
    detail::copy_in_parallel(to.data(), from.data(), from.size());
    CHECK(to == from);
    CHECK(threads() - before == std::min<u32>(7, detail::host_threads() - 1));
    CHECK(detail::host_threads() ==
          static_cast<u32>(std::atoi(std::getenv("CONCORD_TEST_EXPECTED_THREADS"))));
}

TEST_CASE("host_threads() follows CONCORD_THREADS and the affinity of the process") {
    const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
    auto passes = [&](const std::string& environment, int expected) {
        const std::string command =
            environment + " CONCORD_TEST_EXPECTED_THREADS=" + std::to_string(expected) + " '" + program +
            "' --no-skip --test-case='a large copy in a new process'" + " >/dev/null";
        return std::system(command.c_str()) == 0;
    };
    CHECK(passes("CONCORD_THREADS=1", 1));
    CHECK(passes("CONCORD_THREADS=3", 3));
    CHECK_FALSE(passes("CONCORD_THREADS=3", 2));

    cpu_set_t all, one;
    REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
    CHECK(passes("CONCORD_THREADS=", CPU_COUNT(&all)));
    CPU_ZERO(&one);
    int first = 0;
    while (!CPU_ISSET(first, &all))
        ++first;
    CPU_SET(first, &one);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK(passes("CONCORD_THREADS=", 1));
    CHECK(passes("CONCORD_THREADS=2", 2));
    CHECK(sched_setaffinity(0, sizeof all, &all) == 0);
}

namespace {
void no_work(const Group& /*group*/, u32* /*x*/) {}

std::shared_ptr<Kernel> kernel_named(Device& device, u64 number) {
    const std::string name = "kernel_" + std::to_string(number);
    return device.kernel({.entry = name, .host = host_kernel<&no_work>()});
}
}  // namespace

TEST_CASE("a device keeps the kernels that were used last") {
    const auto device = open_device("tbb");
    std::vector<std::weak_ptr<Kernel>> kernels;
    const auto alive = [&] {
        return std::count_if(kernels.begin(), kernels.end(),
                             [](const auto& kernel) { return !kernel.expired(); });
    };
    constexpr u64 most = detail::max_kernels;
    for (u64 i = 0; i < 2 * most; ++i) {
        kernels.push_back(kernel_named(*device, i));
        CHECK(kernel_named(*device, 0) == kernels[0].lock());
        if (i < most / 2) CHECK(alive() == static_cast<std::ptrdiff_t>(i + 1));
    }
    CHECK(alive() <= static_cast<std::ptrdiff_t>(most));
    CHECK(alive() > static_cast<std::ptrdiff_t>(most / 2));
    CHECK(!kernels[0].expired());
    CHECK(kernels[1].expired());
    CHECK(kernel_named(*device, 1)->name() == "kernel_1");
}

TEST_CASE("threads use more kernels than a device keeps") {
    const auto device = open_device("tbb");
    std::vector<std::thread> threads;
    for (u64 t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            const auto stream = device->create_stream();
            const Array<u32> x(*stream, 1);
            for (u64 i = 0; i < 2 * detail::max_kernels; ++i) {
                const u64 number = (i * (t + 1)) % (3 * detail::max_kernels / 2);
                const auto kernel = kernel_named(*device, number);
                CHECK(kernel->name() == "kernel_" + std::to_string(number));
                launch(*stream, *kernel, LaunchShape::linear(1, 1), x);
            }
            stream->synchronize();
        });
    }
    for (std::thread& thread : threads)
        thread.join();
}

TEST_CASE("a host kernel with other parameters at the same place is another kernel") {
    const auto device = open_device("tbb");
    std::array<HostKernel::Parameter, 1> parameters = {
        {{.bytes = sizeof(void*), .pointer = true, .is_class = false, .is_rest = false, .type = Type::u32}}};
    HostKernel host = host_kernel<&no_work>();
    host.parameters = parameters;
    const KernelSpec spec{.entry = "changed", .host = host};
    const auto first = device->kernel(spec);
    CHECK(device->kernel(spec) == first);
    parameters[0].type = Type::f64;  // as after dlclose() and dlopen() of another library
    CHECK(device->kernel(spec) != first);
    CHECK(device->kernel(spec)->parameters()[0].type == Type::f64);
}

TEST_SUITE_END();
