#include <concord/detail/checked_size.hpp>
#include <concord/internal/operands.hpp>

#include <algorithm>

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

std::string Support::text() const {
    std::string text;
    const Value* value = values_.data();
    for (std::string_view rest = reason_ == nullptr ? "" : reason_; !rest.empty();) {
        const std::size_t gap = std::min(rest.find("{}"), rest.size());
        text.append(rest.substr(0, gap));
        rest.remove_prefix(gap);
        if (rest.empty()) break;
        rest.remove_prefix(2);
        if (value->name == nullptr) {
            text.append(std::to_string(value->number));
        } else {
            text.append(value->name, value->number);
        }
        ++value;
    }
    return text;
}

Support supports_dialect(const Device& device, const Variant& variant) {
    const Dialect dialect = device.traits().dialect;
    if (variant.dialects.has(dialect)) return {};
    return Support::no("not implemented in {}", name_of(dialect));
}

Support supports_type(const Device& device, Type type) {
    if (type == Type::f64 && !device.traits().fp64)
        return Support::no("{} has no f64 arithmetic", device.info().selector);
    return {};
}

Support supports_order(const Device& device, const Variant& variant, OperationOrder asked, bool rounds) {
    if (!rounds || asked == OperationOrder::unspecified) return {};
    if (!device.traits().keeps_denormals)
        return Support::no("{} flushes denormals to zero, so that no order is {}", device.info().selector,
                           name_of(asked));
    if (variant.order <= asked) return {};
    return Support::no("order of operations is {}, not {}", name_of(variant.order), name_of(asked));
}

Support supports_group(const Device& device, u32 group_size) {
    if (device.traits().launch == LaunchModel::host || device.traits().max_group_size >= group_size)
        return {};
    return Support::no("requires groups of {} work-items; {} supports at most {}", group_size,
                       device.info().selector, device.traits().max_group_size);
}

Support supports_local_memory(const Device& device, u64 bytes) {
    if (bytes <= device.traits().local_memory) return {};
    return Support::no("requires {} bytes of local memory per group; {} has {}", bytes,
                       device.info().selector, device.traits().local_memory);
}

Support supports_scratch(const Device& device, u64 bytes) {
    const u64 most = device.traits().global_memory / 4;
    if (bytes <= most || !device.traits().runs) return {};
    return Support::no("requires {} bytes of scratch memory; the limit on {} is {}", bytes,
                       device.info().selector, most);
}

Support supports_group_count(std::initializer_list<u64> counts) {
    constexpr u64 limit = ~u32{0} >> 1;
    CheckedSize groups = 1;
    for (const u64 count : counts)
        groups = groups * count;
    if (groups.fits(limit)) return {};
    const u64* const n = counts.begin();
    if (counts.size() == 2) return Support::no("supports at most 2^31 - 1 tiles, got {} x {}", n[0], n[1]);
    return Support::no("supports at most 2^31 - 1 tiles, got {} x {} x {}", n[0], n[1], n[2]);
}

Support supports_waiting(const Device& device) {
    if (device.traits().forward_progress) return {};
    return Support::no(
        "requires groups that can wait for one another; {} does not guarantee forward progress",
        device.info().selector);
}

Support supports_device_fence(const Device& device) {
    if (device.traits().device_fence) return {};
    return Support::no("requires a memory fence for all groups of a launch; {} has none",
                       device.info().selector);
}

Support supports_operator(const Device& device, const Operator& op, const void* host) {
    if (op.needs_f64 && !device.traits().fp64)
        return Support::no(
            "operator '{}' computes in f64, as exp and the other math functions do, and {} has none; "
            "native:: "
            "selects the device's own functions",
            op.name, device.info().selector);
    if (device.traits().launch != LaunchModel::host || host != nullptr) return {};
    return Support::no(
        "operator '{}' exists only as source, and {} does not compile at run time; select a device that does",
        op.name, device.info().selector);
}

