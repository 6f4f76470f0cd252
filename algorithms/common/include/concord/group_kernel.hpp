#pragma once
/// @file
/// Kernels of work-groups with local memory, written once for all backends.
///
///     CONCORD_GROUP_KERNEL(product, (16, 16), (f32* c, const f32* a, const f32* b, u64 n),
///         CONCORD_LOCAL(f32, left, [16][16]);
///         CONCORD_LOCAL(f32, right, [16][16]);
///         CONCORD_PRIVATE(f32, sum) = 0;
///         const u64 row = group.y * 16, column = group.x * 16;
///         for (u64 k = 0; k < n; k += 16) {
///             CONCORD_ITEMS((x, y)) {
///                 left[y][x] = a[(row + y) * n + k + x];
///                 right[y][x] = b[(k + y) * n + column + x];
///             }
///             CONCORD_ITEMS((x, y), sum) {
///                 for (u32 i = 0; i < 16; ++i) sum += left[y][i] * right[i][x];
///             }
///         }
///         CONCORD_ITEMS((x, y), sum) { c[(row + y) * n + column + x] = sum; })
///
///     product(stream, {n / 16, n / 16}, c, a, b, n);
///
/// A group runs the body once. Its phases run for each of the group's work-items; all work-items finish a phase before
/// the next one begins. GPUs run the work-items of a phase at the same time, with a barrier between phases. The CPU
/// runs a phase as a loop, which the compiler vectorises over x.
///
/// - CONCORD_ITEMS((x, y), values...) { } is a phase. The names of the work-item's index are as many as the group has
///   dimensions, x first. `values` are the private values that the phase uses, at most 24.
/// - CONCORD_STRIDED((i, begin, end), values...) { } is a phase in which the work-items share the u64 indices
///   [begin, end): work-item t takes begin + t, begin + t + group_size, ...
/// - CONCORD_LOCAL(type, name, extents) declares local memory, which the work-items of a group share.
/// - CONCORD_PRIVATE(type, name, extents) declares a value that each work-item has, and keeps between phases. `= value`
///   after it initialises all of them. A phase names those that it uses, and nothing else, after its index.
/// - `group` has the group's index and the number of groups: x, y, z, count_x, count_y, count_z, all u64.
///   group_size_x, group_size_y, group_size_z and their product group_size are constants.
///
/// Both declarations stand outside of all blocks. Code between phases is the same for all work-items: it sees
/// parameters, `group`, inputs and results of collectives, so that all work-items take the same branches. It cannot
/// name private values, local memory or buffers that the kernel may write, except to point into them. A phase cannot
/// assign to variables that are declared between phases, return, or break out of itself; `continue` ends it for a
/// work-item. The definition does not compile otherwise.
///
/// Within a phase, a work-item must not read what another one writes: check(kernel, groups, arguments...) finds such
/// races. Bodies can use what those of index kernels can, see index_kernel.hpp.
///
/// Collectives are called between phases. They combine private values of all work-items in the order of their linear
/// index (z * group_size_y + y) * group_size_x + x, as a tree over neighbours that depends on the group size alone: of
/// four values the sum is (x0 + x1) + (x2 + x3). So the results are bitwise identical on all devices.
///
/// - group_sum(v), group_min(v), group_max(v), group_reduce(v, f), with f a CONCORD_FUNCTION of two values
/// - group_any(v), group_all(v), group_count(v): bool, bool and u32, of private bool or integers
/// - group_broadcast(v, t): the value of work-item t
/// - group_inclusive_sum(out, v), group_exclusive_sum(out, v), group_inclusive_scan(out, v, f),
///   group_exclusive_scan(out, v, first, f): `out` is private. `first` is the value before the first one.
/// - group_shuffle(out, v, from): the value of the work-item whose linear index is the private u32 `from`
/// - sub_group_sum(out, v, n) and so on: the same within sub-groups of n consecutive work-items, n a power of two that
///   divides the group size. All write the private `out`, and `n` is the last argument. Indices count from the start of
///   the sub-group.

#include <concord/body_kernel.hpp>
#include <concord/detail/group_body.hpp>
#include <concord/extents.hpp>

#include <vector>

