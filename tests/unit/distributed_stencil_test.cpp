// Tests that the stencil over ranks is bitwise identical to one call of stencil() on the whole volume, on one device
// as several ranks and on devices of two backends.
#include "devices.hpp"
#include "test_ranks.hpp"

#include <concord/distributed_stencil.hpp>
#include <concord/dlpack.hpp>
#include <concord/trace.hpp>

#include <concord/internal/link.hpp>
#include <concord/internal/stencil_exchange.hpp>
#include <distributed_stencil_variants.hpp>
#include <halo.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

using namespace concord;
using test::random_values;
using test::throws;

namespace {

using Devices = std::vector<std::shared_ptr<Device>>;

const std::vector<f64> coefficients = {0.3, 0.11, -0.07, 0.05, 0.013, -0.02, 0.017, 0.009, -0.004};

StarCoefficients star_of(u32 radius) {
    return StarCoefficients(std::span(coefficients).first(radius + 1));
}

// Calls f(element of the volume, element of the box) for every row of a box.
template <class T, class F>
void each_row(const StencilBox& box, const VolumeExtents& s, F f) {
    u64 at = 0;
    for (u64 z = box.z_begin; z < box.z_end; ++z) {
        for (u64 y = box.y_begin; y < box.y_end; ++y, at += box.width(s.columns))
            f((z * s.rows + y) * s.columns + box.x_begin, at);
    }
}

template <class T>
std::vector<T> cut_out(const std::vector<T>& volume, const StencilBox& box, const VolumeExtents& s) {
    std::vector<T> part(box.points(s.columns));
    each_row<T>(box, s, [&](u64 of_volume, u64 of_part) {
        std::copy_n(volume.data() + of_volume, box.width(s.columns), part.data() + of_part);
    });
    return part;
}

template <class T>
std::vector<T> over_ranks(const Devices& devices, const std::vector<T>& x, const VolumeExtents& s, u32 radius,
                          u64 steps, const DistributedStencilOptions& options) {
    const u32 count = static_cast<u32>(devices.size());
    const StencilCut cut = stencil_cut(s, count, radius, options);
    std::vector<T> result(x.size(), T(77));
    run_on_devices(devices, [&](Communicator& ranks, Stream& stream) {
        const StencilBox box = stencil_holding(cut, ranks.rank(), count, options);
        const Array<T> in(stream, cut_out(x, box, s));
        const Array<T> out(stream, std::vector<T>(box.points(s.columns), T(55)));
        distributed_stencil(ranks, stream, in, star_of(radius), out, s, steps, options);
        const std::vector<T> part = out.to_host(stream);
        each_row<T>(box, s, [&](u64 of_volume, u64 of_part) {
            std::copy_n(part.data() + of_part, box.width(s.columns), result.data() + of_volume);
        });
    });
    return result;
}

template <class T>
std::vector<T> by_one(Device& device, const std::vector<T>& x, const VolumeExtents& s, u32 radius,
                      u64 steps) {
    const auto stream = device.create_stream();
    const Array<T> in(*stream, x);
    return stencil(*stream, Volume(in, s), star_of(radius), steps).to_host(*stream);
}

template <class T>
std::vector<T> volume_of(const VolumeExtents& s) {
    return random_values<T>(s.depth * s.rows * s.columns);
}

Devices times(Device& device, std::size_t count) {
    return Devices(count, device.shared_from_this());
}

// Checks all numbers of ranks against one call.
template <class T>
void check_ranks(Device& device, const VolumeExtents& s, u32 radius, u64 steps,
                 const std::vector<std::size_t>& counts, const DistributedStencilOptions& options = {}) {
    CAPTURE(s.depth);
    CAPTURE(s.rows);
    CAPTURE(radius);
    const std::vector<T> x = volume_of<T>(s), expected = by_one(device, x, s, radius, steps);
    for (const std::size_t count : counts) {
        CAPTURE(count);
        CHECK(over_ranks(times(device, count), x, s, radius, steps, options) == expected);
    }
}

}  // namespace

TEST_SUITE_BEGIN("core");

