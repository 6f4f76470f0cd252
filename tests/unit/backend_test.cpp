// The contract of devices, memory and kernels. Written once, run for every device.
#include "devices.hpp"

#include <concord/internal/builtin_operator.hpp>

#include <algorithm>
#include <thread>

using namespace concord;
using test::random_values;
using test::throws;

CONCORD_STRUCT(ScaleRecord, float x; int y;)

namespace {

// A user's kernel in three languages: out[i] = in[i] * factor + local[i % 4] over groups of GROUP work-items.
const KernelSource scale_source{
    "scale",
    {{"scale.cu",
      "extern \"C\" __global__ void scale(const T* in, T* out, u64 n, T factor) {\n"
      "    extern __shared__ T local_values[];\n"
      "    if (threadIdx.x < 4) local_values[threadIdx.x] = T(threadIdx.x);\n"
      "    __syncthreads();\n"
      "    const u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;\n"
      "    if (i < n) out[i] = in[i] * factor + local_values[i % 4];\n"
      "}\n"}},
    {{"scale.cl",
      "__kernel void scale(__global const T* in, ulong in_at, __global T* out, ulong out_at, u64 n, T "
      "factor,\n"
      "                    __local T* local_values) {\n"
      "    if (get_local_id(0) < 4) local_values[get_local_id(0)] = (T)get_local_id(0);\n"
      "    barrier(CLK_LOCAL_MEM_FENCE);\n"
      "    const u64 i = get_global_id(0);\n"
      "    if (i < n) out[out_at + i] = in[in_at + i] * factor + local_values[i % 4];\n"
      "}\n"}}};

constexpr u64 scale_group_size = 64;

template <class T>
void scale_group(const Group& group, const T* in, T* out, u64 n, T factor) {
    T* local = reinterpret_cast<T*>(group.local);
    for (u64 lane = 0; lane < 4; ++lane)
        local[lane] = T(lane);
    const u64 begin = group.x * scale_group_size, end = std::min(n, begin + scale_group_size);
    for (u64 i = begin; i < end; ++i)
        out[i] = detail::ops::Sum{}(detail::ops::Product{}(in[i], factor), local[i % 4]);  // integers wrap
}

template <class T>
KernelSpec scale_spec() {
    KernelSpec spec;
    spec.source = &scale_source;
    spec.entry = "scale";
    spec.constants = {{"T", type_of<T>()}};
    spec.host = host_kernel<&scale_group<T>>();
    return spec;
}

template <class T>
void check_scale(Device& device, Stream& stream, u64 n) {
    const auto kernel = device.compile(scale_spec<T>());
    const auto values = random_values<T>(n + 3);
    const Array<T> in(stream, values), out(stream, n + 5);
    const T poison = T(77);
    stream.fill(*out.buffer(), 0, out.view().bytes(), &poison, sizeof poison);
    const u32 group_size = detail::group_size_of(device, scale_group_size);
    launch(stream, *kernel,
           LaunchShape::linear(detail::divide_up(n, scale_group_size), group_size, 4 * sizeof(T)),
           in.span().part(3, n), out.span().part(1, n), n, T(3));
    const auto got = out.to_host(stream);
    CHECK(got[0] == poison);
    CHECK(got[n + 1] == poison);
    u64 wrong = 0;
    for (u64 i = 0; i < n; ++i)
        wrong += got[i + 1] != detail::ops::Sum{}(detail::ops::Product{}(values[i + 3], T(3)), T(i % 4));
    CHECK(wrong == 0);
}

}  // namespace

TEST_SUITE_BEGIN("device");

DEVICE_TEST(a_device_describes_itself) {
    CHECK_FALSE(device.info().name.empty());
    CHECK_FALSE(device.info().driver.empty());
    CHECK(open_device(device.info().selector).get() == &device);
    const DeviceTraits& traits = device.traits();
    CHECK(traits.units >= 1);
    CHECK(traits.max_group_size >= 1);
    CHECK(traits.global_memory > 0);
    CHECK(traits.cache > 0);
    CHECK(traits.runs);
    CHECK(device.properties().size() >= 10);
}

