// Host kernels of scan with the built-in operators: one set of kernels for elements of a size, which take the operator
// as a value.

#include "scan_block_host.hpp"
#include "scan_variants.hpp"

#include <concord/internal/builtin_operator.hpp>
#include <concord/scan_axes.hpp>

namespace concord::detail {
namespace host {
namespace {

// Calls f with the operator on vectors, the type of their elements and its conversion; on floats only if any order has
// the same result.
template <class T, class F>
[[gnu::always_inline]] inline void visit_lanes(const SelectedOp& op, const F& f) {
    using Key = std::make_signed_t<BitsOf<T>>;
    const Key max_flips = op.op == ReduceOp::max ? Key{-1} : Key{0};
    if constexpr (std::is_floating_point_v<T>) {
        f.template operator()<LeastLanes, Key>(FloatKey<Key>{max_flips});
    } else if (op.op == ReduceOp::sum) {
        f.template operator()<AddLanes, T>(SameKey{});
    } else if (op.op == ReduceOp::product) {
        f.template operator()<MultiplyLanes, T>(SameKey{});
    } else {
        const Key sign_flips = op.is_signed ? Key{0} : std::numeric_limits<Key>::min();
        f.template operator()<LeastLanes, Key>(IntegerKey<Key>{static_cast<Key>(sign_flips ^ max_flips)});
    }
}

// The phases of scan_host.hpp, in vectors of at most `bytes` bytes.
template <class T, int bytes>
[[gnu::always_inline]] inline void builtin_upsweep(const Group& group, const T* in, u64 length,
                                                   ScanWork<T>* work, T* nodes, T identity,
                                                   const SelectedOp op) {
    if constexpr (std::is_floating_point_v<T>) {
        if (op.op == ReduceOp::sum) return scan_upsweep(group, in, length, work, nodes, identity, ops::Sum{});
        if (op.op == ReduceOp::product)
            return scan_upsweep(group, in, length, work, nodes, identity, ops::Product{});
    }
    visit_lanes<T>(
        op, [&]<class Lanes, class E>(const auto& key) __attribute__((always_inline)) {
            for (u64 i = 0; i < scan_fan; ++i) {
                const u64 first = i * scan_node;
                nodes[i] = first < length ? total_in_any_order<E, bytes, Lanes>(
                                                in + first, std::min(scan_node, length - first), key)
                                          : identity;
            }
        });
}

template <class T, int bytes>
[[gnu::always_inline]] inline void builtin_downsweep(const Group& group, const T* in, T* out, u64 length,
                                                     u32 exclusive, u32 non_temporal, ScanWork<T>* work,
                                                     const T* before_nodes, T identity, const SelectedOp op) {
    if constexpr (std::is_floating_point_v<T>) {
        auto tree = [&]<class Lanes>() __attribute__((always_inline)) {
            if constexpr (bytes <= 16) {
                return scan_downsweep(group, in, out, length, exclusive, non_temporal, work, before_nodes,
                                      identity, typename Lanes::Scalar{});
            } else {
                auto blocks = [](const T* from, T* to, const T* before, u64 count, bool excludes)
                    __attribute__((always_inline)) {
                    scan_blocks_by<T, bytes, Lanes>(from, to, before, count, excludes);
                };
                return scan_downsweep_by(in, out, length, exclusive != 0, non_temporal != 0, work,
                                         before_nodes, identity, blocks);
            }
        };
        if (op.op == ReduceOp::sum) return tree.template operator()<AddLanes>();
        if (op.op == ReduceOp::product) return tree.template operator()<MultiplyLanes>();
    }
    visit_lanes<T>(
        op, [&]<class Lanes, class E>(const auto& key) __attribute__((always_inline)) {
            scan_in_any_order<E, bytes, Lanes>(in, out, length, exclusive != 0, non_temporal != 0,
                                               work->piece, before_nodes[0], key);
        });
}

template <class T>
void builtin_serial(const Group& group, const T* in, T* out, u64 n, u32 exclusive, T identity,
                    const SelectedOp op) {
    if (op.op == ReduceOp::sum) return scan_serial(group, in, out, n, exclusive, identity, ops::Sum{});
    if (op.op == ReduceOp::product)
        return scan_serial(group, in, out, n, exclusive, identity, ops::Product{});
    scan_serial(group, in, out, n, exclusive, identity, op);
}

// One version for the vectors of each instruction set.
template <class T, auto of_16, auto of_32, auto of_64>
constexpr HostKernel kernel() {
    return with_version<of_64, HostIsa::avx512>(
        with_version<of_32, HostIsa::avx2>(plain_host_kernel<of_16>()));
}
template <class T>
inline constexpr ScanPhases builtin_phases{
    .size = sizeof(T),
    .upsweep = kernel<T, &builtin_upsweep<T, 16>, &builtin_upsweep<T, 32>, &builtin_upsweep<T, 64>>(),
    .downsweep = kernel<T, &builtin_downsweep<T, 16>, &builtin_downsweep<T, 32>, &builtin_downsweep<T, 64>>(),
    .sixteen = plain_host_kernel<&scan_sixteen<T, SelectedOp>>()};

template <class T>
constexpr ScanHost builtin_kernels{
    .serial = plain_host_kernel<&builtin_serial<T>>(),
    .partitioned = dispatching_host_kernel<&scan_partitioned<builtin_phases<T>, T, SelectedOp>>(),
    .totals = dispatching_host_kernel<&scan_totals<builtin_phases<T>, T, SelectedOp>>(),
    .segments = dispatching_host_kernel<&scan_segments<builtin_phases<T>, T, SelectedOp>>(),
    .phases = &builtin_phases<T>};

}  // namespace
}  // namespace host

const HostKernel& scan_rows_builtin(Type type) {
    return visit_type(type, [](auto tag) -> const HostKernel& {
        using T = Wrapping<typename decltype(tag)::type>;
        static constexpr HostKernel kernel =
            dispatching_host_kernel<&host::scan_rows<host::builtin_phases<T>, T, SelectedOp>>();
        return kernel;
    });
}
const ScanHost& scan_builtin(Type type) {
    return visit_type(type, [](auto tag) -> const ScanHost& {
        return host::builtin_kernels<Wrapping<typename decltype(tag)::type>>;
    });
}

}  // namespace concord::detail