namespace concord {

/// In place of a group size: the device chooses it, and the group has one dimension. The order of collectives then
/// depends on the device.
inline constexpr u32 any_size = 0;

namespace detail {

// The local memory of a group that all supported devices have.
inline constexpr u64 max_local_bytes = 48 << 10;
// The most work-items of a group.
inline constexpr u64 max_group_items = 1024;
constexpr bool is_group_size(u32 rank, u64 x, u64 y, u64 z) {
    const bool fits =
        x <= max_group_items && y <= max_group_items && z <= max_group_items && x * y * z <= max_group_items;
    return fits && (x * y * z > 0 || (x == any_size && rank == 1));
}
constexpr GroupShape group_shape(u32 x) {
    return {1, x, 1, 1};
}
constexpr GroupShape group_shape(u32 x, u32 y) {
    return {2, x, y, 1};
}
constexpr GroupShape group_shape(u32 x, u32 y, u32 z) {
    return {3, x, y, z};
}

// The place of a work-item in its group.
struct GroupItem {
    u32 x, y, z, linear;
};

// The work-items of a group of the shape, in order, as loops that are vectorised over x.
template <GroupShape S>
struct ItemsInOrder {
    static constexpr u32 x = S.x == any_size ? host_group_size : S.x, y = S.y, z = S.z, size = x * y * z;
    static constexpr u32 count_x = x, count_y = y, count_z = z;  // of the loops
    [[gnu::always_inline]] constexpr GroupItem at(u32 i, u32 j, u32 k) const {
        return {i, j, k, (k * y + j) * x + i};
    }
    // The work-item of place i of a strip of n indices.
    [[gnu::always_inline]] constexpr GroupItem strip_item(u32 i, [[maybe_unused]] u32 n) const {
        return {i, 0, 0, i};
    }
};

// The same work-items in the order of a table, to find races.
template <GroupShape S>
struct ItemsByTable : ItemsInOrder<S> {
    using Base = ItemsInOrder<S>;
    static constexpr u32 count_x = Base::size, count_y = 1, count_z = 1;
    const u32* table;
    GroupItem at(u32 i, u32, u32) const {
        const u32 t = table[i];
        return {t % Base::x, t / Base::x % Base::y, t / Base::x / Base::y, t};
    }
    GroupItem strip_item(u32 i, u32 n) const {
        if (n < Base::size) return {n - 1 - i, 0, 0, n - 1 - i};
        return {table[i], 0, 0, table[i]};
    }
};

// A private value of each of N work-items.
template <class T, u32 N>
class Private {
  public:
    using Value = T;
    static constexpr u32 size = N;
    Private() = default;
    template <class V>
    [[gnu::always_inline]] Private(V value) {
        for (T& each : values_)
            each = static_cast<T>(value);
    }
    Private(const Private&) = delete;
    Private& operator=(const Private&) = delete;
    [[gnu::always_inline]] T& operator[](u32 item) { return values_[item]; }
    [[gnu::always_inline]] const T& operator[](u32 item) const { return values_[item]; }

  private:
    alignas(64) T values_[N];
};

// An array of each of N work-items. Neighbouring work-items have neighbouring elements.
template <class T, u32 M, u32 N>
class Private<T[M], N> {
  public:
    using Value = T[M];
    static constexpr u32 size = N;
    struct Elements {
        T* first;
        [[gnu::always_inline]] T& operator[](u64 i) const { return first[i * N]; }
    };
    Private() = default;
    Private(const Private&) = delete;
    Private& operator=(const Private&) = delete;
    [[gnu::always_inline]] Elements operator[](u32 item) { return {values_ + item}; }

