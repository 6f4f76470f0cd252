#include <concord/add.hpp>

namespace concord {

constinit const Algorithm add_algorithm{.name = "add",
                                        .summary = "out[i] = a[i] + b[i]",
                                        .variants = detail::map_variants,
                                        .tuning_label = detail::map_tuning_label};

Enqueued add(Stream& stream, const View& a, const View& b, const View& out, const Options& options) {
    if (a.type != b.type || a.type != out.type)
        throw Error(ErrorCode::invalid_argument, "add",
                    "a, b and out must have the same type, got " + std::string(name_of(a.type)) + ", " +
                        std::string(name_of(b.type)) + " and " + std::string(name_of(out.type)));
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
