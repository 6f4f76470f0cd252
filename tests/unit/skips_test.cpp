// Cases that skip silently or wrongly, which skips.sh runs one at a time. Each must fail.
#include "devices.hpp"

using namespace concord;

namespace {

const test::SkipRule table[] = {
    {.need = test::needs::many_items,
     .on = test::kinds::tbb,
     .cases = {"skips_with_an_entry", "skips_in_part"}},
    {.need = test::needs::fp64, .on = test::kinds::tbb, .cases = {"does_not_skip_but_has_an_entry"}},
    {.need = test::needs::svm, .maybe_on = test::kinds::tbb, .cases = {"asserts_and_does_not_skip"}},
    {.need = test::needs::sibling, .on = test::kinds::cuda, .cases = {"skips_on_another_kind_of_device"}},
    {.need = test::needs::numpy, .on = test::kinds::none, .cases = {"a case that was removed"}},
};

const Algorithm without_variants{.name = "nothing", .summary = "has no variants", .variants = {}};

}  // namespace

// The last entry is wrong for all cases.
std::span<const test::SkipRule> test::skip_rules() {
    const bool has_stale_entry = std::getenv("CONCORD_TEST_STALE_ENTRY") != nullptr;
    return std::span(table).first(std::size(table) - (has_stale_entry ? 0 : 1));
}

// These are right.
DEVICE_TEST(asserts_and_does_not_skip) {
    CHECK(device.traits().fp64);
}
DEVICE_TEST(skips_with_an_entry) {
    REQUIRES(device.traits().launch == LaunchModel::groups, test::needs::many_items);
    CHECK(false);
}
DEVICE_TEST(skips_in_part) {
    CHECK(device.traits().fp64);
    REQUIRES(device.traits().launch == LaunchModel::groups, test::needs::many_items);
    CHECK(false);
}
DEVICE_TEST(each_variant_runs_some) {
    test::each_variant(device, map_algorithm, [&](const std::string& name) {
        if (name == "serial") CHECK(device.traits().fp64);
    });
}

// These are wrong.
DEVICE_TEST(returns_without_a_reason) {
    if (device.traits().launch != LaunchModel::groups) return;
    CHECK(false);
}
TEST_CASE("returns without a reason and without a device") {
    if (test::assertions() == 0) return;
    CHECK(false);
}
DEVICE_TEST(each_variant_of_none) {
    test::each_variant(device, without_variants, [](const std::string& name) { CHECK(name.empty()); });
}
DEVICE_TEST(each_variant_returns) {
    test::each_variant(device, map_algorithm, [](const std::string& name) {
        if (!name.empty()) return;
        CHECK(false);
    });
}
DEVICE_TEST(each_variant_is_unsupported) {
    test::each_variant(device, map_algorithm,
                       [](const std::string& name) { throw Error(ErrorCode::unsupported, "test", name); });
}
DEVICE_TEST(each_variant_is_unsupported_in_the_middle) {
    test::each_variant(device, map_algorithm, [](const std::string& name) {
        CHECK(!name.empty());
        throw Error(ErrorCode::unsupported, "test", name);
    });
}
DEVICE_TEST(skips_without_an_entry) {
    REQUIRES(device.traits().launch == LaunchModel::groups, test::needs::many_items);
    CHECK(false);
}
DEVICE_TEST(skips_on_another_kind_of_device) {
    REQUIRES(device.traits().launch == LaunchModel::groups, test::needs::sibling);
    CHECK(false);
}
DEVICE_TEST(does_not_skip_but_has_an_entry) {
    CHECK(device.traits().fp64);
}
