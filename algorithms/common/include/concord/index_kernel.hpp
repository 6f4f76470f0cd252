#pragma once
/// @file
/// Kernels over an index space, written once for all backends.
///
///     CONCORD_KERNEL(wave, (u64 x, u64 y, f32* next, const f32* now, f32 c, u64 width),
///                    const u64 i = y * width + x;
///                    next[i] = 2 * now[i] - next[i] + c * (now[i - 1] - 2 * now[i] + now[i + 1]);)
///
///     wave(stream, {nx, ny}, next, now, 0.25f, nx);
///
/// The host compiler compiles the body, and the CUDA and OpenCL compilers compile its source. A work-item runs the body
/// once for each index. The first parameters are the index: one, two or three of type u64, x first. All leading
/// parameters of type u64 belong to it, so that a buffer, or a value of another type, comes next. The others are
/// buffers (`f32*` for outputs and for buffers that are read and written, `const f32*` for inputs) and values: element
/// types, and structs that CONCORD_STRUCT defines.
///
/// Work-items run in any order and at the same time: a work-item must not read what another one writes. The body can
/// use what the three languages share, see function.hpp, the functions of vocabulary.hpp, and functions that
/// CONCORD_FUNCTION defines.
///
/// A NaN that the body stores is the device's own; canonical(x) makes it the same on all. Memory that is adopted twice
/// counts as two buffers: it must not be an input and an output of one call.

#include <concord/body_kernel.hpp>
#include <concord/extents.hpp>

#include <array>
#include <optional>
#include <vector>

namespace concord {

namespace detail {

// Enqueues the kernel over the extents. `arguments`: those after the index, checked here. A range without elements may
// have no buffer.
Enqueued run_index_kernel(Stream& stream, const KernelDefinition& definition,
                          const std::array<u64, 3>& extents, std::span<const KernelArgument> arguments,
                          bool compile_everywhere);

// The number of leading parameters of type u64, at most 3.
template <class... P>
constexpr u32 index_rank() {
    constexpr bool is_index[] = {std::is_same_v<P, u64>..., false};
    u32 rank = 0;
    while (rank < sizeof...(P) && is_index[rank])
        ++rank;
    return rank;
}

// The host kernel of a body: a group runs the rows [group.x / tiles_x * tile_y, ...) of `tile_x` indices each, where
// rows along y and z are counted together. Iterations are independent, which the compiler does not know.
template <class K, u32 Rank, class Rest>
struct IndexHost;
template <class K, u32 Rank, class... P>
struct IndexHost<K, Rank, std::tuple<P...>> {
    [[gnu::always_inline]] static inline void row(u64 begin, u64 end, [[maybe_unused]] u64 y,
                                                  [[maybe_unused]] u64 z, P... arguments) {
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
        for (u64 x = begin; x < end; ++x) {
            if constexpr (Rank == 1) {
                K::call(x, arguments...);
            } else if constexpr (Rank == 2) {
                K::call(x, y, arguments...);
            } else {
                K::call(x, y, z, arguments...);
            }
        }
    }
    // Each instruction set has its own copy, which g++ would not make of every body otherwise.
    [[gnu::always_inline]] static inline void run(const Group& group, u64 nx, u64 ny, u64 nz, u64 tile_x,
                                                  u64 tile_y, P... arguments) {
        const u64 tiles_x = (nx + tile_x - 1) / tile_x;
        const u64 begin = group.x % tiles_x * tile_x, end = min_of(nx, begin + tile_x);
        const u64 first = group.x / tiles_x * tile_y, last = min_of(ny * nz, first + tile_y);
        for (u64 r = first; r < last; ++r)
            row(begin, end, r % ny, r / ny, arguments...);
    }
};

template <class K, class S>
struct IndexTypes;
template <class K, class... P>
struct IndexTypes<K, void (*)(P...)> {
    static constexpr u32 rank = index_rank<P...>();
    static_assert(rank >= 1 && rank <= 3,
                  "the first parameters of a kernel are its index: one, two or three of type u64");