  private:
    alignas(64) T values_[M * N];
};

// The operations of collectives.
struct CollectiveSum {
    template <class T>
    [[gnu::always_inline]] T operator()(T x, T y) const {
        if constexpr (std::is_floating_point_v<T>) {
            return Vocabulary::canonical(x + y);
        } else {
            using U = BitsOf<T>;  // wraps
            return static_cast<T>(static_cast<U>(x) + static_cast<U>(y));
        }
    }
};
struct CollectiveMin {
    template <class T>
    [[gnu::always_inline]] T operator()(T x, T y) const {
        return (Vocabulary::min)(x, y);
    }
};
struct CollectiveMax {
    template <class T>
    [[gnu::always_inline]] T operator()(T x, T y) const {
        return (Vocabulary::max)(x, y);
    }
};

}  // namespace detail

/// The combination of `size` values by the tree over neighbours that collectives have. Overwrites the values. For
/// hand-written host kernels; group_sum is that of sums.
template <class T, class F>
[[gnu::always_inline]] inline T group_reduce(T* values, u64 size, F combine) {
    for (; size > 1; size = (size + 1) / 2) {
        // A write is at or below the first read of its iteration, so that vectors of iterations are independent.
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
        for (u64 i = 0; i < size / 2; ++i)
            values[i] = combine(values[2 * i], values[2 * i + 1]);
        if (size % 2 != 0) values[size / 2] = values[size - 1];
    }
    return values[0];
}
/// The sum of `size` values, those of a group's work-items. Overwrites the values.
template <class T>
[[gnu::always_inline]] inline T group_sum(T* values, u64 size) {
    return group_reduce(values, size, detail::CollectiveSum{});
}
/// The minimum, like Vocabulary::min. Overwrites the values.
template <class T>
[[gnu::always_inline]] inline T group_min(T* values, u64 size) {
    return group_reduce(values, size, detail::CollectiveMin{});
}
/// The maximum, like Vocabulary::max. Overwrites the values.
template <class T>
[[gnu::always_inline]] inline T group_max(T* values, u64 size) {
    return group_reduce(values, size, detail::CollectiveMax{});
}

namespace detail {

// What the collectives of bodies on the CPU call. A group is one sub-group.
struct CollectiveLoops {
    template <class T, u32 N, class F>
    [[gnu::always_inline]] static inline T reduced(const Private<T, N>& v, u32 begin, u32 n, F f) {
        T values[N];
        for (u32 i = 0; i < n; ++i)
            values[i] = v[begin + i];
        return concord::group_reduce(values, n, f);
    }
    template <class T, u32 N, class F>
    [[gnu::always_inline]] static inline void reduce(Private<T, N>& out, const Private<T, N>& v, u32 n, F f) {
        for (u32 begin = 0; begin < N; begin += n) {
            const T value = reduced(v, begin, n, f);
            for (u32 i = 0; i < n; ++i)
                out[begin + i] = value;
        }
    }
    // Sklansky's network, which has the tree of reduce() for every first power of two of values. Loops over blocks,
    // which the compiler vectorises: eight values at a time first, then the upper half of each block.
    template <class T, u32 N, class F>
    [[gnu::always_inline]] static inline void scan(Private<T, N>& out, const Private<T, N>& v, u32 n, F f) {
        for (u32 i = 0; i < N; ++i)
            out[i] = v[i];
        if (n % 8 != 0) {
            for (u32 step = 1; step < n; step *= 2)
                add_lower(out, step, n, f);
            return;
        }
        T* const x = &out[0];
        for (u32 i = 0; i < N / 8 * 8; i += 8) {
            const T a = x[i], b = f(a, x[i + 1]), c = x[i + 2], d = f(c, x[i + 3]);
            const T e = x[i + 4], g = f(e, x[i + 5]), h = x[i + 6], k = f(h, x[i + 7]);
            const T low = f(b, d), p = f(g, h), q = f(g, k);
            x[i + 1] = b;
            x[i + 2] = f(b, c);
            x[i + 3] = low;
            x[i + 4] = f(low, e);
            x[i + 5] = f(low, g);
            x[i + 6] = f(low, p);
            x[i + 7] = f(low, q);
        }
        for (u32 step = 8; step < n; step *= 2)
            add_lower(out, step, n, f);
    }
    // A step of the network in each sub-group of n values.
    template <class T, u32 N, class F>
    [[gnu::always_inline]] static inline void add_lower(Private<T, N>& out, u32 step, u32 n, F f) {
        for (u32 begin = 0; begin < N; begin += n) {
            for (u32 half = step; half < n; half += 2 * step) {
                T* const upper = &out[begin + half];
                const T lower = upper[-1];
                for (u32 i = 0; i < (n - half < step ? n - half : step); ++i)
                    upper[i] = f(lower, upper[i]);
            }
        }
    }
    template <class T, u32 N, class F>
    [[gnu::always_inline]] static inline void exclusive(Private<T, N>& out, const Private<T, N>& v, T first,
                                                        u32 n, F f) {
        Private<T, N> sums;
        scan(sums, v, n, f);
        for (u32 i = 0; i < N; ++i)
            out[i] = i % n == 0 ? first : f(first, sums[i - 1]);
    }
    template <class T, u32 N>
    [[gnu::always_inline]] static inline u32 counted(const Private<T, N>& v, u32 begin, u32 n) {
        u32 count = 0;
        for (u32 i = 0; i < n; ++i)
            count += v[begin + i] != 0 ? 1 : 0;
        return count;
    }
};

/// @cond
// The collectives of bodies on the CPU.
struct GroupVocabulary : Vocabulary {
#define CONCORD_COLLECTIVE                \
    template <class T, u32 N, class... A> \
    [[gnu::always_inline]] static inline
    CONCORD_COLLECTIVE T group_sum(const Private<T, N>& v) {
        return CollectiveLoops::reduced(v, 0, N, CollectiveSum{});
    }
    CONCORD_COLLECTIVE T group_min(const Private<T, N>& v) {
        return CollectiveLoops::reduced(v, 0, N, CollectiveMin{});
    }
    CONCORD_COLLECTIVE T group_max(const Private<T, N>& v) {
        return CollectiveLoops::reduced(v, 0, N, CollectiveMax{});
    }
    template <class T, u32 N, class F>
    [[gnu::always_inline]] static inline T group_reduce(const Private<T, N>& v, F f) {
        return CollectiveLoops::reduced(v, 0, N, f);
    }
    CONCORD_COLLECTIVE bool group_any(const Private<T, N>& v) {
        return CollectiveLoops::counted(v, 0, N) > 0;
    }
    CONCORD_COLLECTIVE bool group_all(const Private<T, N>& v) {
        return CollectiveLoops::counted(v, 0, N) == N;
    }
    CONCORD_COLLECTIVE u32 group_count(const Private<T, N>& v) {
        return CollectiveLoops::counted(v, 0, N);
    }
    CONCORD_COLLECTIVE T group_broadcast(const Private<T, N>& v, u32 t) {
        return v[t % N];
    }
    CONCORD_COLLECTIVE void group_inclusive_sum(Private<T, N>& out, const Private<T, N>& v) {
        CollectiveLoops::scan(out, v, N, CollectiveSum{});
    }
    CONCORD_COLLECTIVE void group_exclusive_sum(Private<T, N>& out, const Private<T, N>& v) {
        sub_group_exclusive_sum(out, v, N);
    }
    template <class T, u32 N, class F>
    [[gnu::always_inline]] static inline void group_inclusive_scan(Private<T, N>& out, const Private<T, N>& v,
                                                                   F f) {
        CollectiveLoops::scan(out, v, N, f);
    }
    template <class T, u32 N, class V, class F>
    [[gnu::always_inline]] static inline void group_exclusive_scan(Private<T, N>& out, const Private<T, N>& v,
                                                                   V first, F f) {
        CollectiveLoops::exclusive(out, v, static_cast<T>(first), N, f);
    }
    CONCORD_COLLECTIVE void group_shuffle(Private<T, N>& out, const Private<T, N>& v,
                                          const Private<u32, N>& from) {
        sub_group_shuffle(out, v, from, N);
    }
    CONCORD_COLLECTIVE void sub_group_sum(Private<T, N>& out, const Private<T, N>& v, u32 n) {
        CollectiveLoops::reduce(out, v, n, CollectiveSum{});
    }
    CONCORD_COLLECTIVE void sub_group_min(Private<T, N>& out, const Private<T, N>& v, u32 n) {
        CollectiveLoops::reduce(out, v, n, CollectiveMin{});
    }
    CONCORD_COLLECTIVE void sub_group_max(Private<T, N>& out, const Private<T, N>& v, u32 n) {
        CollectiveLoops::reduce(out, v, n, CollectiveMax{});
    }
    template <class T, u32 N, class F>
    [[gnu::always_inline]] static inline void sub_group_reduce(Private<T, N>& out, const Private<T, N>& v,
                                                               F f, u32 n) {
        CollectiveLoops::reduce(out, v, n, f);
    }
    CONCORD_COLLECTIVE void sub_group_inclusive_sum(Private<T, N>& out, const Private<T, N>& v, u32 n) {
        CollectiveLoops::scan(out, v, n, CollectiveSum{});
    }
    CONCORD_COLLECTIVE void sub_group_exclusive_sum(Private<T, N>& out, const Private<T, N>& v, u32 n) {
        Private<T, N> sums;
        CollectiveLoops::scan(sums, v, n, CollectiveSum{});
        for (u32 i = 0; i < N; ++i)
            out[i] = i % n == 0 ? T(0) : sums[i - 1];
    }
    template <class T, u32 N, class F>
    [[gnu::always_inline]] static inline void sub_group_inclusive_scan(Private<T, N>& out,
                                                                       const Private<T, N>& v, F f, u32 n) {
        CollectiveLoops::scan(out, v, n, f);
    }
    template <class T, u32 N, class V, class F>
    [[gnu::always_inline]] static inline void sub_group_exclusive_scan(Private<T, N>& out,
                                                                       const Private<T, N>& v, V first, F f,
                                                                       u32 n) {
        CollectiveLoops::exclusive(out, v, static_cast<T>(first), n, f);
    }
    template <class T, class B, u32 N>
    [[gnu::always_inline]] static inline void sub_group_any(Private<B, N>& out, const Private<T, N>& v,
                                                            u32 n) {
        for (u32 i = 0; i < N; ++i)
            out[i] = static_cast<B>(CollectiveLoops::counted(v, i / n * n, n) > 0);
    }
    template <class T, class B, u32 N>
    [[gnu::always_inline]] static inline void sub_group_all(Private<B, N>& out, const Private<T, N>& v,
                                                            u32 n) {
        for (u32 i = 0; i < N; ++i)
            out[i] = static_cast<B>(CollectiveLoops::counted(v, i / n * n, n) == n);
    }
    template <class T, class B, u32 N>
    [[gnu::always_inline]] static inline void sub_group_count(Private<B, N>& out, const Private<T, N>& v,
                                                              u32 n) {
        for (u32 i = 0; i < N; ++i)
            out[i] = static_cast<B>(CollectiveLoops::counted(v, i / n * n, n));
    }
    CONCORD_COLLECTIVE void sub_group_broadcast(Private<T, N>& out, const Private<T, N>& v, u32 t, u32 n) {
        T values[N];
        for (u32 i = 0; i < N; ++i)
            values[i] = v[i / n * n + t % n];
        for (u32 i = 0; i < N; ++i)
            out[i] = values[i];
    }
    CONCORD_COLLECTIVE void sub_group_shuffle(Private<T, N>& out, const Private<T, N>& v,
                                              const Private<u32, N>& from, u32 n) {
        T values[N];
        for (u32 i = 0; i < N; ++i)
            values[i] = v[i / n * n + from[i] % n];
        for (u32 i = 0; i < N; ++i)
            out[i] = values[i];
    }
#undef CONCORD_COLLECTIVE
};
/// @endcond

// The indices of CONCORD_STRIDED: strips of a group's size.
template <u32 Size>
struct GroupStrips {
    u64 begin, end;
    constexpr u32 count() const { return end - begin < Size ? static_cast<u32>(end - begin) : Size; }
};

struct GroupIndex {
    u64 x, y, z, count_x, count_y, count_z;
};

// The host kernel of a body, a function of the work-items, the group's index and the parameters.
template <class K, class S>
struct GroupHost;
template <class K, class... P>
struct GroupHost<K, void (*)(ItemsInOrder<K::concord_shape>, GroupIndex, P...)> {
    using Arguments = KernelArguments<std::tuple<P...>>;
    using Signature = void (*)(P...);

