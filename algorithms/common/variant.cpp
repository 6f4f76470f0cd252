#include <concord/internal/operator_text.hpp>
#include <concord/internal/shape.hpp>
#include <concord/variant.hpp>

namespace concord {

std::string_view name_of(OperationOrder order) {
    switch (order) {
        case OperationOrder::canonical:
            return "canonical";
        case OperationOrder::variant_specific:
            return "variant-specific";
        case OperationOrder::unspecified:
            return "unspecified";
    }
    return "unknown";
}

OperationOrder operation_order_named(std::string_view name) {
    std::string known;
    for (const OperationOrder order : all_operation_orders) {
        if (name_of(order) == name) return order;
        known.append(known.empty() ? "" : ", ").append(name_of(order));
    }
    throw Error(ErrorCode::invalid_argument, "operation_order_named",
                "unknown order '" + std::string(name) + "'; available: " + known);
}

namespace detail {
namespace {

std::string joined(const std::vector<std::string_view>& names) {
    std::string text;
    for (const std::string_view name : names)
        text.append(text.empty() ? "" : ", ").append(name);
    return text.empty() ? "none" : text;
}

}  // namespace

Support supports_dialect(const Device& device, const Variant& variant) {
    const Dialect dialect = device.traits().dialect;
    if (variant.dialects.has(dialect)) return {};
    return Support::no("not implemented in " + std::string(name_of(dialect)));
}

Support supports_type(const Device& device, Type type) {
    if (type == Type::f64 && !device.traits().fp64)
        return Support::no(device.info().selector + " has no f64 arithmetic");
    return {};
}

Support supports_order(const Variant& variant, OperationOrder asked, Type arithmetic) {
    if (!is_float(arithmetic) || variant.order <= asked) return {};
    return Support::no("order of operations is " + std::string(name_of(variant.order)) + ", not " +
                       std::string(name_of(asked)));
}

Support supports_group(const Device& device, u32 group_size) {
    if (device.traits().serial_groups || device.traits().max_group_size >= group_size) return {};
    return Support::no("requires groups of " + std::to_string(group_size) + " work-items; " +
                       device.info().selector + " supports at most " +
                       std::to_string(device.traits().max_group_size));
}

Support supports_local_memory(const Device& device, u64 bytes) {
    if (bytes <= device.traits().local_memory) return {};
    return Support::no("requires " + std::to_string(bytes) + " bytes of local memory per group; " +
                       device.info().selector + " has " + std::to_string(device.traits().local_memory));
}

Support supports_scratch(const Device& device, u64 bytes) {
    const u64 most = device.traits().global_memory / 4;
    if (bytes <= most || !device.traits().runs) return {};
    return Support::no("requires " + std::to_string(bytes) + " bytes of scratch memory; the limit on " +
                       device.info().selector + " is " + std::to_string(most));
}

Support supports_group_count(std::initializer_list<u64> counts) {
    constexpr u64 limit = ~u32{0} >> 1;
    CheckedSize groups = 1;
    for (const u64 count : counts)
        groups = groups * count;
    if (groups.fits(limit)) return {};
    return Support::no("supports at most 2^31 - 1 tiles, got " + size_name(counts));
}

Support supports_waiting(const Device& device) {
    if (device.traits().forward_progress) return {};
    return Support::no("requires groups that can wait for one another; " + device.info().selector +
                       " does not guarantee forward progress");
}

Support supports_device_fence(const Device& device) {
    if (device.traits().device_fence) return {};
    return Support::no("requires a memory fence for all groups of a launch; " + device.info().selector +
                       " has none");
}

Support supports_builtin_only(const Operator& op, bool is_compiled) {
    if (is_compiled) return {};
    return Support::no("supports built-in operators only on the CPU, got operator '" + op.name + "'");
}

Support supports_operator(const Device& device, const Operator& op, const void* host) {
    if (op.needs_f64 && !device.traits().fp64)
        return Support::no("operator '" + op.name +
                           "' computes in f64, as exp and the other math functions do, and " +
                           device.info().selector + " has none; native:: selects the device's own functions");
    if (device.traits().compiles_source || host != nullptr) return {};
    return Support::no("operator '" + op.name + "' exists only as source, and " + device.info().selector +
                       " does not compile at run time; select a device that does");
}

bool is_portable(const Operator& op, const Device& device) {
    return op.unportable.empty() && (device.traits().exact_divide_sqrt || !may_divide_f32(op));
}

void check_portable(std::string_view algorithm, const Operator& op, const Device& device) {
    if (!device.traits().exact_divide_sqrt && may_divide_f32(op))
        throw Error(
            ErrorCode::unsupported, algorithm,
            "operator '" + op.name + "' divides or takes a square root, which " + device.info().selector +
                " may not round correctly for f32; set Options::order to unspecified, or compute in f64");
    if (op.unportable.empty()) return;
    throw Error(
        ErrorCode::unsupported, algorithm,
        "operator '" + op.name + "' calls '" + op.unportable +
            "', which devices may compute differently; set Options::order to unspecified, or use arithmetic "
            "and the functions of concord/vocabulary.hpp");
}

void throw_unknown_variant(std::string_view algorithm, std::string_view name,
                           const std::vector<std::string_view>& known) {
    throw Error(ErrorCode::invalid_argument, algorithm,
                "unknown variant '" + std::string(name) + "'; available: " + joined(known));
}

void throw_unsupported_variant(std::string_view algorithm, std::string_view name, const Device& device,
                               std::string_view reason, const std::vector<std::string_view>& usable) {
    // No other variant helps: the reason alone.
    if (usable.empty()) throw Error(ErrorCode::unsupported, algorithm, reason);
    throw Error(ErrorCode::unsupported, algorithm,
                "variant '" + std::string(name) + "' on " + device.info().selector + ": " +
                    std::string(reason) + "; available: " + joined(usable));
}

void check_operand(const char* algorithm, const char* name, const Stream& stream, const View& view) {
    check_view(algorithm, name, view);
    if (view.buffer != nullptr && view.buffer->kind() == Buffer::Kind::host)
        throw Error(ErrorCode::invalid_argument, algorithm,
                    std::string(name) + " is in a host buffer; pass a device buffer");
    if (view.buffer == nullptr || &view.device() == &stream.device()) return;
    throw Error(ErrorCode::wrong_device, algorithm,
                std::string(name) + " must be on the stream's device " + stream.device().info().selector +
                    ", got a buffer on " + view.device().info().selector);
}

void check_output(const char* algorithm, const char* name, const Stream& stream, const View& view) {
    check_operand(algorithm, name, stream, view);
    if (view.buffer != nullptr && view.buffer->read_only())
        throw Error(ErrorCode::invalid_argument, algorithm,
                    std::string(name) + " is read-only memory; pass an output that may be written");
}

void check_same_type(std::string_view call, std::initializer_list<std::pair<const char*, Type>> types) {
    std::string names, got;
    bool same = true;
    for (const auto& [name, type] : types) {
        const bool last = name == (types.end() - 1)->first;
        const char* separator = names.empty() ? "" : last ? " and " : ", ";
        names.append(separator).append(name);
        got.append(separator).append(name_of(type));
        same = same && type == types.begin()->second;
    }
    if (!same)
        throw Error(ErrorCode::invalid_argument, call,
                    error_message(names + " must have the same type", got));
}

void check_overlap(std::string_view call, const NamedView& out, const NamedView& in, InPlace in_place) {
    const bool allowed = in_place == InPlace::yes;
    if (!overlap(out.view, in.view) || (allowed && out.view.offset == in.view.offset)) return;
    auto place = [](const NamedView& named) {
        return std::string(named.name) + " at byte " + std::to_string(named.view.offset);
    };
    throw Error(ErrorCode::invalid_argument, call,
                place(out) + " overlaps " + place(in) + " of the same buffer; pass " +
                    (allowed ? "identical or disjoint ranges" : "disjoint ranges"));
}

}  // namespace detail
}  // namespace concord
