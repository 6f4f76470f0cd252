#include <concord/add.hpp>
#include <concord/compact.hpp>
#include <concord/convolve.hpp>
#include <concord/histogram.hpp>
#include <concord/map.hpp>
#include <concord/matmul.hpp>
#include <concord/reduce.hpp>
#include <concord/scan.hpp>
#include <concord/sort.hpp>
#include <concord/stencil.hpp>
#include <concord/transpose.hpp>
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

std::vector<Algorithm> algorithms() {
    return {{"map", "out[i] = f(in[i]), or f(a[i], b[i])", map_variants()},
            {"add", "out[i] = a[i] + b[i]", add_variants()},
            {"reduce", "out[0] = in[0] op in[1] op ... in[n-1]", reduce_variants()},
            {"scan", "out[i] = in[0] op in[1] op ... op in[i]", scan_variants()},
            {"histogram", "counters[b] = number of i with bin(in[i]) == b", histogram_variants()},
            {"compact", "out = the elements of in for which a predicate holds, in order", compact_variants()},
            {"sort", "out = the elements of in, in order", sort_variants()},
            {"transpose", "out[c, r] = in[r, c]", transpose_variants()},
            {"convolve", "out[y, x] = sum of mask[j, i] * in[y + j - ry, x + i - rx]", convolve_variants()},
            {"stencil", "out = a star of radius 1 to 8 on a volume, in time steps", stencil_variants()},
            {"matmul", "C = alpha op(A) op(B) + beta C", matmul_variants()}};
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
    const bool has = dialect == Dialect::cuda     ? variant.cuda
                     : dialect == Dialect::opencl ? variant.opencl
                                                  : variant.host;
    if (has) return {};
    return Support::no(std::string(variant.name) + " is not written in " + std::string(name_of(dialect)));
}

Support supports_type(const Device& device, Type type) {
    if (type == Type::f64 && !device.traits().fp64)
        return Support::no(device.info().selector + " has no f64 arithmetic");
    return {};
}

Support supports_order(const Variant& variant, OperationOrder asked, bool rounds) {
    if (!rounds || variant.order <= asked) return {};
    return Support::no("its order of operations is " + std::string(name_of(variant.order)) + ", not " +
                       std::string(name_of(asked)));
}

Support supports_group(const Device& device, u32 group_size) {
    if (device.traits().dialect == Dialect::host || device.traits().max_group_size >= group_size) return {};
    return Support::no("groups of " + std::to_string(group_size) + " work-items are more than the " +
                       std::to_string(device.traits().max_group_size) + " of " + device.info().selector);
}

Support supports_textbook(const Device& device, std::string_view algorithm, const Operator& op,
                          const HostKernel& kernel) {
    if (device.traits().dialect != Dialect::host || kernel) return {};
    return Support::no("its host kernels are not compiled for operator " + op.name + "; include <concord/" +
                       std::string(algorithm) + "_textbook.hpp> and pass textbook(" + op.name + ")");
}

void throw_unknown_variant(std::string_view algorithm, std::string_view name,
                           const std::vector<std::string_view>& known) {
    throw Error(ErrorCode::invalid_argument, algorithm,
                "there is no variant '" + std::string(name) + "'; these would do: " + joined(known));
}

void throw_unsupported_variant(std::string_view algorithm, std::string_view name, const Device& device,
                               std::string_view reason, const std::vector<std::string_view>& usable) {
    throw Error(ErrorCode::unsupported, algorithm,
                "variant " + std::string(name) + " on " + device.info().selector + ": " +
                    std::string(reason) + "; these would do: " + joined(usable));
}

void check_operand(const char* algorithm, const char* name, const Stream& stream, const View& view) {
    check_view(algorithm, name, view);
    if (view.buffer != nullptr && view.buffer->kind() == Buffer::Kind::host)
        throw Error(ErrorCode::invalid_argument, algorithm, std::string(name) + " is in a host buffer");
    if (view.buffer == nullptr || &view.device() == &stream.device()) return;
    throw Error(ErrorCode::wrong_device, algorithm,
                std::string(name) + " is on " + view.device().info().selector + ", the stream on " +
                    stream.device().info().selector);
}

}  // namespace detail
}  // namespace concord