TEST_CASE("a_decomposition_covers_every_point_once_with_parts_of_at_least_the_radius") {
    // Counts the owners of each point, of a larger volume only if CONCORD_TEST_LONG is set.
    const VolumeExtents large =
        std::getenv("CONCORD_TEST_LONG") ? VolumeExtents{400, 480, 480} : VolumeExtents{400, 60, 60};
    for (const VolumeExtents& s :
         {large, VolumeExtents{53, 29, 31}, VolumeExtents{5, 300, 7}, VolumeExtents{2, 3, 45},
          VolumeExtents{2, 3, 44}, VolumeExtents{1, 1, 1}, VolumeExtents{0, 4, 4}}) {
        for (const u32 radius : {1U, 4U, 8U}) {
            for (u32 ranks = 1; ranks <= 64; ranks += ranks < 9 ? 1 : 11) {
                CAPTURE(s.depth);
                CAPTURE(radius);
                CAPTURE(ranks);
                const StencilCut cut = detail::choose_cut(s, ranks, radius);
                CHECK(cut.parts() <= ranks);
                std::vector<u32> owners(s.depth * s.rows * s.columns);
                for (u32 rank = 0; rank < ranks; ++rank) {
                    const StencilBox box = cut.part_of(rank);
                    if (box.points(s.columns) == 0) continue;
                    CHECK((cut.along_z == 1 || box.z_end - box.z_begin >= radius));
                    CHECK((cut.along_y == 1 || box.y_end - box.y_begin >= radius));
                    CHECK((cut.along_x == 1 || box.width(s.columns) >= radius));
                    each_row<u32>(box, s, [&](u64 of_volume, u64) {
                        for (u64 x = 0; x < box.width(s.columns); ++x)
                            ++owners[of_volume + x];
                    });
                }
                CHECK(std::all_of(owners.begin(), owners.end(), [](u32 n) { return n == 1; }));
            }
        }
    }
    // Along z as long as the parts are thick enough, then also along y.
    CHECK(detail::choose_cut({400, 480, 480}, 8, 4).along_y == 1);
    CHECK(detail::choose_cut({400, 480, 480}, 8, 4).along_z == 8);
    CHECK(detail::choose_cut({400, 480, 480}, 64, 4).along_y > 1);
    CHECK(detail::choose_cut({5, 300, 7}, 4, 4).along_y == 4);
    CHECK(detail::choose_cut({5, 7, 300}, 4, 4).along_x == 4);
    CHECK(detail::choose_cut({5, 7, 13}, 4, 4).along_x ==
          2);  // with halos, a third of a row is as long as the row
    CHECK(detail::choose_cut({1, 1, 28}, 8, 5).along_x == 2);
    CHECK(detail::choose_cut({1, 1, 64}, 8, 5).along_x == 8);
    // Along x only if nothing else can be cut, and if it saves columns.
    CHECK(detail::choose_cut({7, 12, 300}, 2, 4).along_x == 1);
    CHECK(detail::choose_cut({8, 8, 8}, 2, 4).parts() == 1);
    CHECK(detail::choose_cut({7, 7, 8}, 2, 4).parts() == 1);
    CHECK(StencilCut{{9, 9, 9}, 2, 3}.name() == "2 x 3");
    CHECK(StencilCut{{9, 9, 9}, 2, 3, 4}.name() == "2 x 3 x 4");
}

TEST_CASE("halos_of_several_steps_are_small_and_parts_thick") {
    const u64 limit = u64{4} << 20;
    CHECK(detail::choose_steps_per_exchange({{512, 256, 256}, 2, 1}, 4, 4, 0) == 1);
    CHECK(detail::choose_steps_per_exchange({{512, 256, 256}, 2, 1}, 4, 4, limit) == 4);
    CHECK(detail::choose_steps_per_exchange({{512, 256, 256}, 2, 1}, 4, 8, limit) == 2);
    CHECK(detail::choose_steps_per_exchange({{400, 480, 480}, 2, 1}, 4, 4, limit) == 1);
    CHECK(detail::choose_steps_per_exchange({{512, 64, 64}, 2, 1}, 4, 4, limit) == 8);
    CHECK(detail::choose_steps_per_exchange({{512, 0, 64}, 2, 1}, 4, 4, limit) == 8);
    // Thin parts, cuts along y, a single part.
    CHECK(detail::choose_steps_per_exchange({{40, 64, 64}, 2, 1}, 4, 4, limit) == 2);
    CHECK(detail::choose_steps_per_exchange({{512, 64, 64}, 2, 2}, 4, 4, limit) == 1);
    CHECK(detail::choose_steps_per_exchange({{512, 64, 64}, 1, 1}, 4, 4, limit) == 1);
}

TEST_CASE("kernels_wait_for_each_other_on_devices_of_their_own_only") {
    using Ids = std::vector<u64>;
    CHECK(detail::may_link_kernels(Ids{5}));
    CHECK(detail::may_link_kernels(Ids{7, 5, 9}));
    CHECK_FALSE(detail::may_link_kernels(Ids{}));
    CHECK_FALSE(detail::may_link_kernels(Ids{5, 0, 9}));
    CHECK_FALSE(detail::may_link_kernels(Ids{5, 9, 5}));
    CHECK(detail::kernel_link_id(*open_device("tbb")) == 0);
}

