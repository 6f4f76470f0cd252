// Suites of the microbenchmarks. Each value of the varied parameter is a variant, so one reference verifies all of
// them.

#include "effects_host.hpp"
#include "study_sources.hpp"

#include <concord/device.hpp>
#include <concord/lab/input.hpp>
#include <concord/lab/kernel_test.hpp>
#include <concord/study/internal/study.hpp>

namespace concord {

namespace study {
namespace {

using lab::Comparison;
using lab::KernelCall;
using lab::KernelTest;
using lab::Pattern;
using lab::ReferenceCall;
using lab::suite_of;

// Enqueues one of the kernels with groups of `group_size` work-items. Each group processes `each` of the n elements.
template <class... A>
void enqueue(Stream& stream, const char* entry, const HostKernel& host, u64 n, u64 each, u32 group_size,
             const A&... arguments) {
    Device& device = stream.device();
    if (const detail::Support support = detail::supports_group(device, group_size); !support)
        throw Error(ErrorCode::unsupported, entry, support.text());
    const auto kernel = device.kernel({.source = &detail::kernel_sources::effects(),
                                       .entry = entry,
                                       .constants = {{"GROUP", group_size}},
                                       .host = host});
    const bool whole = device.traits().launch == LaunchModel::host;
    if (const i64 most = kernel->attributes().max_group_size; !whole && most >= 0 && most < i64{group_size})
        throw Error(ErrorCode::unsupported, entry,
                    "group size " + std::to_string(group_size) + " exceeds the kernel's limit of " +
                        std::to_string(most));
    launch(stream, *kernel, LaunchShape::linear((n + each - 1) / each, whole ? 1 : group_size), arguments...);
}

u64 same(u64 n) {
    return n;
}

// A test with n elements in and out, of one type.
KernelTest test_of(const char* name, const char* summary, Type type) {
    KernelTest test;
    test.name = name;
    test.summary = summary;
    test.inputs = {{type, same}};
    test.outputs = {{type, same}};
    return test;
}

void chain_reference(const ReferenceCall& call, u32 steps) {
    const auto in = call.in<f32>(0);
    const auto out = call.out<f32>(0);
    lab::parallel_pieces(call.n, u64{1} << 12, [&](u64 first, u64 count) {
        for (u64 i = first; i < first + count; ++i)
            out[i] = host::chain_of(in[i], steps);
    });
}

Suite chain_suite(const char* name, const char* summary, u32 steps, const std::vector<u32>& group_size) {
    KernelTest test = test_of(name, summary, Type::f32);
    for (const u32 l : group_size)
        test.variants.push_back({"group" + std::to_string(l), [=](Stream& stream, const KernelCall& call) {
                                     enqueue(stream, "chain", host_kernel<&host::chain>(), call.n, l, l,
                                             call.in[0], call.out[0], call.n, steps, l);
                                 }});
    test.reference = [steps](const ReferenceCall& call) { chain_reference(call, steps); };
    test.operations = [steps](u64 n) { return 2 * steps * n; };
    return suite_of(test);
}

Suite diverge_suite() {
    constexpr u32 steps = 256;
    KernelTest test = test_of("diverge", "work-items that take several branches", Type::f32);
    for (const bool between : {false, true}) {
        for (const u32 paths : {1, 2, 4, 8, 16, 32})
            test.variants.push_back({(between ? "between groups" : "within a group") + std::to_string(paths),
                                     [=](Stream& stream, const KernelCall& call) {
                                         enqueue(stream, "diverge", host_kernel<&host::diverge>(), call.n,
                                                 host::default_group_size, host::default_group_size,
                                                 call.in[0], call.out[0], call.n, steps, paths,
                                                 between ? host::default_group_size : u32{1});
                                     }});
    }
    test.reference = [](const ReferenceCall& call) { chain_reference(call, steps); };
    test.operations = [](u64 n) { return 2 * steps * n; };
    return suite_of(test);
}

Suite banks_suite() {
    KernelTest test = test_of("banks", "sums of a tile in local memory", Type::u32);
    test.outputs[0].count = [](u64 n) { return (n + 1023) / 1024 * host::default_group_size; };
    for (const u32 stride : {1, 2, 3, 4, 8, 16, 17, 32, 33})
        test.variants.push_back(
            {"stride" + std::to_string(stride), [=](Stream& stream, const KernelCall& call) {
                 enqueue(stream, "banks", host_kernel<&host::banks>(), call.n, 1024, host::default_group_size,
                         call.in[0], call.out[0], call.n, stride);
             }});
    test.reference = [](const ReferenceCall& call) {
        const auto in = call.in<u32>(0);
        const auto out = call.out<u32>(0);
        std::vector<u32> sums(out.size() / host::default_group_size);
        for (u64 i = 0; i < call.n; ++i)
            sums[i / 1024] += in[i];
        for (u64 i = 0; i < out.size(); ++i)
            out[i] = sums[i / host::default_group_size];
    };
    // Reads of local memory dominate the time.
    test.traffic = [](u64 n) { return (n + 1023) / 1024 * host::default_group_size * 1024 * sizeof(u32); };
    return suite_of(test);
}

Suite strided_suite() {
    KernelTest test = test_of("strided", "a copy with a stride between work-items", Type::f32);
    for (const u64 stride : {1, 2, 4, 8, 16, 32, 64})
        test.variants.push_back(
            {"stride" + std::to_string(stride), [=](Stream& stream, const KernelCall& call) {
                 enqueue(stream, "strided", host_kernel<&host::strided>(), call.n, host::default_group_size,
                         host::default_group_size, call.in[0], call.out[0], call.n, stride);
             }});
    test.reference = [](const ReferenceCall& call) {
        const auto in = call.in<f32>(0);
        const auto out = call.out<f32>(0);
        std::copy(in.begin(), in.end(), out.begin());
    };
    return suite_of(test);
}

// Integers, whose sums are exact, in both layouts.
f32 field_of(u64 i, u32 k) {
    return static_cast<f32>((i * 8 + k) * 2654435761U % 1000);
}

Suite fields_suite(u32 used) {
    KernelTest test;
    test.name = "fields" + std::to_string(used);
    test.summary = "fields of records";
    auto all = [](u64 n) { return 8 * n; };
    for (const bool soa : {false, true})
        test.inputs.push_back({Type::f32, all, {Pattern::random}, [soa](u64 n, u64 /*seed*/, void* to) {
                                   f32* const values = static_cast<f32*>(to);
                                   for (u64 i = 0; i < n; ++i) {
                                       for (u32 k = 0; k < 8; ++k)
                                           values[soa ? k * n + i : i * 8 + k] = field_of(i, k);
                                   }
                               }});
    test.outputs = {{Type::f32, same}};
    for (const bool soa : {false, true})
        test.variants.push_back({soa ? "structure of arrays" : "array of structures",
                                 [=](Stream& stream, const KernelCall& call) {
                                     enqueue(stream, "fields", host_kernel<&host::fields>(), call.n,
                                             host::default_group_size, host::default_group_size, call.in[0],
                                             call.in[1], call.out[0], call.n, used, u32{soa});
                                 }});
    test.reference = [used](const ReferenceCall& call) {
        const auto records = call.in<f32>(0);
        const auto out = call.out<f32>(0);
        for (u64 i = 0; i < call.n; ++i) {
            for (u32 k = 0; k < used; ++k)
                out[i] += records[i * 8 + k];
        }
    };
    test.traffic = [used](u64 n) { return n * (used + 1) * sizeof(f32); };
    return suite_of(test);
}

}  // namespace

std::vector<Suite> effect_suites() {
    const std::vector<u32> group_size = {8,  16, 31,  32,  33,  48,  63,  64,  65,
                                         96, 97, 128, 160, 192, 256, 384, 512, 1024};
    return {chain_suite("group_memory", "one fused multiply-add per element", 1, group_size),
            chain_suite("group_compute", "512 fused multiply-adds per element", 512, group_size),
            chain_suite("waves", "1024 fused multiply-adds per element", 1024, {256}),
            diverge_suite(),
            banks_suite(),
            strided_suite(),
            fields_suite(1),
            fields_suite(2),
            fields_suite(4),
            fields_suite(8)};
}

}  // namespace study
}  // namespace concord