    [[gnu::always_inline]] static inline void run(const Group& group, P... arguments) {
        K::call(ItemsInOrder<K::concord_shape>{},
                GroupIndex{group.x, group.y, group.z, group.count_x, group.count_y, group.count_z},
                arguments...);
    }

    // Runs all groups with the work-items of each phase in the order of the table. An empty table stands for the loops
    // that launches have.
    static void run_all(const std::array<u64, 3>& groups, std::span<const u32> table, bool backwards,
                        P... arguments) {
        const auto [nx, ny, nz] = groups;
        for (u64 i = 0; i < nx * ny * nz; ++i) {
            const u64 g = backwards ? nx * ny * nz - 1 - i : i;
            const GroupIndex index{g % nx, g / nx % ny, g / nx / ny, nx, ny, nz};
            if (table.empty()) {
                K::call(ItemsInOrder<K::concord_shape>{}, index, arguments...);
            } else {
                K::call(ItemsByTable<K::concord_shape>{{}, table.data()}, index, arguments...);
            }
        }
    }
};

template <class K>
using GroupHostOf = GroupHost<K, decltype(&K::template call<ItemsInOrder<K::concord_shape>>)>;

// The arguments of check(): copies of the vectors for buffers.
template <class P, class A>
auto checked_argument(const A& argument) {
    if constexpr (std::is_pointer_v<P>) {
        using E = std::remove_const_t<std::remove_pointer_t<P>>;
        static_assert(std::is_same_v<A, std::vector<E>>,
                      "this parameter is a buffer: pass a std::vector of its elements");
        return argument;
    } else {
        return static_cast<P>(argument);
    }
}
template <class P, class A>
P passed_argument(A& argument) {
    if constexpr (std::is_pointer_v<P>) {
        return argument.data();
    } else {
        return argument;
    }
}
// The numbers below `size` in "ascending", "descending" or "shuffled" order.
std::vector<u32> items_in_order(std::string_view order, u32 size);
// Throws invalid_argument: the results differ from those of the loops that launches have.
void compare_orders(const KernelDefinition& definition, std::size_t parameter, std::string_view order,
                    std::span<const std::byte> expected, std::span<const std::byte> found,
                    std::size_t element);

Enqueued run_group_kernel(Stream& stream, const KernelDefinition& definition,
                          const std::array<u64, 3>& groups, std::span<const KernelArgument> arguments,
                          bool compile_everywhere);

}  // namespace detail

/// The type of objects that CONCORD_GROUP_KERNEL defines.
template <class K>
class GroupKernel {
    using Types = detail::GroupHostOf<K>;

