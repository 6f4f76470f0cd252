#include <concord/add.hpp>

namespace concord {

constinit const Algorithm add_algorithm{.name = "add",
                                        .summary = "out[i] = a[i] + b[i]",
                                        .variants = detail::map_variants,
                                        .tuning_label = detail::map_tuning_label};

Enqueued add(Stream& stream, const View& a, const View& b, const View& out, const Options& options) {
    detail::check_same_type("add", {{"a", a.type}, {"b", b.type}, {"out", out.type}});
    detail::check_elements("add", "a", a);
    static constexpr std::array<std::byte, 4> no_values{};
    return detail::map(stream,
                       {.algorithm = "add",
                        .a = a,
                        .b = b,
                        .out = out,
                        .op = detail::builtin(ReduceOp::sum, a.type),
                        .values = {no_values},
                        .host = detail::map_builtin_host(ReduceOp::sum, a.type)},
                       options);
}

}  // namespace concord
