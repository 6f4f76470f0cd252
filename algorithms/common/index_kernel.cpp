#include <concord/index_kernel.hpp>

#include <concord/internal/body_kernel.hpp>
#include <concord/internal/row.hpp>
#include <concord/internal/shape.hpp>

#include <algorithm>
#include <bit>

namespace concord::detail {
namespace {

// "NAME_body(x, y, next + concord_at_next, c);"
std::string body_call(const KernelDefinition& d, bool has_offsets) {
    static constexpr std::string_view index[] = {"concord_x", "concord_y", "concord_z"};
    const std::vector<std::string_view> parameters = parameters_of(d);
    std::string text(d.name);
    text += "_body(";
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (i > 0) text += ", ";
        const std::string_view name = name_in(d, parameters[i]);
        text.append(i < d.rank ? index[i] : name);
        if (i >= d.rank && has_offsets && d.types[i - d.rank].is_buffer)
            text.append(" + concord_at_").append(name);
    }
    return text + ");";
}

constexpr std::string_view index_loops = R"( {
#if CONCORD_MANY
    const u64 concord_x = CONCORD_X;
    if (concord_x >= concord_nx) return;
#if CONCORD_BEYOND
    for (u64 concord_z = CONCORD_Z; concord_z < concord_nz; concord_z += CONCORD_STEP_Z)
        for (u64 concord_y = CONCORD_Y; concord_y < concord_ny; concord_y += CONCORD_STEP_Y)
#else
    const u64 concord_z = CONCORD_Z, concord_y = CONCORD_Y;
    if (concord_y < concord_ny)
#endif
#else
    const u64 concord_tiles = (concord_nx + concord_tile_x - 1) / concord_tile_x;
    const u64 concord_begin = CONCORD_GROUP_X % concord_tiles * concord_tile_x;
    const u64 concord_end = min(concord_nx, concord_begin + concord_tile_x);
    const u64 concord_first = CONCORD_GROUP_X / concord_tiles * concord_tile_y;
    const u64 concord_last = min(concord_ny * concord_nz, concord_first + concord_tile_y);
    for (u64 concord_row = concord_first; concord_row < concord_last; ++concord_row) {
        const u64 concord_y = concord_row % concord_ny, concord_z = concord_row / concord_ny;
        for (u64 concord_x = concord_begin; concord_x < concord_end; ++concord_x)
#endif
            )";
constexpr std::string_view index_end = "\n#if !CONCORD_MANY\n    }\n#endif\n}\n";

}  // namespace

std::string index_source(const KernelDefinition& d, const Language& language,
                         const std::vector<const NamedFunction*>& helpers) {
    const WrittenBody body(d, language, helpers);
    std::string text(language.index);
    text.append(definitions_of(d, language, helpers, body))
        .append(language.function)
        .append("void ")
        .append(d.name)
        .append("_body(");
    const std::vector<std::string_view> parameters = parameters_of(d);
    for (std::size_t i = 0; i < parameters.size(); ++i)
        text.append(i > 0 ? ", " : "")
            .append(i >= d.rank && d.types[i - d.rank].is_buffer ? language.global : "")
            .append(parameter_type(d, parameters[i], language))
            .append(" ")
            .append(name_in(d, parameters[i]));
    text.append(") {\n")
        .append(body.body(body.text, language))
        .append("}\n")
        .append(language.kernel)
        .append(d.name);
    text.append("(u64 concord_nx, u64 concord_ny, u64 concord_nz, u64 concord_tile_x, u64 concord_tile_y");
    if (!d.types.empty()) text.append(", ").append(entry_parameters(d, language));
    text.append(")").append(index_loops);
    return text.append(body_call(d, !language.offset.empty())).append(index_end);
}

Enqueued run_index_kernel(Stream& stream, const KernelDefinition& d, const std::array<u64, 3>& extents,
                          std::span<const KernelArgument> arguments, bool compile_everywhere) {
    const DeviceTraits& traits = stream.device().traits();
    const auto [nx, ny, nz] = extents;
    const CheckedSize rows = CheckedSize(ny) * nz, all_indices = rows * nx;
    if (!all_indices.fits(~u64{0} >> 1))
        throw Error(ErrorCode::invalid_argument, d.name,
                    "too many indices, got " + size_name({nx, ny, nz}) + "; the limit is 2^63 - 1");
    // A work-item beyond the limit of groups would need a loop, which costs a tenth of a memory-bound kernel's speed.
    const bool is_beyond = traits.launch == LaunchModel::groups && (ny > max_groups_yz || nz > max_groups_yz);
    KernelCall call(stream, d, arguments, is_beyond, compile_everywhere);
    if (nx == 0 || ny == 0 || nz == 0) return call.result();
    LaunchShape shape;
    u64 tile_x = 0, tile_y = 0;
    if (traits.launch == LaunchModel::groups) {
        const i64 most = call.kernel().attributes().max_group_size;  // -1: unknown
        const u32 items = std::bit_floor(most > 0 ? static_cast<u32>(std::min<i64>(index_group_size, most))
                                                  : index_group_size);
        const u32 widest = d.rank == 1 ? items : std::min<u32>(items, 64);
        shape.group_size_x =
            static_cast<u32>(std::min<u64>(widest, std::bit_ceil(std::min<u64>(nx, widest))));
        shape.group_size_y = static_cast<u32>(
            std::min<u64>(items / shape.group_size_x, std::bit_ceil(std::min<u64>(ny, items))));
        tile_x = shape.group_size_x;
        tile_y = shape.group_size_y;
        shape.groups_x = divide_up(nx, tile_x);
        shape.groups_y = std::min(max_groups_yz, divide_up(ny, tile_y));
        shape.groups_z = std::min(max_groups_yz, nz);
    } else {
        // At most 64 tiles per unit.
        const u64 tile =
            std::max(call.code().min_tile(), divide_up(all_indices.value(), u64{64} * traits.units));
        tile_x = std::min(nx, tile);
        tile_y = std::max<u64>(1, tile / tile_x);
        shape.groups_x = divide_up(nx, tile_x) * divide_up(ny * nz, tile_y);
        shape.group_size_x = 1;
    }
    call.launch(shape, std::array{nx, ny, nz, tile_x, tile_y});
    return call.result();
}

}  // namespace concord::detail
