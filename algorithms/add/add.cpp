#include <concord/add.hpp>

namespace concord {

constinit const Algorithm add_algorithm{.name = "add",
                                        .summary = "out[i] = a[i] + b[i]",
                                        .variants = detail::map_variants,
                                        .tuning_label = detail::map_tuning_label};

Enqueued add(Stream& stream, const View& a, const View& b, const View& out, const Options& options) {
    detail::check_same_type("add", {{"a", a.type}, {"b", b.type}, {"out", out.type}});
    static constexpr std::array<std::byte, 4> no_values{};
    const detail::MapHost& host = detail::visit_type(a.type, [](auto tag) -> const detail::MapHost& {
        using T = typename decltype(tag)::type;
        return detail::map_host<T, T, T, detail::ops::Sum>();
    });
    return detail::map(stream,
                       {.algorithm = "add",
                        .a = a,
                        .b = b,
                        .out = out,
                        .op = detail::builtin(ReduceOp::sum, a.type),
                        .values = {no_values},
                        .host = &host},
                       options);
}

}  // namespace concord
