#pragma once
/// Kernels in the host dialect: C++ functions, one call of which is one group.
///
///     template <class T>
///     void scale(const Group& group, const T* in, T* out, u64 n, T factor);
///     KernelSpec spec{.host = host_kernel<&scale<float>>()};
///
/// The parameters after the group are the launch's arguments in order: pointers for buffers, values for
/// values.

#include <concord/types.hpp>

#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace concord {

/// Instruction sets that host kernels are compiled for; the machine's best is chosen once, at run time.
enum class HostIsa { baseline, avx2, avx512 };

/// Where a host kernel's call stands in its launch.
struct Group {
    u64 x = 0, y = 0, z = 0;                    ///< this group
    u64 count_x = 1, count_y = 1, count_z = 1;  ///< groups of the launch
    std::byte* local = nullptr;  ///< LaunchShape::local_bytes of scratch, 64-byte aligned; this group's own
    /// What the running copy of the kernel is compiled for: a constant wherever the kernel is inlined.
    HostIsa isa = HostIsa::baseline;
};

/// One entry point per instruction set, all of the same source. Null functions: no host kernel.
struct HostKernel {
    using Entry = void (*)(const Group& group, const void* const* arguments);
    struct Parameter {
        u32 bytes;
        bool pointer;
        bool is_class;
        std::optional<Type> type;  ///< of the value or what it points to; none: no element type
    };
    Entry baseline = nullptr;
    Entry avx2 = nullptr;
    Entry avx512 = nullptr;
    std::span<const Parameter> parameters;  ///< after the group

    explicit operator bool() const { return baseline != nullptr; }
    Entry entry(HostIsa isa) const {
        return isa == HostIsa::avx512 ? avx512 : isa == HostIsa::avx2 ? avx2 : baseline;
    }
};

namespace detail {

template <class P>
constexpr std::optional<Type> parameter_type() {
    using E = std::remove_cv_t<std::remove_pointer_t<P>>;
    if constexpr (is_element<E>) return type_of<E>();
    return std::nullopt;
}

template <auto Kernel>
struct HostEntry;

template <class... P, void (*Kernel)(const Group&, P...)>
struct HostEntry<Kernel> {
    static constexpr std::array<HostKernel::Parameter, sizeof...(P)> parameters = {
        {{sizeof(P), std::is_pointer_v<P>, std::is_class_v<P>, parameter_type<P>()}...}};

    template <class T>
    [[gnu::always_inline]] static inline T load(const void* argument) {
        T value;
        std::memcpy(&value, argument, sizeof value);
        return value;
    }
    template <HostIsa isa, std::size_t... I>
    [[gnu::always_inline]] static inline void call(Group group, const void* const* arguments,
                                                   std::index_sequence<I...>) {
        group.isa = isa;
        Kernel(group, load<std::remove_cv_t<P>>(arguments[I])...);
    }

    static void baseline(const Group& group, const void* const* arguments) {
        call<HostIsa::baseline>(group, arguments, std::index_sequence_for<P...>{});
    }
    // Under a sanitizer, which multiplies the compiler's work, one instruction set will do.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    // The features are added to what the command line asks for (an arch= would replace it, and a kernel
    // compiled with -march=native could then not be inlined here). g++ would rather not use 512-bit vectors,
    // clang does.
#define CONCORD_AVX2 "avx2,fma,bmi,bmi2,lzcnt,popcnt"
#define CONCORD_AVX512 "avx512f,avx512bw,avx512dq,avx512vl,avx512cd," CONCORD_AVX2
#if defined(__clang__)
#define CONCORD_WIDE_VECTORS clang::min_vector_width(512), gnu::target(CONCORD_AVX512)
#else
#define CONCORD_WIDE_VECTORS gnu::target(CONCORD_AVX512 ",prefer-vector-width=512")
#endif
    [[gnu::target(CONCORD_AVX2), gnu::flatten]] static void avx2(const Group& group,
                                                                 const void* const* arguments) {
        call<HostIsa::avx2>(group, arguments, std::index_sequence_for<P...>{});
    }
    [[CONCORD_WIDE_VECTORS, gnu::flatten]] static void avx512(const Group& group,
                                                              const void* const* arguments) {
        call<HostIsa::avx512>(group, arguments, std::index_sequence_for<P...>{});
    }
#undef CONCORD_AVX2
#undef CONCORD_AVX512
#undef CONCORD_WIDE_VECTORS
#else
    static constexpr auto avx2 = &baseline;
    static constexpr auto avx512 = &baseline;
#endif
};

}  // namespace detail

/// The host kernel whose groups run `Kernel`, a function void(const Group&, arguments...).
template <auto Kernel>
constexpr HostKernel host_kernel() {
    using E = detail::HostEntry<Kernel>;
    return {E::baseline, E::avx2, E::avx512, E::parameters};
}

/// The same compiled once, for every instruction set: where wide vectors gain too little to be worth the compiler's time.
template <auto Kernel>
constexpr HostKernel plain_host_kernel() {
    using E = detail::HostEntry<Kernel>;
    return {E::baseline, E::baseline, E::baseline, E::parameters};
}

/// The best instruction set of this machine; CONCORD_HOST_ISA (baseline, avx2, avx512) may ask for less.
HostIsa host_isa();

}  // namespace concord