STREAM_TEST(memory_belongs_to_its_device) {
    for (u64 bytes : {u64{0}, u64{1}, u64{511}, u64{4096}, u64{3} << 20}) {
        const auto buffer = device.allocate(bytes);
        CHECK(buffer->size() == bytes);
        CHECK(buffer->capacity() >= bytes);
        CHECK(&buffer->device() == &device);
        CHECK((buffer->host_pointer() != nullptr) == device.traits().shares_host_memory);
        const auto values = random_values<u8>(bytes);
        std::vector<u8> got(bytes);
        stream.write(*buffer, 0, values.data(), bytes);
        stream.read(got.data(), *buffer, 0, bytes);
        stream.synchronize();
        CHECK(got == values);
    }
}

STREAM_TEST(host_buffers_are_for_copies) {
    const auto host = device.allocate_host(1000), other = device.allocate_host(1000);
    const auto buffer = device.allocate(1000);
    REQUIRE(host->host_pointer() != nullptr);
    const auto values = random_values<u8>(1000);
    std::memcpy(host->host_pointer(), values.data(), 1000);
    stream.copy(*buffer, 100, *host, 50, 900);
    stream.copy(*other, 0, *buffer, 100, 900);
    stream.synchronize();
    CHECK(std::memcmp(other->host_pointer(), values.data() + 50, 900) == 0);
    CHECK(throws(ErrorCode::invalid_argument, "host buffer", [&] {
        const u8 zero = 0;
        stream.fill(*host, 0, 10, &zero, 1);
    }));
    CHECK(throws(ErrorCode::invalid_argument, "host buffer",
                 [&] { stream.write(*host, 0, values.data(), 10); }));
    CHECK(throws(ErrorCode::invalid_argument, "host buffer", [&] {
        const auto kernel = device.compile(scale_spec<float>());
        launch(stream, *kernel, LaunchShape{}, Span<float>(*host, 0, 1), Span<float>(*buffer, 0, 1), u64{1},
               1.0f);
    }));
}

DEVICE_TEST(released_memory_is_reused) {
    device.trim();
    const auto stream = device.create_stream();
    const u64 before = device.memory_use().in_use;
    {
        const auto first = stream->scratch(5 << 20);
        CHECK(device.memory_use().in_use > before);
    }
    CHECK(device.memory_use().in_use == before);
    const u64 cached = device.memory_use().cached;
    CHECK(cached >= 5 << 20);
    {
        const auto again = stream->scratch(5 << 20);
        CHECK(device.memory_use().cached == cached - again->capacity());
    }
    device.trim();
    CHECK(device.memory_use().cached == 0);
}

// The pool may reuse a buffer with pending work of one stream for that stream only.
DEVICE_TEST(memory_in_use_by_one_stream_is_not_given_to_another) {
    device.trim();
    const auto busy = device.create_stream(), other = device.create_stream();
    constexpr u64 bytes = u64{7} << 20;
    std::atomic<bool> release = false;
    void* const held = [&] {
        const auto buffer = busy->scratch(bytes);
        busy->callback([&] {
            while (!release)
                std::this_thread::yield();
        });
        const u8 value = 1;
        busy->fill(*buffer, 0, bytes, &value, 1);
        return static_cast<void*>(buffer.get());
    }();
    {
        const auto elsewhere = other->scratch(bytes);
        CHECK(elsewhere.get() != held);
    }
    {
        const auto same = busy->scratch(bytes);
        CHECK(same.get() == held);
    }
    release = true;
    busy->synchronize();
    const auto first = other->scratch(bytes), second = other->scratch(bytes);
    CHECK((first.get() == held || second.get() == held));
}

