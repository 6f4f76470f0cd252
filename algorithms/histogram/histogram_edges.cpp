// Bins between given edges. A kernel finds the bin of each sample by binary search.

#include "histogram_variants.hpp"

#include <concord/index_kernel.hpp>

#include <algorithm>
#include <cstring>

namespace concord {

namespace {

// ids[i]: the bin of sample i between count + 1 edges, or none. The search has no branches, which would be
// unpredictable. E: type of the edges and of the comparison.
#define CONCORD_EDGE_BINS(NAME, T, E)                                                                       \
    CONCORD_KERNEL(                                                                                         \
        NAME, (u64 i, const T* in, const E* edges, u32* ids, u32 count), const E x = (E)in[i]; u32 low = 0; \
        u32 length = count + 1; while (length > 1) {                                                        \
            const u32 part = length / 2;                                                                    \
            low = low + part * (u32)(edges[low + part - 1] <= x);                                           \
            length = length - part;                                                                         \
        } low = low + (u32)(edges[low] <= x);                                                               \
        ids[i] = low <= count        ? low - 1                                                              \
                 : edges[count] == x ? count - 1                                                            \
                                     : 0xffffffffu;)                                                        \
    constexpr auto kernel_of(detail::TypeTag<T>, detail::TypeTag<E>) {                                      \
        return NAME;                                                                                        \
    }
#define CONCORD_EDGE_BINS_OF_INTEGERS(T)         \
    CONCORD_EDGE_BINS(histogram_edges_##T, T, T) \
    CONCORD_EDGE_BINS(histogram_f64_edges_##T, T, f64)
CONCORD_EDGE_BINS_OF_INTEGERS(i8)
CONCORD_EDGE_BINS_OF_INTEGERS(i16)
CONCORD_EDGE_BINS_OF_INTEGERS(i32)
CONCORD_EDGE_BINS_OF_INTEGERS(i64)
CONCORD_EDGE_BINS_OF_INTEGERS(u8)
CONCORD_EDGE_BINS_OF_INTEGERS(u16)
CONCORD_EDGE_BINS_OF_INTEGERS(u32)
CONCORD_EDGE_BINS_OF_INTEGERS(u64)
CONCORD_EDGE_BINS(histogram_edges_f32, f32, f32)
CONCORD_EDGE_BINS(histogram_f64_edges_f32, f32, f64)
CONCORD_EDGE_BINS(histogram_edges_f64, f64, f64)
#undef CONCORD_EDGE_BINS_OF_INTEGERS
#undef CONCORD_EDGE_BINS

[[noreturn]] void refuse(const std::string& why) {
    throw Error(ErrorCode::invalid_argument, "histogram", why);
}

}  // namespace

std::shared_ptr<const detail::HistogramEdges> HistogramBins::edges_of(Type type, const void* all, u64 count) {
    if (count < 2) refuse("edges: got " + std::to_string(count) + "; pass at least 2");
    if (count > detail::max_narrow_bins + 1)
        refuse("edges: supports at most 2^30 bins, got " + std::to_string(count - 1));
    detail::HistogramEdges edges{.type = type, .count = count, .bytes = {}};
    edges.bytes.resize(count * size_of(type));
    std::memcpy(edges.bytes.data(), all, edges.bytes.size());
    detail::visit_type(type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        const auto* e = static_cast<const T*>(all);
        for (u64 i = 0; i + 1 < count; ++i) {
            if (e[i] <= e[i + 1]) continue;
            refuse("edges must ascend, got " + std::to_string(e[i]) + " and " + std::to_string(e[i + 1]) +
                   " at index " + std::to_string(i) + "; pass sorted edges without NaN");
        }
    });
    return std::make_shared<const detail::HistogramEdges>(std::move(edges));
}

detail::FoundBins detail::find_bins(Stream& stream, const View& in, const HistogramEdges& edges, u64 count) {
    if (edges.count != count + 1)
        refuse("edges and counters must fit, got " + std::to_string(edges.count) + " edges and " +
               std::to_string(count) + " counters; pass one edge more than counters");
    if (edges.type != in.type && edges.type != Type::f64)
        refuse("edges must have the samples' type or f64, got " + std::string(name_of(edges.type)) + " for " +
               std::string(name_of(in.type)));
    if (is_storage(in.type)) refuse("edges: unsupported sample type, got " + std::string(name_of(in.type)));
    const u64 bytes = edges.bytes.size();
    const auto host = stream.device().allocate_host(bytes);
    std::memcpy(host->host_pointer(), edges.bytes.data(), bytes);
    const auto on_device = stream.scratch(bytes),
               ids = stream.scratch(std::max<u64>(1, in.count) * sizeof(u32));
    stream.copy(*on_device, 0, *host, 0, bytes);
    const View found{ids.get(), 0, in.count, Type::u32};
    visit_type(in.type, [&]<class T>(TypeTag<T> samples) {
        const auto run = [&]<class E>(TypeTag<E> tag) {
            kernel_of(samples, tag)(stream, {in.count}, Span<const T>(in),
                                    Span<const E>(View{on_device.get(), 0, edges.count, edges.type}),
                                    Span<u32>(found), static_cast<u32>(count));
        };
        if (in.count == 0) return;
        if constexpr (!std::is_same_v<T, f64>)
            if (edges.type == Type::f64) return run(TypeTag<f64>{});
        run(samples);
    });
    return {ids, found};
}

}  // namespace concord