    static_assert(detail::is_group_size(K::concord_shape.rank, K::concord_shape.x, K::concord_shape.y,
                                        K::concord_shape.z),
                  "a group has 1 to 1024 work-items");
    static constexpr detail::GroupFinding finding = detail::finding_of<K>();
/// @cond
#define CONCORD_REFUSE_FAULT(NAME, TEXT) static_assert(finding.fault != detail::GroupFault::NAME, TEXT);
    CONCORD_GROUP_FAULTS(CONCORD_REFUSE_FAULT)
#undef CONCORD_REFUSE_FAULT
    /// @endcond

  public:
    /// Enqueues the body for each group of `groups`, one to three counts. `arguments`: ranges for buffers, and values,
    /// which are converted to the parameter's type if it has them. Asynchronous. Throws what IndexKernel::operator()
    /// throws, and unsupported if the device has no groups of this size or too little local memory.
    ///
    /// Enqueued::order is canonical if the body calls only functions that all devices compute alike, and is unspecified
    /// for collectives of floats in groups of any_size.
    template <class... A>
    Enqueued operator()(Stream& stream, const AnyExtents& groups, const A&... arguments) const {
        return Types::Arguments::with(
            definition(),
            [&](std::span<const KernelArgument> list) {
                return detail::run_group_kernel(stream, definition(), groups.values(), list,
                                                detail::is_debug);
            },
            arguments...);
    }