STREAM_TEST(out_of_memory_is_an_error_and_the_next_call_works) {
    CHECK(throws(ErrorCode::out_of_memory, "bytes", [&] { (void)device.allocate(u64{1} << 55); }));
    CHECK(throws(ErrorCode::out_of_memory, "bytes", [&] { (void)device.allocate(~u64{0} - 5); }));
    check_scale<float>(device, stream, 1000);
}

STREAM_TEST(kernels_take_offsets_values_and_local_memory) {
    for (u64 n : {1, 63, 64, 65, 100000}) {
        check_scale<float>(device, stream, n);
        check_scale<i32>(device, stream, n);
        check_scale<u8>(device, stream, n);
        if (device.traits().fp64) check_scale<double>(device, stream, n);
    }
}

DEVICE_TEST(a_kernel_is_compiled_once_per_specification) {
    const auto first = device.kernel(scale_spec<float>());
    CHECK(first->name() == "scale");
    CHECK(&first->device() == &device);
    // Equal content at other addresses.
    CHECK(device.kernel(scale_spec<float>()) == first);
    const KernelSource copy = scale_source;
    const std::string entry = "scale", type = "f32";
    KernelSpec same = scale_spec<float>();
    same.source = &copy;
    same.entry = entry;
    CHECK(device.kernel(same) == first);
    CHECK(device.kernel(scale_spec<int>()) != first);
}

DEVICE_TEST(every_part_of_a_specification_distinguishes_a_kernel) {
    REQUIRES(device.traits().launch != LaunchModel::host, test::needs::compiler);
    const auto first = device.kernel(scale_spec<float>());
    const auto differs = [&](auto change) {
        KernelSpec spec = scale_spec<float>();
        change(spec);
        return device.kernel(spec) != first && device.kernel(spec) == device.kernel(spec);
    };
    CHECK(differs([](KernelSpec& spec) { spec.constants.push_back({"UNUSED", 1}); }));
    CHECK(differs([](KernelSpec& spec) { spec.constants.push_back({"UNUSED", 2}); }));
    CHECK(differs([](KernelSpec& spec) { spec.constants.push_back({"UNUSED", "a"}); }));
    CHECK(differs([](KernelSpec& spec) { spec.max_group_size = 32; }));
    const Operator plus = operator_from_text("float f(float x, float y) { return x + y; }"),
                   minus = operator_from_text("float f(float x, float y) { return x - y; }");
    CHECK(differs([&](KernelSpec& spec) { spec.op = &plus; }));
    KernelSpec with_plus = scale_spec<float>(), with_minus = scale_spec<float>();
    with_plus.op = &plus;
    with_minus.op = &minus;
    CHECK(device.kernel(with_plus) != device.kernel(with_minus));
    // A different source at the same address is distinguished.
    std::optional<KernelSource> source(scale_source);
    KernelSpec moved = scale_spec<float>();
    moved.source = &*source;
    CHECK(device.kernel(moved) == first);
    std::vector<SourceFile> cuda = scale_source.cuda(), opencl = scale_source.opencl();
    cuda.back().line += 1;
    opencl.back().line += 1;
    source.emplace(scale_source.name(), cuda, opencl);
    CHECK(device.kernel(moved) != first);
}

DEVICE_TEST(a_kernel_with_other_constants_is_another_kernel) {
    static const KernelSource source{
        "write_value",
        {{"write_value.cu", "extern \"C\" __global__ void write_value(u32* out) { out[0] = VALUE; }\n"}},
        {{"write_value.cl",
          "__kernel void write_value(__global u32* out, ulong at) { out[at] = VALUE; }\n"}}};
    REQUIRES(device.traits().launch != LaunchModel::host, test::needs::compiler);
    const auto stream = device.create_stream();
    const Array<u32> out(*stream, 1);
    for (const u32 value : {1, 2, 1, 3}) {
        const auto kernel =
            device.kernel({.source = &source, .entry = "write_value", .constants = {{"VALUE", value}}});
        launch(*stream, *kernel, {}, out);
        CHECK(out.to_host(*stream)[0] == value);
    }
}