    template <std::size_t... I>
    static auto rest(std::index_sequence<I...>)
        -> std::tuple<std::tuple_element_t<rank + I, std::tuple<P...>>...>;
    using Rest = decltype(rest(std::make_index_sequence<sizeof...(P) - rank>{}));
    using Arguments = KernelArguments<Rest>;
};

}  // namespace detail

/// The type of objects that CONCORD_KERNEL defines.
template <class K>
class IndexKernel {
    using Types = detail::IndexTypes<K, decltype(&K::call)>;

  public:
    /// The number of dimensions of the index space: 1, 2 or 3.
    static constexpr u32 rank = Types::rank;

    /// Enqueues the body for each index in [0, extents). `arguments` are those after the index: ranges for buffers, and
    /// values, which are converted to the parameter's type if it has them. Ranges without elements need no buffer.
    /// Asynchronous. Throws invalid_argument (element types, values, ranges that exceed their buffers, read-only memory
    /// for a parameter that is not const, more than 2^63 - 1 indices), wrong_device, unsupported (f64 on a device
    /// without it), compile_failed. A debug build also compiles for the other backends at the first call, if they are
    /// available, so that a body that one of them refuses fails on all.
    ///
    /// Enqueued::order is canonical if the body calls only functions that all devices compute alike. It says nothing
    /// about the bits of a NaN that the body stores without canonical().
    template <class... A>
    Enqueued operator()(Stream& stream, const Extents<rank>& extents, const A&... arguments) const {
        return Types::Arguments::with(
            definition(),
            [&](std::span<const KernelArgument> list) {
                return detail::run_index_kernel(stream, definition(), extents.values(), list,
                                                detail::is_debug);
            },
            arguments...);
    }

    /// The kernel with its types erased.
    static const detail::KernelDefinition& definition() {
        static const detail::KernelDefinition d{
            .name = K::name,
            .parameters = K::parameters(),
            .body = K::body(),
            .file = K::file,
            .unit = K::unit,
            .line = K::line,
            .rank = rank,
            .types = Types::Arguments::described,
            .host = host_kernel<&detail::IndexHost<K, rank, typename Types::Rest>::run>(),
            .code = &code_};
        return d;
    }

  private:
    static inline std::atomic<detail::KernelCode*> code_ = nullptr;
};

/// Compiles a kernel for one device of each backend that is available, and for CUDA without a GPU if NVRTC is, and
/// returns the selectors of these devices. Throws compile_failed with the messages of the first compiler that refuses
/// it. A debug build does this at the first call of a kernel.
template <class K>
std::vector<std::string> check(const IndexKernel<K>& kernel) {
    return detail::check_kernel(kernel.definition());
}

/// The type of objects that CONCORD_KERNEL_OF defines: kernels K<T> for the element types T of a list.
template <template <class> class K, class List>
class IndexKernelOf;
template <template <class> class K, class... T>
class IndexKernelOf<K, detail::TypeList<T...>> {
    template <class U>
    using Arguments = detail::KernelArguments<typename detail::IndexTypes<K<U>, decltype(&K<U>::call)>::Rest>;

  public:
    /// The number of dimensions of the index space: 1, 2 or 3.
    static constexpr u32 rank = detail::first_of(IndexKernel<K<T>>::rank...);
    static_assert(((IndexKernel<K<T>>::rank == rank) && ...),
                  "the parameter after the index is a buffer or has a type that is never u64");

    /// The kernel of U, which is one of the types, as CONCORD_KERNEL defines it.
    template <class U>
    static constexpr IndexKernel<K<U>> of{};

    /// Enqueues the kernel of the first type for which the element types of the ranges fit. See IndexKernel. Throws
    /// invalid_argument if there is none, as for the types of views.
    template <class... A>
    Enqueued operator()(Stream& stream, const Extents<rank>& extents, const A&... arguments) const {
        static_assert(
            (Arguments<T>::template accepts<A...>() || ...),
            "no type of the kernel's list fits the number of arguments and the element types of the ranges");
        std::optional<Enqueued> done;
        const auto enqueue = [&]<class U>(detail::TypeTag<U>) {
            if constexpr (Arguments<U>::template accepts<A...>()) {
                if (Arguments<U>::fits(arguments...)) done = of<U>(stream, extents, arguments...);
            }
            return done.has_value();
        };
        if (!(enqueue(detail::TypeTag<T>{}) || ...))
            detail::refuse_views(detail::first_of(K<T>::name...), detail::TypeList<T...>::types);
        return *done;
    }
};

/// The same for the kernels of all types of a list. Returns the selectors for the last type.
template <template <class> class K, class... T>
std::vector<std::string> check(const IndexKernelOf<K, detail::TypeList<T...>>& kernel) {
    std::vector<std::string> selectors;
    ((selectors = check(kernel.template of<T>)), ...);
    return selectors;
}

}  // namespace concord