    /// The kernel with its types erased.
    static const detail::KernelDefinition& definition() {
        static constexpr detail::KernelDefinition d{.name = K::name,
                                                    .parameters = K::parameters,
                                                    .body = K::body,
                                                    .file = K::file,
                                                    .unit = K::unit,
                                                    .line = K::line,
                                                    .rank = 0,
                                                    .group = K::concord_shape,
                                                    .types = Types::Arguments::described,
                                                    .host = host_kernel<&Types::run>(),
                                                    .code = &code_};
        return d;
    }

    /// @cond
    template <class... P, class... A>
    static void check_orders(void (*)(P...), const std::array<u64, 3>& groups, const A&... arguments) {
        static_assert(sizeof...(P) == sizeof...(A), "wrong number of arguments");
        const auto run = [&](std::span<const u32> table, bool backwards) {
            std::tuple values{detail::checked_argument<P>(arguments)...};
            std::apply(
                [&](auto&... value) {
                    Types::run_all(groups, table, backwards, detail::passed_argument<P>(value)...);
                },
                values);
            return values;
        };
        const auto expected = run({}, false);
        const auto compare = [&](std::string_view order, const auto& found) {
            [&]<std::size_t... I>(std::index_sequence<I...>) {
                (compare_argument<P>(I, order, std::get<I>(expected), std::get<I>(found)), ...);
            }
            (std::index_sequence_for<P...>{});
        };
        constexpr u32 size = detail::ItemsInOrder<K::concord_shape>::size;
        compare("ascending", run(detail::items_in_order("ascending", size), false));
        compare("descending", run(detail::items_in_order("descending", size), true));
        compare("shuffled", run(detail::items_in_order("shuffled", size), false));
    }
    /// @endcond

  private:
    static inline std::atomic<detail::KernelCode*> code_ = nullptr;

    template <class P, class V>
    static void compare_argument(std::size_t i, std::string_view order, const V& expected, const V& found) {
        if constexpr (std::is_pointer_v<P> && !std::is_const_v<std::remove_pointer_t<P>>) {
            detail::compare_orders(definition(), i, order, std::as_bytes(std::span(expected)),
                                   std::as_bytes(std::span(found)), sizeof expected[0]);
        }
    }
};

/// Compiles a kernel for one device of each backend that is available, and for CUDA without a GPU if NVRTC is, and
/// returns the selectors of these devices. Throws compile_failed with the messages of the first compiler that refuses
/// it. A debug build does this at the first call of a kernel.
template <class K>
std::vector<std::string> check(const GroupKernel<K>& kernel) {
    return detail::check_kernel(kernel.definition());
}

/// Also runs the kernel on the CPU with the work-items of each phase in order, backwards and shuffled, and the groups
/// forwards and backwards, and compares the buffers that it may write bit by bit. `arguments`: std::vector for buffers,
/// which stay as they are, and values. Throws invalid_argument with the first element that depends on the order: within
/// a phase, a work-item reads or writes what another one writes, or a group what another one writes.
template <class K, class... A>
std::vector<std::string> check(const GroupKernel<K>& kernel, const AnyExtents& groups,
                               const A&... arguments) {
    kernel.check_orders(typename detail::GroupHostOf<K>::Signature{}, groups.values(), arguments...);
    return check(kernel);
}

}  // namespace concord