DEVICE_TEST(a_specification_limits_the_number_of_constants) {
    KernelSpec spec;
    for (std::size_t i = 0; i < Constants::max_count; ++i)
        spec.constants.push_back({"N", i});
    CHECK(throws(ErrorCode::invalid_argument, "LAST", [&] { spec.constants.push_back({"LAST", 0}); }));
    const KernelSpec copy = spec;
    CHECK(copy.constants.end() - copy.constants.begin() == 32);
    CHECK(Constant("A", -1).value() == "-1");
    CHECK(Constant("A", ~u64{0}).value() == "18446744073709551615");
    CHECK(Constant("A", true).value() == "1");
    CHECK(Constant("A", Type::f32).value() == "f32");
    CHECK(Constant("A", "b c").value() == "b c");
    const std::string value = "b c", name = "A";
    CHECK(Constant(name, value).value() == "b c");
    CHECK(Constant(name, value).name() == "A");
    // Views of temporary strings would dangle.
    static_assert(!std::is_constructible_v<Constant, const char*, std::string>);
    static_assert(!std::is_constructible_v<Constant, std::string, int>);
    static_assert(!std::is_assignable_v<decltype((KernelSpec{}.entry)), std::string>);
    static_assert(std::is_assignable_v<decltype((KernelSpec{}.entry)), const std::string&>);
    static_assert(!std::is_convertible_v<std::string, decltype(SourceFile{}.text)>);
}

DEVICE_TEST(compile_errors_name_file_and_line) {
    REQUIRES(device.traits().launch != LaunchModel::host, test::needs::compiler);
    static const KernelSource bad{
        "bad",
        {{"bad.cu", "\nextern \"C\" __global__ void k(f32* x) {\n    x[0] = nonsense;\n}\n"}},
        {{"bad.cl", "\n__kernel void k(__global f32* x, ulong x_at) {\n    x[0] = nonsense;\n}\n"}}};
    KernelSpec spec;
    spec.source = &bad;
    spec.entry = "k";
    CHECK(throws(ErrorCode::compile_failed, "nonsense", [&] { (void)device.compile(spec); }));
    const std::string file = device.traits().dialect == Dialect::cuda ? "bad.cu(3)" : "bad.cl:3";
    CHECK(throws(ErrorCode::compile_failed, file, [&] { (void)device.compile(spec); }));
    const auto stream = device.create_stream();
    check_scale<float>(device, *stream, 100);
}

DEVICE_TEST(a_kernel_without_a_source_in_this_language_is_unsupported) {
    static const KernelSource none{"none", {}, {}};
    KernelSpec spec;
    spec.source = &none;
    spec.entry = "k";
    CHECK(throws(ErrorCode::unsupported, "no source", [&] { (void)device.compile(spec); }));
}

STREAM_TEST(launches_beyond_the_limits_are_refused) {
    const auto kernel = device.compile(scale_spec<float>());
    const Array<float> x(stream, 64);
    auto with = [&](const LaunchShape& shape) { launch(stream, *kernel, shape, x, x, u64{64}, 1.0f); };
    CHECK(throws(ErrorCode::invalid_argument, "work-items", [&] { with({.group_size_x = 0}); }));
    CHECK(
        throws(ErrorCode::invalid_argument, "", [&] { with({.group_size_x = 1 << 20, .local_bytes = 16}); }));
    CHECK(throws(ErrorCode::invalid_argument, "", [&] { with({.local_bytes = ~u64{0}}); }));
    CHECK(throws(ErrorCode::invalid_argument, "", [&] { launch(stream, *kernel, {.local_bytes = 16}, x); }));
    CHECK(throws(ErrorCode::invalid_argument, "without a buffer",
                 [&] { launch(stream, *kernel, {.local_bytes = 16}, Span<float>(), x, u64{64}, 1.0f); }));
    CHECK_NOTHROW(with({.groups_x = 0}));
    CHECK(throws(ErrorCode::invalid_argument, "multiple", [&] {
        const KernelArgument odd{.buffer = x.buffer().get(), .offset = 2, .element_size = 4};
        stream.launch(*kernel, {}, std::span(&odd, 1));
    }));
    CHECK_NOTHROW(stream.synchronize());
}

