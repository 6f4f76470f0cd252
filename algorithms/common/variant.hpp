#pragma once
/// What all algorithms share: variants, how one is chosen, and what a call reports.

#include <concord/span.hpp>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace concord {

/// What a variant promises of floating-point results. Integer results are exact in every variant.
enum class OperationOrder {
    canonical,  ///< the order that the algorithm's contract defines: equal bits on every device and in every
                ///< variant
    variant_specific,  ///< an order of the variant's own that depends on n alone: equal bits on every device
    unspecified        ///< an order that depends on the device; held to a derived bound
};

std::string_view name_of(OperationOrder order);
/// The order of that name; throws invalid_argument, naming the value and the known names, if there is none.
OperationOrder operation_order_named(std::string_view name);
inline constexpr OperationOrder all_operation_orders[] = {
    OperationOrder::canonical, OperationOrder::variant_specific, OperationOrder::unspecified};

/// One way to compute an algorithm. Each algorithm's .cpp holds a table of these with its launch code beside.
struct Variant {
    std::string_view name;
    std::string_view summary;
    bool cuda, opencl, host;  ///< the dialects that it is written in
    OperationOrder order;
    std::string_view source;  ///< where it was published
};

/// Whether something can be had, and if not, why.
struct Support {
    bool yes = true;
    std::string reason;
    explicit operator bool() const { return yes; }
    static Support no(std::string why) { return {false, std::move(why)}; }
};

/// How to call an algorithm.
struct Options {
    /// A name from the algorithm's table, or "auto" for the best that this device supports. A name that does
    /// not exist is invalid_argument, one that does not support the call unsupported; both say which would
    /// do.
    std::string_view variant = "auto";
    /// The least promise of the order of operations that will do where rounding depends on it: OperationOrder::canonical for equal
    /// bits on every device. `auto` passes over variants that promise less, and one that is named is unsupported.
    OperationOrder order = OperationOrder::unspecified;
};

/// What a call enqueued.
struct Enqueued {
    std::string_view variant;  ///< the one that runs; from the table
    Device* device = nullptr;
};

/// An algorithm as `concord algorithms` shows it.
struct Algorithm {
    std::string_view name;
    std::string_view summary;
    std::vector<const Variant*> variants;
};

/// All algorithms, in the order of the README.
std::vector<Algorithm> algorithms();

namespace detail {

/// A function that a row of a table cannot do without: a row that leaves it out does not compile.
template <class F>
class Required;
template <class R, class... A>
class Required<R(A...)> {
  public:
    template <class F>
    constexpr Required(F f) : f_(f) {}
    R operator()(A... a) const { return f_(std::forward<A>(a)...); }

  private:
    R (*f_)(A...);
};

/// Whether the device's dialect is among the variant's, and the device has the arithmetic for the types.
Support supports_dialect(const Device& device, const Variant& variant);
Support supports_type(const Device& device, Type type);
/// Whether a group may have that many work-items; host kernels run theirs in one call.
Support supports_group(const Device& device, u32 group_size);

/// Whether there is that kernel of an operator, which the host dialect has for the user's operators on request only: see
/// concord/textbook.hpp. `algorithm`: whose header has it.
Support supports_textbook(const Device& device, std::string_view algorithm, const Operator& op,
                          const HostKernel& kernel);

/// "auto", or a list of what would do, for error messages.
[[noreturn]] void throw_unknown_variant(std::string_view algorithm, std::string_view name,
                                        const std::vector<std::string_view>& known);
[[noreturn]] void throw_unsupported_variant(std::string_view algorithm, std::string_view name,
                                            const Device& device, std::string_view reason,
                                            const std::vector<std::string_view>& usable);

/// Whether the variant keeps the order that is asked for. `rounds`: whether results depend on the order at all.
Support supports_order(const Variant& variant, OperationOrder asked, bool rounds);

/// Whether `auto` would rather have the row than those further down the table: true unless it has a `suits` that denies it.
template <class Row, class Problem>
bool suits(const Row& row, const Device& device, const Problem& problem) {
    if constexpr (requires { row.suits; }) {
        bool (*const asks)(const Device&, const Problem&) = row.suits;
        return asks == nullptr || asks(device, problem);
    }
    return true;
}

/// The row that options ask for. A row is a Variant with `supports(const Device&, const Problem&)`; `auto`
/// takes the first in the table that supports the problem and suits it, else the first that supports it, so a table lists
/// its variants by preference. Problem::type() is that of the arithmetic: of integers every order is exact.
template <class Row, std::size_t N, class Problem>
const Row& choose(std::string_view algorithm, const Row (&table)[N], const Device& device,
                  const Problem& problem, const Options& options) {
    auto supports = [&](const Row& row) {
        const Support dialect = supports_dialect(device, row);
        if (!dialect) return dialect;
        const Support order = supports_order(row, options.order, is_float(problem.type()));
        return order ? row.supports(device, problem) : order;
    };
    auto usable = [&] {
        std::vector<std::string_view> names;
        for (const Row& row : table) {
            if (supports(row)) names.push_back(row.name);
        }
        return names;
    };
    if (options.variant == "auto") {
        for (const bool suited : {true, false}) {
            for (const Row& row : table) {
                if ((!suited || suits(row, device, problem)) && supports(row)) return row;
            }
        }
        throw_unsupported_variant(algorithm, "auto", device, supports(table[0]).reason, {});
    }
    for (const Row& row : table) {
        if (row.name != options.variant) continue;
        if (const Support support = supports(row); !support)
            throw_unsupported_variant(algorithm, row.name, device, support.reason, usable());
        return row;
    }
    throw_unknown_variant(algorithm, options.variant, usable());
}

/// Throws wrong_device or invalid_argument unless the view is sound and on the stream's device.
void check_operand(const char* algorithm, const char* name, const Stream& stream, const View& view);

/// Work-items to launch for a group that is written for `group_size` work-items: host kernels run all of them in one call.
inline u32 group_size_of(const Device& device, u32 group_size) {
    return device.traits().dialect == Dialect::host ? 1 : group_size;
}

constexpr u64 divide_up(u64 a, u64 b) {
    return a / b + (a % b != 0 ? 1 : 0);
}

}  // namespace detail
}  // namespace concord
