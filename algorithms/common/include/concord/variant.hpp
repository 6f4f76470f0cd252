#pragma once
/// @file
/// What all algorithms share: variants, the options of a call, and its result.

#include <concord/detail/support.hpp>
#include <concord/span.hpp>

#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace concord {

/// Order of floating-point operations that a variant guarantees, from the strongest guarantee to the weakest. Integer
/// results are exact in every variant.
enum class OperationOrder {
    /// The order that the algorithm's contract defines. Results are bitwise identical in all canonical variants and
    /// on all devices.
    canonical,
    /// A deterministic order that depends on the variant and n alone. Results are bitwise identical on all devices.
    variant_specific,
    /// An order that may depend on the device. Results satisfy the error bound of the variant.
    unspecified
};

/// Returns "canonical", "variant-specific" or "unspecified".
std::string_view name_of(OperationOrder order);
/// Returns the order with the given name. Throws invalid_argument for an unknown name.
OperationOrder operation_order_named(std::string_view name);
/// All orders, from the strongest guarantee to the weakest.
inline constexpr OperationOrder all_operation_orders[] = {
    OperationOrder::canonical, OperationOrder::variant_specific, OperationOrder::unspecified};

/// Descriptor of one implementation of an algorithm.
struct Variant {
    std::string_view name = {};                          ///< name for Options::variant
    std::string_view summary = {};                       ///< what distinguishes it, in a few words
    Dialects dialects = {};                              ///< kernel languages in which it is implemented
    OperationOrder order = OperationOrder::unspecified;  ///< guaranteed order of floating-point operations
    /// Number of operations in the longest chain from an element to a result of n elements: the h of the error bound
    /// gamma_h sum |x|. For matmul n is k. Null: it does not depend on n alone, or it is unknown.
    u64 (*longest_chain)(u64 n) = nullptr;
    bool stable = false;           ///< whether a sort keeps the order of equal keys
    std::string_view source = {};  ///< publication that describes it
};

/// Options of a call.
struct Options {
    /// Name of one of the algorithm's variants, or "auto". By default Concord uses the variant in the device's tuning
    /// table. Without an entry it uses the first variant that supports and suits the call. An unknown name throws
    /// invalid_argument. A variant that does not support the call throws unsupported. Both messages list the
    /// available variants.
    std::string variant = "auto";
    /// Minimum guarantee for the order of operations where rounding depends on it.
    ///
    /// Empty, the default: `auto` keeps the canonical order, which gives bitwise identical results on all devices,
    /// wherever algorithm and operator have one. A variant that is named keeps its own order, and an operator that
    /// calls functions that devices compute differently, such as exp, runs as well. Enqueued::order tells what holds.
    ///
    /// OperationOrder::canonical and variant_specific: variants that guarantee less and such operators throw
    /// unsupported. OperationOrder::unspecified: `auto` may take every variant.
    std::optional<OperationOrder> order = {};
};

/// Result of a call: what it enqueued. The call returns before the kernels have run.
struct Enqueued {
    std::string_view variant;  ///< name of the variant that runs; valid for the life of the process
    Device* device = nullptr;  ///< device of the stream
    /// The guaranteed order of operations. canonical: the results are bitwise identical on all devices, as those of
    /// exact arithmetic always are.
    OperationOrder order = OperationOrder::canonical;
};

namespace detail {

// Whether the variant is implemented in the device's kernel language.
Support supports_dialect(const Device& device, const Variant& variant);
// Whether the device has arithmetic for the type.
Support supports_type(const Device& device, Type type);
// Whether a group may have that many work-items. Host kernels run a group in one call, so any number is supported.
Support supports_group(const Device& device, u32 group_size);
// Whether a group may have that many bytes of local memory.
Support supports_local_memory(const Device& device, u64 bytes);
// Whether a call may take that many bytes of scratch memory. Devices that only compile have no memory and no limit.
Support supports_scratch(const Device& device, u64 bytes);
// Whether the product of the two or three counts fits in 31 bits, in which kernels count groups.
Support supports_group_count(std::initializer_list<u64> counts);
// Whether a group may wait for another group of its launch.
Support supports_waiting(const Device& device);
// Whether a group may read what another group of its launch has written.
Support supports_device_fence(const Device& device);

// Whether the device can run the operator: it compiles at run time, or `host`, the operator's host kernels, is not
// null.
Support supports_operator(const Device& device, const Operator& op, const void* host);

// Throw with a message that lists the available variants, `known` or `usable`.
[[noreturn]] void throw_unknown_variant(std::string_view algorithm, std::string_view name,
                                        const std::vector<std::string_view>& known);
[[noreturn]] void throw_unsupported_variant(std::string_view algorithm, std::string_view name,
                                            const Device& device, const Support& why,
                                            const std::vector<std::string_view>& usable);

// Whether the variant guarantees the order on the device. `rounds`: its arithmetic rounds; otherwise it is exact in
// every order.
Support supports_order(const Device& device, const Variant& variant, OperationOrder asked, bool rounds);

// Whether all devices compute the operator alike: it calls no function that devices may compute differently, and
// divides f32 values only where the device rounds quotients correctly.
bool is_portable(const Operator& op, const Device& device);
// Throws unsupported unless it is.
void check_portable(std::string_view algorithm, const Operator& op, const Device& device);

// The variants of a table, for the algorithm's descriptor.
template <class Row, std::size_t N>
constexpr std::array<const Variant*, N> variants_of(const std::array<Row, N>& table) {
    std::array<const Variant*, N> list{};
    for (std::size_t i = 0; i < N; ++i)
        list[i] = &table[i].variant;
    return list;
}

// The gate of every call: each operand passes one of these two before anything else reads it.
// Throws wrong_device or invalid_argument unless the view is valid and lies on the stream's device, and unsupported for
// structs and bool. A view without elements may have no buffer.
void check_operand(std::string_view call, std::string_view name, const Stream& stream, const View& view);
// The same for an output, which must also be writable.
void check_output(std::string_view call, std::string_view name, const Stream& stream, const View& view);

// The part of check_operand() for structs and bool, for calls that use the type before the other checks.
void check_elements(std::string_view call, std::string_view name, const View& view);

// Throws invalid_argument unless the named types are equal.
void check_same_type(std::string_view call, std::initializer_list<std::pair<const char*, ElementType>> types);

// An operand of a call and its name in messages.
struct NamedView {
    const char* name;
    const View& view;
};

// Whether a call may have its output exactly where its input is.
enum class InPlace : u8 { no, yes };

// Throws invalid_argument if an output overlaps an input, unless the call may be in place and is.
void check_overlap(std::string_view call, const NamedView& out, const NamedView& in,
                   InPlace in_place = InPlace::no);

// Work-items to launch for a group of `group_size` work-items. Host kernels run all of them in one call.
inline u32 group_size_of(const Device& device, u32 group_size) {
    return device.traits().launch == LaunchModel::host ? 1 : group_size;
}

constexpr u64 divide_up(u64 a, u64 b) {
    return a / b + (a % b != 0 ? 1 : 0);
}

}  // namespace detail
}  // namespace concord