TEST_CASE("invalid_decompositions_are_rejected") {
    auto refused = [](const char* what, u32 ranks, const DistributedStencilOptions& options) {
        CHECK(throws(ErrorCode::invalid_argument, what, [&] {
            stencil_cut({40, 12, 8}, ranks, 4, options);
        }));
    };
    refused("the number of parts must not exceed 3 ranks, got 2 x 2", 3, {.along_z = 2, .along_y = 2});
    refused("every part needs at least 4 planes, the radius, got 40 planes in 11 parts", 11, {.along_z = 11});
    refused("at least 4 rows, the radius, got 12 rows in 4 parts", 4, {.along_y = 4});
    refused("must not exceed 3 ranks, got 1 x 1 x 4", 3, {.along_x = 4});
    refused("at least 4 columns, the radius, got 8 columns in 3 parts", 3, {.along_x = 3});
    CHECK(throws(ErrorCode::invalid_argument,
                 "at least 4 columns, the radius rounded up to a multiple of 4, got 8 columns in 4 parts",
                 [&] {
                     stencil_cut({40, 12, 8}, 4, 1, {.along_x = 4});
                 }));
    refused("unknown variant 'comet'; available: overlapped, fused, sequential, data_server", 2,
            {.variant = "comet"});
    refused("variant 'data_server' needs at least 2 ranks, one for the data and one to compute, got 1", 1,
            {.variant = "data_server"});
    refused("must not exceed 1 rank (without the data server), got 2 x 1", 2,
            {.variant = "data_server", .along_z = 2});
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("cuda");

TEST_CASE("kernels that exchange halos compile") {
    constexpr VolumeExtents s{64, 96, 96};
    for (const char* selector : {"cuda@sm_75", "cuda@sm_90"}) {
        CAPTURE(selector);
        const auto device = open_device(selector);
        const auto stream = device->create_stream();
        for (const Type type : {Type::f32, Type::f64}) {
            const auto in = device->allocate(s.count() * 8), out = device->allocate(s.count() * 8),
                       flags = device->allocate(12);
            const auto volume = [&](Buffer& buffer) {
                return VolumeView{View{&buffer, 0, s.count(), type}, s.depth, s.rows, s.columns};
            };
            detail::StencilExchange exchange;
            exchange.below = {.volume = volume(*out).range,
                              .shift = 0,
                              .flags = {flags.get(), 0, 3, Type::u32},
                              .raised = {flags.get(), 0, 1, Type::u32}};
            exchange.above = exchange.below;
            exchange.sends = true;
            for (const char* variant : {"columns", "ring", "streaming"}) {
                CAPTURE(variant);
                const StencilBox box{4, 60, 0, 96};
                const Options options{.variant = variant};
                CHECK(detail::supports_stencil_exchange(*stream, volume(*in), star_of(4), volume(*out), box,
                                                        options));
                CHECK_NOTHROW(detail::stencil_exchange(*stream, volume(*in), star_of(4), volume(*out), box,
                                                       exchange, options));
            }
        }
    }
}

TEST_CASE("halo kernels compile for sm_90") {
    const auto device = open_device("cuda@sm_90");
    const auto stream = device->create_stream();
    for (const Type type : {Type::f32, Type::f64}) {
        for (const u64 row : {15, 16}) {
            const auto buffer = device->allocate(4096), packed = device->allocate(4096);
            CHECK_NOTHROW(detail::copy_runs(*stream, {buffer.get(), 0, 400, type}, {4, row, 100},
                                            {packed.get(), 0, 4 * row, type}, {4, row, row}));
        }
    }
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("device");

// Packs 4 runs of a volume and unpacks them to another one. Odd lengths use single elements, even ones packs of 16
// bytes.
template <class T>
void check_halo_copy(Device& device, u64 length, u64 stride) {
    CAPTURE(length);
    constexpr u64 runs = 4;
    const auto stream = device.create_stream();
    const std::vector<T> x = random_values<T>(runs * stride);
    const Array<T> from(*stream, x), packed(*stream, runs * length),
        to(*stream, std::vector<T>(x.size(), T(77)));
    detail::copy_runs(*stream, from.view(), {runs, length, stride}, packed.view(), {runs, length, length});
    detail::copy_runs(*stream, packed.view(), {runs, length, length}, to.view(), {runs, length, stride});
    std::vector<T> expected(x.size(), T(77)), expected_packed;
    for (u64 i = 0; i < x.size(); ++i) {
        if (i % stride >= length) continue;
        expected[i] = x[i];
        expected_packed.push_back(x[i]);
    }
    CHECK(packed.to_host(*stream) == expected_packed);
    CHECK(to.to_host(*stream) == expected);
}

DEVICE_TEST(halos_are_packed_and_unpacked) {
    for (const u64 length : {15, 16, 5000}) {
        check_halo_copy<float>(device, length, length + 21);
        check_halo_copy<float>(device, length, length + 32);
        check_halo_copy<f64>(device, length, length + 20);
    }
}

DEVICE_TEST(any_number_of_ranks_is_bitwise_identical_to_one) {
    check_ranks<float>(device, {53, 29, 31}, 4, 3, {1, 2, 3, 4, 7});
    check_ranks<float>(device, {23, 18, 34}, 1, 4, {2, 7});
    check_ranks<f64>(device, {67, 20, 22}, 8, 2, {3, 7});
}

// Halos along y have gaps and are packed: element by element for odd row lengths, otherwise in packs of 16 bytes.
DEVICE_TEST(a_cut_along_y_is_bitwise_identical_to_one_rank) {
    check_ranks<float>(device, {19, 45, 16}, 4, 3, {4}, {.along_z = 2, .along_y = 2});
    check_ranks<float>(device, {19, 45, 13}, 4, 3, {7}, {.along_z = 1, .along_y = 7});
    check_ranks<f64>(device, {30, 26, 9}, 1, 3, {6}, {.along_z = 2, .along_y = 3});
}

// Halos along x consist of parts of rows. Parts begin at multiples of 4 columns if rows are so long.
DEVICE_TEST(a_cut_along_x_is_bitwise_identical_to_one_rank) {
    for (const char* variant : {"overlapped", "sequential"}) {
        CAPTURE(variant);
        check_ranks<float>(device, {5, 7, 40}, 3, 4, {3}, {.variant = variant, .along_x = 3});
        check_ranks<f64>(device, {19, 9, 37}, 1, 3, {6}, {.variant = variant, .along_z = 2, .along_x = 3});
        check_ranks<float>(device, {17, 18, 32}, 4, 3, {8},
                           {.variant = variant, .along_z = 2, .along_y = 2, .along_x = 2});
    }
    check_ranks<float>(device, {9, 18, 46}, 2, 3, {5},
                       {.variant = "data_server", .along_y = 2, .along_x = 2});
    check_ranks<float>(device, {17, 18, 32}, 2, 7, {8},
                       {.along_z = 2, .along_y = 2, .along_x = 2, .steps_per_exchange = 2});
    check_ranks<f64>(device, {3, 4, 51}, 1, 9, {3}, {.along_x = 3, .steps_per_exchange = 4});
    // A volume that neither planes nor rows divide.
    check_ranks<float>(device, {1, 2, 301}, 3, 5, {2, 7});
    // Between ranks that cannot write into each other's memory.
    const auto other = open_device("tbb");
    const VolumeExtents s{9, 10, 30};
    const std::vector<float> x = volume_of<float>(s), expected = by_one(*other, x, s, 2, 5);
    CHECK(over_ranks({device.shared_from_this(), other, other, device.shared_from_this()}, x, s, 2, 5,
                     {.along_y = 2, .along_x = 2, .steps_per_exchange = 1}) == expected);
}

// Halos that are exchanged every few steps only, with numbers of steps that no exchange divides.
DEVICE_TEST(several_steps_per_exchange_are_bitwise_identical_to_one_rank) {
    for (const u32 each : {2U, 3U, 4U}) {
        CAPTURE(each);
        check_ranks<float>(device, {67, 18, 21}, 1, 7, {2, 3, 4, 7},
                           {.along_z = 0, .along_y = 0, .steps_per_exchange = each});
        check_ranks<f64>(device, {97, 11, 16}, 4, 2 * each, {2, 3}, {.steps_per_exchange = each});
        check_ranks<float>(device, {65, 12, 9}, 2, each + 1, {3},
                           {.variant = "data_server", .steps_per_exchange = each});
    }
    check_ranks<float>(device, {67, 18, 21}, 1, 17, {2, 3}, {.steps_per_exchange = 8});
    // Cuts along y, whose halos include the corners.
    check_ranks<float>(device, {26, 38, 21}, 1, 7, {6},
                       {.along_z = 2, .along_y = 3, .steps_per_exchange = 3});
    check_ranks<f64>(device, {7, 54, 12}, 2, 6, {3}, {.along_z = 1, .along_y = 3, .steps_per_exchange = 4});
    check_ranks<float>(device, {52, 53, 16}, 4, 5, {4},
                       {.along_z = 2, .along_y = 2, .steps_per_exchange = 3});
    check_ranks<float>(device, {33, 34, 9}, 2, 9, {9}, {.along_z = 3, .along_y = 3, .steps_per_exchange = 2});
    // Between ranks that cannot write into each other's memory.
    const auto other = open_device("tbb");
    const VolumeExtents s{50, 13, 22};
    const std::vector<float> x = volume_of<float>(s), expected = by_one(*other, x, s, 2, 9);
    CHECK(over_ranks({device.shared_from_this(), other, device.shared_from_this()}, x, s, 2, 9,
                     {.steps_per_exchange = 3}) == expected);
    const VolumeExtents flat{26, 31, 22};
    const std::vector<float> y = volume_of<float>(flat), flat_expected = by_one(*other, y, flat, 2, 9);
    CHECK(over_ranks({device.shared_from_this(), other, other, device.shared_from_this()}, y, flat, 2, 9,
                     {.along_z = 2, .along_y = 2, .steps_per_exchange = 3}) == flat_expected);
}

// Parts as thick as the radius, which are all face; and volumes that leave ranks idle.
DEVICE_TEST(thin_volumes_are_bitwise_identical_to_one_rank) {
    check_ranks<float>(device, {8, 9, 40}, 4, 3, {2, 3}, {.along_z = 2});
    check_ranks<float>(device, {3, 7, 20}, 4, 2, {1, 4});
    check_ranks<f64>(device, {17, 5, 12}, 8, 2, {4});
    check_ranks<float>(device, {1, 33, 5}, 1, 5, {7});
}

DEVICE_TEST(every_variant_is_bitwise_identical_to_one_rank) {
    for (const Variant* variant : distributed_stencil_algorithm.variants) {
        CAPTURE(variant->name);
        if (variant->name == "fused") continue;  // below
        for (const u64 steps : {0, 1, 4}) {
            CAPTURE(steps);
            check_ranks<float>(device, {31, 24, 18}, 4, steps, {2, 4},
                               {.variant = std::string(variant->name)});
        }
        check_ranks<float>(device, {20, 24, 18}, 4, 2, {5},
                           {.variant = std::string(variant->name), .along_z = 2, .along_y = 2});
    }
}

// Kernels that wait for each other would fill a device that two ranks share.
DEVICE_TEST(fused_steps_need_a_gpu_for_each_part) {
    const VolumeExtents s{31, 24, 18};
    const std::vector<float> x = volume_of<float>(s);
    CHECK(throws(ErrorCode::unsupported,
                 "variant 'fused' requires a CUDA device of its own for each part, and links (CONCORD_LINKS)",
                 [&] { over_ranks(times(device, 2), x, s, 4, 1, {.variant = "fused"}); }));
    CHECK(throws(ErrorCode::unsupported, "variant 'fused' requires a cut along z alone, got 1 x 2",
                 [&] { over_ranks(times(device, 2), x, s, 4, 1, {.variant = "fused", .along_y = 2}); }));
    CHECK(throws(
        ErrorCode::unsupported, "variant 'fused' exchanges halos in every step, got steps_per_exchange 2",
        [&] { over_ranks(times(device, 2), x, s, 1, 1, {.variant = "fused", .steps_per_exchange = 2}); }));
}

// Needs a second CUDA device that this one can reach. All kernels that exchange, thin parts, and parts of one piece.
template <class T>
void check_fused(const Devices& devices, const VolumeExtents& s, u32 radius, u64 steps,
                 const Options& local = {}) {
    CAPTURE(s.depth);
    CAPTURE(radius);
    CAPTURE(steps);
    CAPTURE(local.variant);
    const std::vector<T> x = volume_of<T>(s);
    CHECK(over_ranks(devices, x, s, radius, steps,
                     {.variant = "fused", .along_z = static_cast<u32>(devices.size()), .local = local}) ==
          by_one(*devices[0], x, s, radius, steps));
}

// Another CUDA device, or null.
std::shared_ptr<Device> second_gpu(const Device& device) {
    return device.traits().dialect == Dialect::cuda ? test::sibling_of(device) : nullptr;
}

DEVICE_TEST(fused_steps_are_bitwise_identical_to_one_rank) {
    const auto other = second_gpu(device);
    REQUIRES(other, test::needs::second_cuda);
    const Devices two{device.shared_from_this(), other};
    Devices all = test::siblings_of(device);
    all.insert(all.begin(), device.shared_from_this());
    for (const u32 radius : {1U, 3U, 4U, 8U}) {
        check_fused<float>(all, {130, 70, 96}, radius, 5);
        check_fused<float>(all, {radius * all.size(), 64, 64}, radius, 4);  // parts that are both faces
        check_fused<f64>(all, {500, 40, 70}, radius, 6);
    }
    for (const u32 radius : {1U, 2U, 3U, 4U, 5U, 8U}) {
        for (const u64 steps : {0, 1, 2, 7}) {
            check_fused<float>(two, {130, 70, 96}, radius, steps);
            check_fused<f64>(two, {2 * radius + 1, 33, 37}, radius, steps);
        }
    }
    for (const char* variant : {"columns", "ring", "streaming"}) {
        for (const u32 radius : {1U, 4U})
            check_fused<float>(two, {301, 120, 132}, radius, 9, {.variant = variant});
    }
}

// The default takes it; several calls of run() begin with an exchange of their own.
DEVICE_TEST(fused_steps_continue_over_calls) {
    const auto other = second_gpu(device);
    REQUIRES(other, test::needs::second_cuda);
    const VolumeExtents s{90, 64, 64};
    const std::vector<float> x = volume_of<float>(s);
    std::vector<float> result(x.size());
    run_on_devices({device.shared_from_this(), other}, [&](Communicator& ranks, Stream& stream) {
        DistributedStencil volume(ranks, stream, Type::f32, s, star_of(4));
        CHECK(volume.variant() == "fused");
        const StencilBox box = volume.holding();
        const Array<float> part(stream, cut_out(x, box, s));
        // Another volume on a stream of its own, whose steps come between.
        const auto own = stream.device().create_stream();
        DistributedStencil second(ranks, *own, Type::f32, s, star_of(4));
        second.load(part.view());
        volume.load(part.view());
        volume.run(3);
        volume.load(part.view());
        for (const u64 steps : {1, 3, 1, 1, 2, 5}) {
            volume.run(steps);
            second.run(steps);
        }
        const Array<float> same(*own, part.size());
        second.store(same.view());
        volume.store(part.view());
        const std::vector<float> values = part.to_host(stream);
        if (same.to_host(*own) != values) throw Error(ErrorCode::device_failed, "test", "the volumes differ");
        std::copy(values.begin(), values.end(), result.begin() + static_cast<i64>(box.z_begin * 64 * 64));
    });
    CHECK(result == by_one(device, x, s, 4, 13));
}

// Ranks without points send nothing, and no rank may wait for them.
DEVICE_TEST(empty_volumes_are_supported_over_ranks) {
    for (const Variant* variant : distributed_stencil_algorithm.variants) {
        CAPTURE(variant->name);
        if (variant->name == "fused") continue;  // needs more devices
        for (const VolumeExtents& s : {VolumeExtents{0, 4, 5}, VolumeExtents{20, 0, 5},
                                       VolumeExtents{20, 9, 0}, VolumeExtents{0, 0, 0}})
            check_ranks<float>(device, s, 4, 2, {2, 3}, {.variant = std::string(variant->name)});
    }
}

// Restores CONCORD_LINKS at its end.
class LinksVariable {
  public:
    LinksVariable() {
        if (const char* value = std::getenv("CONCORD_LINKS")) before_ = value;
    }
    ~LinksVariable() { before_ ? setenv("CONCORD_LINKS", before_->c_str(), 1) : unsetenv("CONCORD_LINKS"); }
    LinksVariable(const LinksVariable&) = delete;
    LinksVariable& operator=(const LinksVariable&) = delete;
    void set(const char* value) const { setenv("CONCORD_LINKS", value, 1); }

  private:
    std::optional<std::string> before_;
};

// A stream of another device than the rank's has no links, and the other ranks expect them.
DEVICE_TEST(a_stream_of_another_device_cannot_be_linked) {
    const auto other = open_device("tbb@baseline");
    const VolumeExtents s{20, 8, 8};
    CHECK(
        throws(ErrorCode::wrong_device, "Communicator: the stream must be on " + device.info().selector, [&] {
            run_on_devices(times(device, 2), [&](Communicator& ranks, Stream& stream) {
                const auto wrong = other->create_stream();
                const DistributedStencil volume(ranks, ranks.rank() == 0 ? *wrong : stream, Type::f32, s,
                                                star_of(4));
            });
        }));
}

// Halos as messages, as between ranks that cannot write into each other's memory.
DEVICE_TEST(without_links_ranks_are_bitwise_identical_to_one) {
    const LinksVariable links;
    links.set("off");
    run_on_devices(times(device, 2), [&](Communicator& ranks, Stream& stream) {
        const std::shared_ptr<Buffer> buffer = device.allocate(4);
        const detail::LinkOffer offer{1 - ranks.rank(), {buffer}};
        if (detail::connect(ranks, stream, {&offer, 1}).front())
            throw Error(ErrorCode::device_failed, "test", "a link in spite of CONCORD_LINKS=off");
    });
    check_ranks<float>(device, {53, 29, 31}, 4, 3, {2, 4});
    check_ranks<float>(device, {19, 45, 13}, 4, 3, {4}, {.along_z = 2, .along_y = 2});
    check_ranks<float>(device, {67, 18, 21}, 1, 7, {3}, {.steps_per_exchange = 3});
    check_ranks<float>(device, {17, 18, 32}, 2, 5, {8},
                       {.along_z = 2, .along_y = 2, .along_x = 2, .steps_per_exchange = 2});
    links.set("maybe");
    const VolumeExtents s{20, 8, 8};
    const std::vector<float> x = volume_of<float>(s);
    CHECK(throws(ErrorCode::invalid_argument, "CONCORD_LINKS: invalid value, got 'maybe'; expected on or off",
                 [&] { over_ranks(times(device, 2), x, s, 4, 1, {}); }));
}

DEVICE_TEST(ranks_on_two_devices_are_bitwise_identical) {
    const auto other = open_device("tbb");
    const VolumeExtents s{41, 25, 33};
    const std::vector<float> x = volume_of<float>(s), expected = by_one(*other, x, s, 4, 5);
    auto check = [&](const std::shared_ptr<Device>& second) {
        CAPTURE(second->info().selector);
        const Devices mixed = {device.shared_from_this(), second, device.shared_from_this(), second};
        CHECK(over_ranks(mixed, x, s, 4, 5, {}) == expected);
        CHECK(over_ranks(mixed, x, s, 4, 5, {.along_z = 2, .along_y = 2}) == expected);
        CHECK(over_ranks(mixed, x, s, 4, 5, {.variant = "data_server"}) == expected);
    };
    check(other);
    // With two GPUs also between them, which uses peer copies.
    if (const auto sibling = test::sibling_of(device)) check(sibling);
}

// A volume that stays on its ranks: several calls of run() equal one.
DEVICE_TEST(a_distributed_volume_keeps_its_state_between_runs) {
    const VolumeExtents s{29, 21, 17};
    const std::vector<float> x = volume_of<float>(s), expected = by_one(device, x, s, 4, 6);
    for (const char* variant : {"overlapped", "sequential"}) {
        CAPTURE(variant);
        CHECK_NOTHROW(run_on_devices(times(device, 3), [&](Communicator& ranks, Stream& stream) {
            DistributedStencil volume(ranks, stream, Type::f32, s, star_of(4), {.variant = variant});
            const Array<float> part(stream, cut_out(x, volume.holding(), s));
            volume.load(part.view());
            for (const u64 steps : {1, 0, 3, 2})
                volume.run(steps);
            volume.store(part.view());
            const std::vector<float> mine = part.to_host(stream);
            if (mine != cut_out(expected, volume.holding(), s))
                throw Error(ErrorCode::device_failed, "test", "the parts differ");
            const u64 faces = ranks.rank() == 1 ? 2 : 1;
            if (volume.messages_per_step() != faces || volume.bytes_per_step() != faces * 4 * 21 * 17 * 4)
                throw Error(ErrorCode::device_failed, "test", "the number or size of messages differs");
        }));
    }
}

// Halos of several steps stay valid, or are exchanged again, across calls of run().
DEVICE_TEST(several_steps_per_exchange_keep_their_state_between_runs) {
    const VolumeExtents s{26, 27, 28};
    const std::vector<float> x = volume_of<float>(s), expected = by_one(device, x, s, 1, 15);
    const auto check = [&](std::size_t count, const DistributedStencilOptions& options) {
        CHECK_NOTHROW(run_on_devices(times(device, count), [&](Communicator& ranks, Stream& stream) {
            DistributedStencil volume(ranks, stream, Type::f32, s, star_of(1), options);
            const Array<float> part(stream, cut_out(x, volume.holding(), s));
            volume.load(part.view());
            for (const u64 steps : {1, 0, 3, 4, 7})
                volume.run(steps);
            volume.store(part.view());
            if (part.to_host(stream) != cut_out(expected, volume.holding(), s))
                throw Error(ErrorCode::device_failed, "test", "the parts differ");
            // Two neighbours, one exchange every three steps.
            if (options.along_y == 2 && volume.messages_per_step() != 2.0 / 3)
                throw Error(ErrorCode::device_failed, "test", "the number of messages differs");
        }));
    };
    check(3, {.along_z = 3, .steps_per_exchange = 3});
    check(4, {.along_z = 2, .along_y = 2, .steps_per_exchange = 3});
    check(4, {.along_z = 2, .along_x = 2, .steps_per_exchange = 3});
    check(2, {.along_x = 2});
}

DEVICE_TEST(too_many_steps_per_exchange_are_rejected) {
    auto refused = [&](const char* what, const DistributedStencilOptions& options) {
        CHECK(throws(ErrorCode::invalid_argument, what, [&] {
            run_on_devices(times(device, 2), [&](Communicator& ranks, Stream& stream) {
                const DistributedStencil volume(ranks, stream, Type::f32, {40, 20, 8}, star_of(4), options);
            });
        }));
    };
    refused(
        "steps_per_exchange must not exceed 2 for variant 'overlapped' and cut 2 x 1 of 40 x 20 x 8, got 3",
        {.steps_per_exchange = 3});
    refused("steps_per_exchange must not exceed 1 for variant 'sequential'",
            {.variant = "sequential", .steps_per_exchange = 2});
    refused("must not exceed 1 for variant 'overlapped' and cut 1 x 2 of 40 x 20 x 8, got 2",
            {.along_z = 1, .along_y = 2, .steps_per_exchange = 2});
    refused("must not exceed 1 for variant 'overlapped' and cut 1 x 1 x 2 of 40 x 20 x 8, got 2",
            {.along_x = 2, .steps_per_exchange = 2});
}

DEVICE_TEST(ranks_with_different_arguments_are_rejected) {
    const VolumeExtents s{28, 21, 17};
    auto call = [&](Communicator& ranks, Stream& stream, Type type, u64 steps) {
        DistributedStencil volume(ranks, stream, type, s, star_of(4));
        volume.run(steps);
    };
    CHECK(throws(ErrorCode::invalid_argument, ", rank 1 calls distributed_stencil of f64, 28 x 21 x 17", [&] {
        run_on_devices(times(device, 2), [&](Communicator& ranks, Stream& stream) {
            call(ranks, stream, ranks.rank() == 0 ? Type::f32 : Type::f64, 1);
        });
    }));
    CHECK(throws(ErrorCode::invalid_argument,
                 "rank 0 calls distributed_stencil of 1 steps, rank 1 calls distributed_stencil of 2 steps",
                 [&] {
                     run_on_devices(times(device, 2), [&](Communicator& ranks, Stream& stream) {
                         call(ranks, stream, Type::f32, 1 + ranks.rank());
                     });
                 }));
    CHECK(throws(ErrorCode::invalid_argument, "in must hold the 4998 elements of the rank's box, got 5", [&] {
        run_on_devices(times(device, 2), [&](Communicator& ranks, Stream& stream) {
            const Array<float> few(stream, 5), out(stream, 28 * 21 * 17);
            distributed_stencil(ranks, stream, few, star_of(4), out, s);
        });
    }));
}

// Products of sizes that wrap around to few points or none.
DEVICE_TEST(volumes_whose_sizes_overflow_are_rejected) {
    constexpr u64 half = u64{1} << 32;
    for (const VolumeExtents& s : {VolumeExtents{half, 1 << 16, 1 << 16}, VolumeExtents{half, half, 1},
                                   VolumeExtents{half, 1 << 15, 1 << 15}, VolumeExtents{~u64{0}, 1, 1}}) {
        CAPTURE(s.rows);
        CHECK(throws(ErrorCode::invalid_argument, std::to_string(s.depth) + " x " + std::to_string(s.rows),
                     [&] {
                         run_on_devices(times(device, 2), [&](Communicator& ranks, Stream& stream) {
                             const DistributedStencil volume(ranks, stream, Type::f32, s, star_of(4));
                         });
                     }));
    }
}

// Measures in a trace how long transfers overlap with the interior. The other rank is on the CPU, so all streams of
// the device belong to this rank.
DEVICE_TEST(halo_exchange_overlaps_with_the_interior) {
    REQUIRES(device.traits().dlpack_type == dlpack::DeviceType::cuda, test::needs::cuda);
    const VolumeExtents s{512, 512, 512};
    const std::vector<float> x = volume_of<float>(s);
    auto overlap_of = [&](const char* variant) {
        double longest = 0;
        over_ranks({device.shared_from_this(), open_device("tbb")}, x, s, 4, 3,
                   {.variant = variant});  // compiles the kernels
        Trace trace;
        over_ranks({device.shared_from_this(), open_device("tbb")}, x, s, 4, 3, {.variant = variant});
        trace.finish();
        for (const TraceEvent& kernel : trace.events()) {
            if (kernel.engine != Engine::kernel || trace.devices()[kernel.device].backend != "cuda") continue;
            for (const TraceEvent& transfer : trace.events()) {
                if (transfer.device != kernel.device ||
                    (transfer.engine != Engine::download && transfer.engine != Engine::upload))
                    continue;
                longest = std::max(
                    longest, std::min(kernel.end, transfer.end) - std::max(kernel.begin, transfer.begin));
            }
        }
        return longest;
    };
    constexpr double wanted_us = 20;  // of about 80 us that 4 MiB take
    CHECK(overlap_of("overlapped") > wanted_us);
    CHECK(overlap_of("sequential") < wanted_us);
}

TEST_SUITE_END();