/// Defines the kernel object NAME at namespace scope. PARAMETERS are in parentheses, the index first, and the body
/// follows. PARAMETERS and the body may use the unqualified names i8 to f64. Each translation unit has its own object,
/// as with CONCORD_FUNCTION.
#define CONCORD_KERNEL(NAME, PARAMETERS, ...)                                                      \
    namespace {                                                                                    \
    struct NAME##_concord_body : ::concord::Vocabulary {                                           \
        [[gnu::always_inline]] static inline void call PARAMETERS { __VA_ARGS__ }                  \
    };                                                                                             \
    struct NAME##_concord_kernel : NAME##_concord_body {                                           \
        [[maybe_unused]] static constexpr std::string_view name = #NAME;                           \
        static constexpr std::string_view parameters() { return #PARAMETERS; }                     \
        static constexpr std::string_view body() { return #__VA_ARGS__; }                          \
        [[maybe_unused]] static constexpr std::string_view file = __FILE__;                        \
        [[maybe_unused]] static constexpr const void* unit = &::concord::detail::translation_unit; \
        [[maybe_unused]] static constexpr ::concord::u32 line = __LINE__;                          \
    };                                                                                             \
    }                                                                                              \
    [[maybe_unused]] constexpr ::concord::IndexKernel<NAME##_concord_kernel> NAME{};

/// Defines a kernel for several element types at namespace scope:
/// `CONCORD_KERNEL_OF(T, (f32, f64, i32), axpy, (u64 i, T* y, const T* x, T a), y[i] += a * x[i];)`. The call
/// `axpy(stream, n, y, x, 2)` takes the type from its ranges; `axpy.of<f32>` is the kernel of one type.
#define CONCORD_KERNEL_OF(T, TYPES, NAME, PARAMETERS, ...)                                                 \
    namespace {                                                                                            \
    struct NAME##_concord_types : ::concord::Vocabulary {                                                  \
        using List = ::concord::detail::TypeList<CONCORD_IN_PARENTHESES TYPES>;                            \
    };                                                                                                     \
    template <class T>                                                                                     \
    struct NAME##_concord_body : ::concord::Vocabulary {                                                   \
        [[gnu::always_inline]] static inline void call PARAMETERS { __VA_ARGS__ }                          \
    };                                                                                                     \
    template <class T>                                                                                     \
    struct NAME##_concord_kernel : NAME##_concord_body<T> {                                                \
        [[maybe_unused]] static constexpr std::string_view name = #NAME;                                   \
        static std::string_view parameters() {                                                             \
            static const std::string text =                                                                \
                ::concord::detail::with_types(#PARAMETERS, #T, ::concord::detail::TypeList<T>::types);     \
            return text;                                                                                   \
        }                                                                                                  \
        static std::string_view body() {                                                                   \
            static const std::string text =                                                                \
                ::concord::detail::with_types(#__VA_ARGS__, #T, ::concord::detail::TypeList<T>::types);    \
            return text;                                                                                   \
        }                                                                                                  \
        [[maybe_unused]] static constexpr std::string_view file = __FILE__;                                \
        [[maybe_unused]] static constexpr const void* unit = &::concord::detail::translation_unit;         \
        [[maybe_unused]] static constexpr ::concord::u32 line = __LINE__;                                  \
    };                                                                                                     \
    }                                                                                                      \
    [[maybe_unused]] constexpr ::concord::IndexKernelOf<NAME##_concord_kernel, NAME##_concord_types::List> \
        NAME{};