STREAM_TEST(types_of_arguments_are_compared) {
    const auto kernel = device.compile(scale_spec<float>());
    const Array<float> x(stream, 64);
    const Array<i32> integers(stream, 64);
    const Array<u32> bits(stream, 64);
    const Array<double> doubles(stream, 64);
    // The backend checks arguments without a type.
    const f32 one = 1;
    const u64 n = 64;
    const KernelArgument untyped[] = {{.buffer = integers.buffer().get(), .element_size = 4},
                                      {.buffer = integers.buffer().get(), .element_size = 4},
                                      {.value = &n, .size = sizeof n},
                                      {.value = &one, .size = sizeof one}};
    const LaunchShape none{.groups_x = 0, .local_bytes = 16};
    CHECK_NOTHROW(stream.launch(*kernel, none, untyped));
    REQUIRES(!kernel->parameters().empty(), test::needs::parameter_types);
    auto with = [&](const auto& in, auto count, auto factor) {
        launch(stream, *kernel, none, in, x, count, factor);
    };
    CHECK_NOTHROW(with(x, n, 1.0f));
    const auto wrong = ErrorCode::invalid_argument;
    CHECK(throws(wrong, "argument 0 of scale: expected elements of f32, got elements of f64",
                 [&] { with(doubles, n, 1.0f); }));
    CHECK(throws(wrong, "expected elements of f32, got elements of i32", [&] { with(integers, n, 1.0f); }));
    CHECK(throws(wrong, "expected elements of f32, got elements of u32", [&] { with(bits, n, 1.0f); }));
    const Array<ScaleRecord> records(stream, 4);
    CHECK(throws(wrong, "argument 0 of scale: expected elements of f32, got elements of ScaleRecord",
                 [&] { with(records, n, 1.0f); }));
    CHECK(throws(wrong, "argument 3 of scale: expected a value of f32, got a value of i32",
                 [&] { with(x, n, 1); }));
    CHECK(throws(wrong, "argument 2 of scale: expected a value of u64, got a value of i64",
                 [&] { with(x, i64{64}, 1.0f); }));
    // A kernel of unsigned elements accepts all elements of that size.
    const auto mover = device.compile(scale_spec<u32>());
    CHECK_NOTHROW(launch(stream, *mover, none, x, integers, n, 1U));
    CHECK(throws(wrong, "expected elements of u32, got elements of f64",
                 [&] { launch(stream, *mover, none, doubles, bits, n, 1U); }));
    CHECK(throws(wrong, "expected a value of u32, got a value of f32",
                 [&] { launch(stream, *mover, none, x, bits, n, 1.0f); }));
}

STREAM_TEST(launches_name_the_slip_in_an_argument_list) {
    const auto kernel = device.compile(scale_spec<f32>());
    REQUIRES(!kernel->parameters().empty(), test::needs::parameter_types);
    const Array<f32> x(stream, 64), y(stream, 64);
    const u64 n = 64;
    const LaunchShape none{.groups_x = 0};
    const auto refused = [&](const std::string& words, const auto&... arguments) {
        CHECK(
            throws(ErrorCode::invalid_argument, words, [&] { launch(stream, *kernel, none, arguments...); }));
    };
    const std::string takes = "; scale takes (buffer of f32, buffer of f32, u64, f32), got ";
    refused("argument 2 of scale is missing: u64" + takes + "(buffer of f32, buffer of f32, f32)", x, y,
            1.0f);
    refused("argument 0 of scale is missing: buffer of f32", y, n, 1.0f);
    refused("argument 2 of scale is surplus: u64" + takes, x, y, n, n, 1.0f);
    refused("arguments 2 and 3 of scale are swapped", x, y, 1.0f, n);
    refused("arguments 1 and 2 of scale are swapped", x, n, y, 1.0f);
    refused("wrong number of arguments of scale, got 1; expected 4", x);
    refused("argument 0 of scale: expected elements of f32, got a value of u64", n, y, n, 1.0f);
}

