#pragma once
/// @file
/// Kernels for the CPU: C++ functions. One call processes one group.
///
///     template <class T>
///     void scale(const Group& group, const T* in, T* out, u64 n, T factor);
///     KernelSpec spec{.host = host_kernel<&scale<float>>()};
///
/// The parameters after the group are the arguments of the launch in order: pointers for buffers, values for values. A
/// parameter `const S&` of a struct S of alignment 1 refers to the argument in place, which may be longer than S. A
/// last parameter HostArguments takes all arguments from there on.

#include <concord/traits.hpp>
#include <concord/types.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

// Under a sanitizer, which multiplies compile time, kernels are compiled for one instruction set only.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CONCORD_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CONCORD_SANITIZED
#endif
#endif

namespace concord {

/// What the groups of one launch share.
struct LaunchState {
    /// Whether a group has thrown. Groups that wait for other groups end then, and no further group starts.
    std::atomic<bool> cancelled = false;
    /// Counters that the groups of the launch share, zeroed when it starts. They end with the launch, also if it fails.
    alignas(64) std::array<u64, 32> words = {};
};

/// The group that a call of a host kernel processes.
struct Group {
    u64 x = 0;        ///< index along x
    u64 y = 0;        ///< index along y
    u64 z = 0;        ///< index along z
    u64 count_x = 1;  ///< groups of the launch along x
    u64 count_y = 1;  ///< groups of the launch along y
    u64 count_z = 1;  ///< groups of the launch along z
    /// Local memory of this group: LaunchShape::local_bytes bytes with 64-byte alignment.
    std::byte* local = nullptr;
    /// The instruction set that this copy of the kernel is compiled for. A constant after inlining, except in a
    /// dispatching_host_kernel.
    HostIsa isa = HostIsa::baseline;
    /// The state of the launch.
    LaunchState* launch = nullptr;
};

/// The arguments of a launch from some position on, any number of them: for each the address of the value, or of the
/// pointer to the buffer.
struct HostArguments {
    const void* const* list = nullptr;  ///< the first of them
};

/// The compiled versions of a host kernel, one per instruction set. Empty if the functions are null.
struct HostKernel {
    /// A compiled version: processes one group. `arguments` points to the arguments of the launch.
    using Entry = void (*)(const Group& group, const void* const* arguments);
    /// A parameter after the group.
    struct Parameter {
        u32 bytes;      ///< size
        bool pointer;   ///< a pointer, for a buffer
        bool is_class;  ///< a struct
        bool is_rest;   ///< HostArguments
        std::optional<Type>
            type;  ///< type of the value or of the elements; empty if it is not an element type
    };
    std::array<Entry, std::size(all_host_isas)> versions = {};  ///< by instruction set
    std::span<const Parameter> parameters;                      ///< parameters after the group

    /// Whether there is a kernel.
    explicit operator bool() const { return versions[0] != nullptr; }
    /// The version for an instruction set.
    constexpr Entry& entry(HostIsa isa) { return versions[static_cast<std::size_t>(isa)]; }
    /// The version for an instruction set.
    constexpr Entry entry(HostIsa isa) const { return versions[static_cast<std::size_t>(isa)]; }
};

namespace detail {

template <class P>
constexpr std::optional<Type> parameter_type() {
    using E = std::remove_cv_t<std::remove_pointer_t<std::remove_reference_t<P>>>;
    if constexpr (is_element<E>) return type_of<E>();
    return std::nullopt;
}

template <auto Kernel>
struct HostEntry;

template <class... P, void (*Kernel)(const Group&, P...)>
struct HostEntry<Kernel> {
    // HostArguments take what follows.
    static constexpr bool ends_with_rest() {
        constexpr bool is_rest[] = {std::is_same_v<std::remove_cv_t<P>, HostArguments>..., false};
        for (std::size_t i = 0; i + 1 < sizeof...(P); ++i) {
            if (is_rest[i]) return false;
        }
        return true;
    }
    static_assert(ends_with_rest(), "HostArguments must be the last parameter");
    static constexpr std::array<HostKernel::Parameter, sizeof...(P)> parameters = {
        {{.bytes = sizeof(P),
          .pointer = std::is_pointer_v<P>,
          .is_class = std::is_class_v<std::remove_reference_t<P>>,
          .is_rest = std::is_same_v<std::remove_cv_t<P>, HostArguments>,
          .type = parameter_type<P>()}...}};

    template <class T>
    [[gnu::always_inline]] static inline T load(const void* const* argument) {
        if constexpr (std::is_same_v<T, HostArguments>) {
            return {argument};
        } else if constexpr (std::is_reference_v<T>) {
            static_assert(alignof(T) == 1, "a reference parameter requires a type of alignment 1");
            return *static_cast<std::remove_reference_t<T>*>(*argument);
        } else {
            T value;
            std::memcpy(&value, *argument, sizeof value);
            return value;
        }
    }
    template <std::size_t... I>
    [[gnu::always_inline]] static inline void call(Group group, HostIsa isa, const void* const* arguments,
                                                   std::index_sequence<I...>) {
        group.isa = isa;
        Kernel(group, load<std::remove_cv_t<P>>(arguments + I)...);
    }

