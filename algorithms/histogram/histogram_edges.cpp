// Bins between given edges. A kernel finds the bin of each sample by binary search.

#include "histogram_variants.hpp"

#include <concord/index_kernel.hpp>

#include <algorithm>
#include <cstring>

namespace concord {

namespace {

// Edges of small integers are compared as i32, which vectorises.
template <class T>
using Compared = std::conditional_t<sizeof(T) < 4, i32, T>;

constexpr u64 searches = 32;  // samples per work-item, as in the kernel below

// ids[j]: the bin of sample j between count + 1 edges, or none. A work-item finds the bins of 32 samples of n together,
// which hides the latency of a search: samples i * first + j * next. A search has no branches, which would be
// unpredictable. E: type of the edges and of the comparison.
#define CONCORD_EDGE_BINS(NAME, T, E)                                                                      \
    CONCORD_KERNEL(                                                                                        \
        NAME, (u64 i, const T* in, const E* edges, u32* ids, u32 count, u64 n, u64 first, u64 next),       \
        E x[32];                                                                                           \
        u32 low[32]; for (u32 j = 0; j < 32; ++j) {                                                        \
            const u64 at = i * first + j * next;                                                           \
            x[j] = (E)in[at < n ? at : n - 1];                                                             \
            low[j] = 0;                                                                                    \
        } u32 length = count + 1;                                                                          \
        while (length > 1) {                                                                               \
            const u32 part = length / 2;                                                                   \
            for (u32 j = 0; j < 32; ++j)                                                                   \
                low[j] = low[j] + (edges[low[j] + part - 1] <= x[j] ? part : 0);                           \
            length = length - part;                                                                        \
        } for (u32 j = 0; j < 32; ++j) {                                                                   \
            const u64 at = i * first + j * next;                                                           \
            const u32 bin = low[j] + (edges[low[j]] <= x[j] ? 1 : 0);                                      \
            if (at < n) ids[at] = bin <= count ? bin - 1 : edges[count] == x[j] ? count - 1 : 0xffffffffu; \
        })                                                                                                 \
    constexpr auto kernel_of(detail::TypeTag<T>, detail::TypeTag<E>) {                                     \
        return NAME;                                                                                       \
    }
#define CONCORD_EDGE_BINS_OF_INTEGERS(T, E)      \
    CONCORD_EDGE_BINS(histogram_edges_##T, T, E) \
    CONCORD_EDGE_BINS(histogram_f64_edges_##T, T, f64)
CONCORD_EDGE_BINS_OF_INTEGERS(i8, i32)
CONCORD_EDGE_BINS_OF_INTEGERS(i16, i32)
CONCORD_EDGE_BINS_OF_INTEGERS(i32, i32)
CONCORD_EDGE_BINS_OF_INTEGERS(i64, i64)
CONCORD_EDGE_BINS_OF_INTEGERS(u8, i32)
CONCORD_EDGE_BINS_OF_INTEGERS(u16, i32)
CONCORD_EDGE_BINS_OF_INTEGERS(u32, u32)
CONCORD_EDGE_BINS_OF_INTEGERS(u64, u64)
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
    detail::visit_type(type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        const auto* e = static_cast<const T*>(all);
        for (u64 i = 0; i + 1 < count; ++i) {
            if (e[i] <= e[i + 1]) continue;
            refuse("edges must ascend, got " + std::to_string(e[i]) + " and " + std::to_string(e[i + 1]) +
                   " at index " + std::to_string(i) + "; pass sorted edges without NaN");
        }
        const std::vector<Compared<T>> compared(e, e + count);
        edges.bytes.resize(count * sizeof(Compared<T>));
        std::memcpy(edges.bytes.data(), compared.data(), edges.bytes.size());
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
        const auto run = [&]<class E>(TypeTag<E> compared) {
            // Neighbouring work-items of a group read neighbouring samples.
            const u64 items = divide_up(in.count, searches);
            const bool groups = stream.device().traits().launch == LaunchModel::groups;
            kernel_of(samples, compared)(stream, {items}, Span<const T>(in),
                                         Span<const E>(View{on_device.get(), 0, edges.count, type_of<E>()}),
                                         Span<u32>(found), static_cast<u32>(count), in.count,
                                         groups ? u64{1} : searches, groups ? items : u64{1});
        };
        if (in.count == 0) return;
        if constexpr (!std::is_same_v<T, f64>)
            if (edges.type == Type::f64) return run(TypeTag<f64>{});
        run(TypeTag<Compared<T>>{});
    });
    return {ids, found};
}

}  // namespace concord