DEVICE_TEST(opencl_parameters_are_known_only_if_an_offset_follows_each_buffer) {
    REQUIRES(device.traits().dialect == Dialect::opencl, test::needs::opencl);
    static const KernelSource source{
        "offsets",
        {},
        {{"offsets.cl",
          "__kernel void with_offset(__global u32* out, ulong at, u32 x) { out[at] = x; }\n"
          "__kernel void without_offset(__global u32* out, u32 x, u32 y) { out[0] = x + y; }\n"
          "__kernel void at_the_end(u32 x, __global u32* out) { out[0] = x; }\n"}}};
    const auto parameters = [&](const char* entry) {
        return device.compile({.source = &source, .entry = entry})->parameters();
    };
    const auto known = parameters("with_offset");
    if (!known.empty()) {  // drivers may report no parameters at all
        REQUIRE(known.size() == 2);
        CHECK(known[0].is_buffer);
        CHECK(known[0].type == Type::u32);
        CHECK_FALSE(known[1].is_buffer);
    }
    CHECK(parameters("without_offset").empty());
    CHECK(parameters("at_the_end").empty());
}

DEVICE_TEST(threads_may_compile_and_launch_at_once) {
    std::vector<std::jthread> threads;
    std::atomic<int> failures = 0;
    for (u32 t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            try {
                const auto stream = device.create_stream();
                const auto values = random_values<float>(10000, t);
                for (int round = 0; round < 5; ++round) {
                    const Array<float> in(*stream, values), out(*stream, 10000);
                    map(*stream, in, out, MapFunction::negate);
                    const auto got = out.to_host(*stream);
                    for (u64 i = 0; i < got.size(); ++i)
                        failures += got[i] != -values[i];
                }
            } catch (const std::exception&) {
                ++failures;
            }
        });
    }
    threads.clear();
    CHECK(failures == 0);
}

STREAM_TEST(objects_of_two_devices_do_not_mix) {
    std::vector<std::shared_ptr<Device>> others;
    for (const std::string& selector : device_selectors()) {
        if (auto other = open_device(selector); other.get() != &device) others.push_back(std::move(other));
    }
    REQUIRES(!others.empty(), test::needs::another_device);
    for (const auto& other : others) {
        const Array<float> mine(device, 10), theirs(*other, 10);
        const std::string& both = other->info().selector;
        CHECK(throws(ErrorCode::wrong_device, both,
                     [&] { stream.copy(*mine.buffer(), 0, *theirs.buffer(), 0, 40); }));
        CHECK(throws(ErrorCode::wrong_device, both, [&] { map(stream, mine, theirs, MapFunction::copy); }));
        CHECK(throws(ErrorCode::wrong_device, device.info().selector,
                     [&] { add(stream, mine, mine, theirs); }));
        CHECK(throws(ErrorCode::wrong_device, both,
                     [&] { (void)device.allocate(10, other->create_stream().get()); }));
        CHECK(throws(ErrorCode::wrong_device, both, [&] { stream.record(*other->create_event()); }));
        CHECK(throws(ErrorCode::wrong_device, "",
                     [&] { (void)device.create_event()->milliseconds_since(*other->create_event()); }));
    }
}

TEST_SUITE_END();