    static void baseline(const Group& group, const void* const* arguments) {
        call(group, HostIsa::baseline, arguments, std::index_sequence_for<P...>{});
    }
#if defined(__x86_64__) && !defined(CONCORD_SANITIZED)
    // Adds features to the target of the command line. An arch= would replace the target, and a kernel compiled with
    // -march=native could not be inlined here. g++ avoids 512-bit vectors without the option below.
#define CONCORD_AVX2 "avx2,fma,bmi,bmi2,lzcnt,popcnt"
#define CONCORD_AVX512 "avx512f,avx512bw,avx512dq,avx512vl,avx512cd," CONCORD_AVX2
#if defined(__clang__)
#define CONCORD_WIDE_VECTORS clang::min_vector_width(512), gnu::target(CONCORD_AVX512)
#else
#define CONCORD_WIDE_VECTORS gnu::target(CONCORD_AVX512 ",prefer-vector-width=512")
#endif
    [[gnu::target(CONCORD_AVX2), gnu::flatten]] static void avx2(const Group& group,
                                                                 const void* const* arguments) {
        call(group, HostIsa::avx2, arguments, std::index_sequence_for<P...>{});
    }
    [[CONCORD_WIDE_VECTORS, gnu::flatten]] static void avx512(const Group& group,
                                                              const void* const* arguments) {
        call(group, HostIsa::avx512, arguments, std::index_sequence_for<P...>{});
    }
#undef CONCORD_AVX2
#undef CONCORD_AVX512
#undef CONCORD_WIDE_VECTORS
#else
    static constexpr auto avx2 = &baseline;
    static constexpr auto avx512 = &baseline;
#endif

    // A function that is not used is not compiled.
    template <HostIsa isa>
    static constexpr HostKernel::Entry version() {
        if constexpr (isa == HostIsa::avx512) {
            return avx512;
        } else if constexpr (isa == HostIsa::avx2) {
            return avx2;
        } else {
            static_assert(isa == HostIsa::baseline);
            return baseline;
        }
    }
    template <std::size_t... I>
    static constexpr HostKernel all_versions(std::index_sequence<I...>) {
        return {{version<all_host_isas[I]>()...}, parameters};
    }

    // One function for all versions, which learns the instruction set at run time.
    template <HostIsa isa>
    static void dispatching(const Group& group, const void* const* arguments) {
        dispatch(group, isa, arguments);
    }
    [[gnu::noinline]] static void dispatch(const Group& group, HostIsa isa, const void* const* arguments) {
        call(group, isa, arguments, std::index_sequence_for<P...>{});
    }
    template <std::size_t... I>
    static constexpr HostKernel dispatching_versions(std::index_sequence<I...>) {
        return {{dispatching<all_host_isas[I]>...}, parameters};
    }
};

}  // namespace detail

/// The host kernel for `Kernel`, a function void(const Group&, arguments...), compiled for every instruction set.
template <auto Kernel>
constexpr HostKernel host_kernel() {
    return detail::HostEntry<Kernel>::all_versions(std::make_index_sequence<std::size(all_host_isas)>{});
}

/// The host kernel for `Kernel`, compiled once, with Group::isa = HostIsa::baseline. For kernels that gain little from
/// wide vectors; saves compile time.
template <auto Kernel>
constexpr HostKernel plain_host_kernel() {
    using E = detail::HostEntry<Kernel>;
    HostKernel kernel{.parameters = E::parameters};
    kernel.versions.fill(E::baseline);
    return kernel;
}

/// The host kernel for `Kernel`, compiled once, with the version's instruction set in Group::isa. For kernels that call
/// versions of other host kernels.
template <auto Kernel>
constexpr HostKernel dispatching_host_kernel() {
    return detail::HostEntry<Kernel>::dispatching_versions(
        std::make_index_sequence<std::size(all_host_isas)>{});
}

/// Replaces the version for the instruction set `isa` by that of `Kernel`, which has the same parameters.
template <auto Kernel, HostIsa isa>
constexpr HostKernel with_version(HostKernel kernel) {
    kernel.entry(isa) = detail::HostEntry<Kernel>::template version<isa>();
    return kernel;
}

/// The instruction set of the device "tbb": the best one of this machine. The environment variable CONCORD_HOST_ISA
/// (baseline, avx2, avx512) limits it.
HostIsa host_isa();
/// The best instruction set of this machine, whatever the environment says.
HostIsa machine_isa();

namespace detail {
// The names of all instruction sets, each after `prefix`, for messages: "tbb@baseline, tbb@avx2 or tbb@avx512".
std::string host_isa_names(std::string_view prefix);
}  // namespace detail

}  // namespace concord
