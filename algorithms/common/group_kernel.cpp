#include <concord/group_kernel.hpp>

#include <concord/internal/body_kernel.hpp>
#include <concord/internal/shape.hpp>

#include <algorithm>
#include <numeric>
#include <random>

namespace concord::detail {

std::vector<u32> items_in_order(std::string_view order, u32 size) {
    std::vector<u32> table(size);
    std::iota(table.begin(), table.end(), 0U);
    if (order != "ascending") std::reverse(table.begin(), table.end());
    if (order == "shuffled") std::shuffle(table.begin(), table.end(), std::mt19937(1));
    return table;
}

void compare_orders(const KernelDefinition& d, std::size_t parameter, std::string_view order,
                    std::span<const std::byte> expected, std::span<const std::byte> found,
                    std::size_t element) {
    const auto at = std::mismatch(expected.begin(), expected.end(), found.begin()).first;
    if (at == expected.end()) return;
    const std::size_t index = static_cast<std::size_t>(at - expected.begin()) / element;
    throw Error(
        ErrorCode::invalid_argument, std::string(d.name),
        "element " + std::to_string(index) + " of '" + std::string(name_in(d, parameters_of(d)[parameter])) +
            "' depends on the order of work-items, with those of each phase in " + std::string(order) +
            " order; within a phase, no work-item may access what another one writes");
}

Enqueued run_group_kernel(Stream& stream, const KernelDefinition& d, const std::array<u64, 3>& groups,
                          std::span<const KernelArgument> arguments, bool compile_everywhere) {
    const DeviceTraits& traits = stream.device().traits();
    const auto refuse = [&](ErrorCode code, const std::string& why) {
        throw Error(code, std::string(d.name), why);
    };
    const auto [nx, ny, nz] = groups;
    const CheckedSize all = CheckedSize(nx) * ny * nz;
    if (!all.fits(~u64{0} >> 1))
        refuse(ErrorCode::invalid_argument,
               "too many groups, got " + size_name({nx, ny, nz}) + "; the limit is 2^63 - 1");
    const GroupShape& shape = d.group;
    const bool is_many = traits.launch == LaunchModel::groups;
    if (const u64 size = u64{shape.x} * shape.y * shape.z; is_many && size > traits.max_group_size)
        refuse(ErrorCode::unsupported, "a group has " + std::to_string(size) + " work-items; " +
                                           stream.device().info().selector + " has groups of at most " +
                                           std::to_string(traits.max_group_size));
    const bool is_beyond = is_many && (ny > max_groups_yz || nz > max_groups_yz);
    KernelCall call(stream, d, arguments, is_beyond, compile_everywhere);
    if (nx == 0 || ny == 0 || nz == 0) return call.result();
    LaunchShape launch{.groups_x = nx, .groups_y = ny, .groups_z = nz, .group_size_x = 1};
    if (is_beyond) {
        launch.groups_x = all.value();
        launch.groups_y = launch.groups_z = 1;
    }
    if (is_many) {
        launch.group_size_x = shape.x > 0 ? shape.x : call.group_size();
        launch.group_size_y = shape.y;
        launch.group_size_z = shape.z;
    }
    if (traits.launch == LaunchModel::host) {
        call.launch(launch, {});
    } else {
        call.launch(launch, std::array{nx, ny, nz});
    }
    return call.result();
}

}  // namespace concord::detail