bool is_portable(const Operator& op, const Device& device) {
    return op.unportable.empty() && (device.traits().exact_divide_sqrt || !op.may_divide_f32);
}

void check_portable(std::string_view algorithm, const Operator& op, const Device& device) {
    if (!device.traits().exact_divide_sqrt && op.may_divide_f32)
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
                               const Support& why, const std::vector<std::string_view>& usable) {
    // No other variant helps: the reason alone.
    if (usable.empty()) throw Error(ErrorCode::unsupported, algorithm, why.text());
    const DeviceTraits& traits = device.traits();
    std::string where = device.info().selector;
    // A GPU that runs kernels of one work-item per group (traits_of in the OpenCL backend).
    if (traits.launch != LaunchModel::groups && traits.max_group_size > 1 &&
        traits.max_group_size < DeviceTraits::min_group_size)
        where += ", whose groups have at most " + std::to_string(traits.max_group_size) +
                 " work-items (kernels for groups need " + std::to_string(DeviceTraits::min_group_size) + ")";
    throw Error(ErrorCode::unsupported, algorithm,
                "variant '" + std::string(name) + "' on " + where + ": " + why.text() +
                    "; available: " + joined(usable));
}

void check_range(std::string_view call, std::string_view name, const Stream& stream, const View& view) {
    check_view(call, name, view);
    if (view.buffer == nullptr || &view.device() == &stream.device()) return;
    throw Error(ErrorCode::wrong_device, call,
                std::string(name) + " must be on the stream's device " + stream.device().info().selector +
                    ", got a buffer on " + view.device().info().selector);
}

void check_writable(std::string_view call, std::string_view name, const View& view) {
    if (view.buffer == nullptr || !view.buffer->read_only()) return;
    throw Error(ErrorCode::invalid_argument, call,
                std::string(name) + " is read-only memory; pass an output that may be written");
}

void check_no_struct(std::string_view call, std::string_view name, const View& view) {
    if (view.type.structure() == nullptr) return;
    throw Error(ErrorCode::unsupported, call,
                error_message("elements of " + std::string(name) + " must have an element type",
                              "the struct " + std::string(name_of(view.type))));
}

void check_elements(std::string_view call, std::string_view name, const View& view) {
    check_no_struct(call, name, view);
    if (is_boolean(view.type))
        throw Error(ErrorCode::unsupported, call,
                    std::string(name) + ": " + std::string(call) +
                        " does not support bool; convert it, for example to u8");
}

void check_movable(std::string_view call, std::string_view name, const Stream& stream, const View& view) {
    check_range(call, name, stream, view);
    if (view.buffer == nullptr || view.buffer->kind() != Buffer::Kind::host) return;
    throw Error(ErrorCode::invalid_argument, call,
                std::string(name) + " is in a host buffer; pass a device buffer");
}

void check_operand(std::string_view call, std::string_view name, const Stream& stream, const View& view) {
    check_elements(call, name, view);
    check_movable(call, name, stream, view);
}

void check_stored(std::string_view call, std::string_view name, const Stream& stream, const View& view) {
    check_no_struct(call, name, view);
    check_movable(call, name, stream, view);
}

void check_output(std::string_view call, std::string_view name, const Stream& stream, const View& view) {
    check_operand(call, name, stream, view);
    check_writable(call, name, view);
}

void check_same_type(std::string_view call,
                     std::initializer_list<std::pair<const char*, ElementType>> types) {
    const auto differs = [&](const auto& named) { return named.second != types.begin()->second; };
    if (std::none_of(types.begin(), types.end(), differs)) return;
    std::string names, got;
    for (const auto& [name, type] : types) {
        const bool last = name == (types.end() - 1)->first;
        const char* separator = names.empty() ? "" : last ? " and " : ", ";
        names.append(separator).append(name);
        got.append(separator).append(name_of(type));
    }
    throw Error(ErrorCode::invalid_argument, call, error_message(names + " must have the same type", got));
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