/// @cond
// clang-format off
#define CONCORD_SELECT_(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, NAME, ...) NAME
#define CONCORD_EACH_0_(M)
#define CONCORD_EACH_1_(M, A) M(A)
#define CONCORD_EACH_2_(M, A, ...) M(A) CONCORD_EACH_1_(M, __VA_ARGS__)
#define CONCORD_EACH_3_(M, A, ...) M(A) CONCORD_EACH_2_(M, __VA_ARGS__)
#define CONCORD_EACH_4_(M, A, ...) M(A) CONCORD_EACH_3_(M, __VA_ARGS__)
#define CONCORD_EACH_5_(M, A, ...) M(A) CONCORD_EACH_4_(M, __VA_ARGS__)
#define CONCORD_EACH_6_(M, A, ...) M(A) CONCORD_EACH_5_(M, __VA_ARGS__)
#define CONCORD_EACH_7_(M, A, ...) M(A) CONCORD_EACH_6_(M, __VA_ARGS__)
#define CONCORD_EACH_8_(M, A, ...) M(A) CONCORD_EACH_7_(M, __VA_ARGS__)
#define CONCORD_EACH_9_(M, A, ...) M(A) CONCORD_EACH_8_(M, __VA_ARGS__)
#define CONCORD_EACH_10_(M, A, ...) M(A) CONCORD_EACH_9_(M, __VA_ARGS__)
#define CONCORD_EACH_11_(M, A, ...) M(A) CONCORD_EACH_10_(M, __VA_ARGS__)
#define CONCORD_EACH_12_(M, A, ...) M(A) CONCORD_EACH_11_(M, __VA_ARGS__)
#define CONCORD_EACH_13_(M, A, ...) M(A) CONCORD_EACH_12_(M, __VA_ARGS__)
#define CONCORD_EACH_14_(M, A, ...) M(A) CONCORD_EACH_13_(M, __VA_ARGS__)
#define CONCORD_EACH_15_(M, A, ...) M(A) CONCORD_EACH_14_(M, __VA_ARGS__)
#define CONCORD_EACH_16_(M, A, ...) M(A) CONCORD_EACH_15_(M, __VA_ARGS__)
#define CONCORD_EACH_17_(M, A, ...) M(A) CONCORD_EACH_16_(M, __VA_ARGS__)
#define CONCORD_EACH_18_(M, A, ...) M(A) CONCORD_EACH_17_(M, __VA_ARGS__)
#define CONCORD_EACH_19_(M, A, ...) M(A) CONCORD_EACH_18_(M, __VA_ARGS__)
#define CONCORD_EACH_20_(M, A, ...) M(A) CONCORD_EACH_19_(M, __VA_ARGS__)
#define CONCORD_EACH_21_(M, A, ...) M(A) CONCORD_EACH_20_(M, __VA_ARGS__)
#define CONCORD_EACH_22_(M, A, ...) M(A) CONCORD_EACH_21_(M, __VA_ARGS__)
#define CONCORD_EACH_23_(M, A, ...) M(A) CONCORD_EACH_22_(M, __VA_ARGS__)
#define CONCORD_EACH_24_(M, A, ...) M(A) CONCORD_EACH_23_(M, __VA_ARGS__)
#define CONCORD_EACH_(M, ...) CONCORD_SELECT_(_0 __VA_OPT__(,) __VA_ARGS__, CONCORD_EACH_24_, CONCORD_EACH_23_, CONCORD_EACH_22_, CONCORD_EACH_21_, CONCORD_EACH_20_, CONCORD_EACH_19_, CONCORD_EACH_18_, CONCORD_EACH_17_, CONCORD_EACH_16_, CONCORD_EACH_15_, CONCORD_EACH_14_, CONCORD_EACH_13_, CONCORD_EACH_12_, CONCORD_EACH_11_, CONCORD_EACH_10_, CONCORD_EACH_9_, CONCORD_EACH_8_, CONCORD_EACH_7_, CONCORD_EACH_6_, CONCORD_EACH_5_, CONCORD_EACH_4_, CONCORD_EACH_3_, CONCORD_EACH_2_, CONCORD_EACH_1_, CONCORD_EACH_0_)(M __VA_OPT__(,) __VA_ARGS__)
// A declaration before a block. A switch, so that an else after the block belongs to the code around it.
#define CONCORD_WITH_(DECLARATION) switch (DECLARATION; 0) default:
#define CONCORD_NAME_ITEM_(NAME, VALUE) CONCORD_WITH_([[maybe_unused]] const auto NAME = VALUE)
#define CONCORD_INDEX_1_(X) CONCORD_NAME_ITEM_(X, concord_at.x)
#define CONCORD_INDEX_2_(X, Y) CONCORD_INDEX_1_(X) CONCORD_NAME_ITEM_(Y, concord_at.y)
#define CONCORD_INDEX_3_(X, Y, Z) CONCORD_INDEX_2_(X, Y) CONCORD_NAME_ITEM_(Z, concord_at.z)
#define CONCORD_INDEX_(...) CONCORD_SELECT_INDEX_(__VA_ARGS__, CONCORD_INDEX_3_, CONCORD_INDEX_2_, CONCORD_INDEX_1_)(__VA_ARGS__)
#define CONCORD_SELECT_INDEX_(_1, _2, _3, NAME, ...) NAME
#define CONCORD_KEEP_(NAME)                                        \
    CONCORD_WITH_([[maybe_unused]] auto& concord_all_##NAME = NAME) \
    CONCORD_WITH_([[maybe_unused]] auto&& NAME = concord_all_##NAME[concord_at.linear])
#define CONCORD_WITH_GROUP_(...) ([[maybe_unused]] const ConcordItems concord_items, [[maybe_unused]] const ::concord::detail::GroupIndex group __VA_OPT__(,) __VA_ARGS__)
// What the body of a group kernel sees of its group size.
#define CONCORD_GROUP_SIZE_(SIZE)                                                               \
    static constexpr ::concord::detail::GroupShape concord_shape = ::concord::detail::group_shape SIZE; \
    using ConcordSize = ::concord::detail::ItemsInOrder<concord_shape>;                                 \
    [[maybe_unused]] static constexpr ::concord::u32 group_size_x = ConcordSize::x;                     \
    [[maybe_unused]] static constexpr ::concord::u32 group_size_y = ConcordSize::y;                     \
    [[maybe_unused]] static constexpr ::concord::u32 group_size_z = ConcordSize::z;                     \
    [[maybe_unused]] static constexpr ::concord::u32 group_size = ConcordSize::size;
#define CONCORD_STRIP_INDEX_(I, BEGIN, END) [[maybe_unused]] const ::concord::u64 I = concord_strip.begin + concord_at.linear
#define CONCORD_STRIP_RANGE_(I, BEGIN, END) {static_cast<::concord::u64>(BEGIN), static_cast<::concord::u64>(END)}
#if defined(__clang__)
#define CONCORD_INDEPENDENT_ _Pragma("clang loop vectorize(assume_safety)")
#else
#define CONCORD_INDEPENDENT_ _Pragma("GCC ivdep")
#endif
// clang-format on
/// @endcond

/// A phase of a group kernel: the block that follows runs for each work-item. INDEX: the names of its index in
/// parentheses, x first. Then the private values that the block uses. See the top of this file.
#define CONCORD_ITEMS(INDEX, ...)                                                          \
    for (::concord::u32 concord_z = 0; concord_z < ConcordItems::count_z; ++concord_z)     \
        for (::concord::u32 concord_y = 0; concord_y < ConcordItems::count_y; ++concord_y) \
            CONCORD_INDEPENDENT_                                                           \
    for (::concord::u32 concord_x = 0; concord_x < ConcordItems::count_x; ++concord_x)     \
        CONCORD_NAME_ITEM_(concord_at, concord_items.at(concord_x, concord_y, concord_z))  \
    CONCORD_INDEX_ INDEX CONCORD_EACH_(CONCORD_KEEP_ __VA_OPT__(, ) __VA_ARGS__)

/// A phase of a group kernel whose work-items share indices: the block that follows runs for each u64 index of
/// RANGE, (name, begin, end). Work-item t runs it for begin + t, begin + t + group_size and so on. Then the private
/// values that the block uses.
#define CONCORD_STRIDED(RANGE, ...)                                                                   \
    for (::concord::detail::GroupStrips<ConcordItems::size> concord_strip CONCORD_STRIP_RANGE_ RANGE; \
         concord_strip.begin < concord_strip.end; concord_strip.begin += ConcordItems::size)          \
    CONCORD_INDEPENDENT_ for (::concord::u32 concord_x = 0, concord_n = concord_strip.count();        \
                              concord_x < concord_n; ++concord_x)                                     \
        CONCORD_NAME_ITEM_(concord_at, concord_items.strip_item(concord_x, concord_n))                \
            CONCORD_WITH_(CONCORD_STRIP_INDEX_ RANGE)                                                 \
                CONCORD_EACH_(CONCORD_KEEP_ __VA_OPT__(, ) __VA_ARGS__)

/// Local memory of a group: a value, or an array with EXTENTS such as [16][17]. Uninitialised.
#define CONCORD_LOCAL(TYPE, NAME, ...) \
    alignas(64) TYPE NAME __VA_ARGS__; \
    static_assert(sizeof(NAME) <= ::concord::detail::max_local_bytes, "too much local memory: " #NAME)

/// A value of each work-item that lasts from phase to phase, or an array with EXTENTS. Uninitialised, or `= value`.
#define CONCORD_PRIVATE(TYPE, NAME, ...) ::concord::detail::Private<TYPE __VA_ARGS__, ConcordItems::size> NAME

/// Defines the kernel object NAME at namespace scope. SIZE is the group size in parentheses, one to three constants or
/// (any_size), PARAMETERS are in parentheses, and the body follows. PARAMETERS and the body may use the unqualified
/// names i8 to f64. Each translation unit has its own object, as with CONCORD_FUNCTION.
#define CONCORD_GROUP_KERNEL(NAME, SIZE, PARAMETERS, ...)                                                    \
    namespace {                                                                                              \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wshadow\"") struct NAME##_concord_body \
        : ::concord::detail::GroupVocabulary {                                                               \
        CONCORD_GROUP_SIZE_(SIZE)                                                                            \
        template <class ConcordItems>                                                                        \
        [[gnu::always_inline]] static inline void call CONCORD_WITH_GROUP_ PARAMETERS {                      \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    };                                                                                                       \
    _Pragma("GCC diagnostic pop") struct NAME##_concord_kernel : NAME##_concord_body {                       \
        [[maybe_unused]] static constexpr std::string_view name = #NAME;                                     \
        [[maybe_unused]] static constexpr std::string_view parameters = #PARAMETERS;                         \
        [[maybe_unused]] static constexpr std::string_view body = #__VA_ARGS__;                              \
        [[maybe_unused]] static constexpr std::string_view file = __FILE__;                                  \
        [[maybe_unused]] static constexpr const void* unit = &::concord::detail::translation_unit;           \
        [[maybe_unused]] static constexpr ::concord::u32 line = __LINE__;                                    \
    };                                                                                                       \
    }                                                                                                        \
    [[maybe_unused]] constexpr ::concord::GroupKernel<NAME##_concord_kernel> NAME{};
