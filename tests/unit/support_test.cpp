// Reasons of refusals: values and their messages, word for word.

#include "devices.hpp"

#include <concord/internal/row.hpp>

#include <type_traits>

using namespace concord;
using concord::detail::Support;
using concord::test::throws;

TEST_SUITE_BEGIN("core");

static_assert(std::is_trivially_copyable_v<Support>);

namespace {

// A row that names languages and has functions in launch models.
constexpr detail::Row<int> row(Dialects dialects, LaunchModels models) {
    const auto on = [&](LaunchModel model) {
        return detail::Implementation<int>{.run = models.has(model) ? +[](Stream&, const int&) {} : nullptr};
    };
    return {.variant = {.dialects = dialects},
            .groups = on(LaunchModel::groups),
            .single_items = on(LaunchModel::single_items),
            .host = on(LaunchModel::host)};
}

}  // namespace

static_assert(detail::with_same_files({Dialect::opencl, Dialect::host}) ==
              Dialects{Dialect::opencl, Dialect::host});
static_assert(row({Dialect::cuda}, {LaunchModel::groups}).is_complete());
static_assert(row({Dialect::opencl}, {LaunchModel::groups}).is_complete());
static_assert(
    row({Dialect::opencl, Dialect::host}, {LaunchModel::single_items, LaunchModel::host}).is_complete());
static_assert(!row({Dialect::cuda}, {LaunchModel::host}).is_complete());
static_assert(!row({Dialect::cuda, Dialect::host}, {LaunchModel::groups}).is_complete());
static_assert(!row({Dialect::cuda}, {LaunchModel::groups, LaunchModel::single_items}).is_complete());
static_assert(!row({Dialect::host}, {LaunchModel::groups, LaunchModel::host}).is_complete());

TEST_CASE("a_reason_is_composed_of_its_text_and_values") {
    CHECK(Support());
    CHECK(Support().text().empty());
    const Support plain = Support::no("not stable");
    CHECK_FALSE(plain);
    CHECK(plain.text() == "not stable");
    const std::string selector = "cuda:0";
    CHECK(Support::no("{}", selector).text() == "cuda:0");
    CHECK(Support::no("{} bins need {} bytes; {} has {}", 3U, ~u64{0}, selector, u8{7}).text() ==
          "3 bins need 18446744073709551615 bytes; cuda:0 has 7");
    CHECK(Support::no("braces { } and a {}", name_of(Type::f32)).text() == "braces { } and a f32");
}

TEST_CASE("a_count_of_groups_is_named_by_its_extents") {
    CHECK(detail::supports_group_count({u64{1} << 20, u64{1} << 10}));
    CHECK(detail::supports_group_count({u64{1} << 20, u64{1} << 11}).text() ==
          "supports at most 2^31 - 1 tiles, got 1048576 x 2048");
    CHECK(detail::supports_group_count({2, u64{1} << 20, u64{1} << 11}).text() ==
          "supports at most 2^31 - 1 tiles, got 2 x 1048576 x 2048");
}

TEST_SUITE_END();
TEST_SUITE_BEGIN("device");

DEVICE_TEST(reasons_name_the_device_and_its_limits) {
    const DeviceTraits& traits = device.traits();
    const std::string& selector = device.info().selector;
    const auto number = [](u64 n) { return std::to_string(n); };

    CHECK(detail::supports_dialect(device, {.name = "none"}).text() ==
          "not implemented in " + std::string(name_of(traits.dialect)));
    const Variant loose{.order = OperationOrder::unspecified};
    CHECK(detail::supports_order(device, loose, OperationOrder::canonical, false));
    CHECK(detail::supports_order(device, loose, OperationOrder::canonical, true).text() ==
          "order of operations is unspecified, not canonical");
    CHECK(detail::supports_local_memory(device, traits.local_memory));
    CHECK(detail::supports_local_memory(device, traits.local_memory + 1).text() ==
          "requires " + number(traits.local_memory + 1) + " bytes of local memory per group; " + selector +
              " has " + number(traits.local_memory));
    const u64 scratch = traits.global_memory / 4;
    CHECK(detail::supports_scratch(device, scratch + 1).text() ==
          "requires " + number(scratch + 1) + " bytes of scratch memory; the limit on " + selector + " is " +
              number(scratch));
    const u32 group = traits.max_group_size;
    CHECK(detail::supports_group(device, group + 1).text() ==
          (traits.launch == LaunchModel::host ? ""
                                              : "requires groups of " + number(group + 1) + " work-items; " +
                                                    selector + " supports at most " + number(group)));
    const Operator& op = detail::builtin(ReduceOp::sum, Type::f32);
    CHECK(detail::supports_operator(device, op, nullptr).text() ==
          (traits.launch != LaunchModel::host
               ? ""
               : "operator 'sum' exists only as source, and " + selector +
                     " does not compile at run time; select a device that does"));
}

STREAM_TEST(messages_of_refused_operands) {
    const Array<f32> x(device, 8), y(device, 8);
    const Array<u32> whole(device, 8);
    const Array<u64> count(device, 1);
    const auto refused = [&](std::string_view message, auto call) {
        return throws(ErrorCode::invalid_argument, message, call);
    };
    CHECK(refused("add: a, b and out must have the same type, got f32, f32 and u32",
                  [&] { add(stream, x.view(), y.view(), whole.view()); }));
    CHECK(refused("scan: in and out must have the same type, got u32 and f32",
                  [&] { scan(stream, whole.view(), x.view()); }));
    CHECK(refused(
        "scan: in: range exceeds the buffer, got 9 elements of f32 at byte 0; the buffer has 32 bytes", [&] {
            scan(stream, View{x.buffer().get(), 0, 9, Type::f32}, y.view());
        }));
    CHECK(refused("scan: out: misaligned offset, got 2 bytes; expected a multiple of 4", [&] {
        scan(stream, x.view(), View{y.buffer().get(), 2, 7, Type::f32});
    }));
    CHECK(refused("compact: rule 'even' requires integers, got f32",
                  [&] { compact(stream, x.view(), y.view(), count.view(), KeepRule::even); }));
    CHECK(refused("compact: rule 'less' requires an operand of f32, got u32",
                  [&] { compact(stream, x.view(), y.view(), count.view(), Keep::less(1U)); }));
    CHECK(refused("compact: rule 'less' requires an operand of f32, got none",
                  [&] { compact(stream, x.view(), y.view(), count.view(), KeepRule::less); }));
}

TEST_SUITE_END();
