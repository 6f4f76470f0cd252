// Selectors, and errors for unavailable backends and devices.
#include "devices.hpp"

#include <concord/backend.hpp>

using namespace concord;
using test::throws;

TEST_SUITE_BEGIN("core");

// The registry searches for modules once per process, so that the folder with invalid ones is set before anything else
// runs.
static const bool prepared = [] {
    setenv("CONCORD_BACKEND_PATH", CONCORD_TEST_MODULES ":/no/such/folder", 0);
    return true;
}();

static const BackendStatus* status_of(const std::vector<BackendStatus>& list, std::string_view name) {
    for (const BackendStatus& status : list) {
        if (status.name == name) return &status;
    }
    return nullptr;
}

TEST_CASE("unusable modules have a reason") {
    REQUIRE(prepared);
    const auto list = backends();
    const BackendStatus* old = status_of(list, "old");
    REQUIRE(old != nullptr);
    CHECK_FALSE(old->available);
    CHECK(old->reason.find("interface, got version " + std::to_string(backend_interface_version + 1)) !=
          std::string::npos);
    const BackendStatus* entryless = status_of(list, "entryless");
    REQUIRE(entryless != nullptr);
    CHECK(entryless->reason.find("concord_backend_entryless") != std::string::npos);
    CHECK(throws(ErrorCode::unavailable, "rebuild", [] { open_device("old"); }));
}

TEST_CASE("the CPU is always available") {
    const auto list = backends();
    const BackendStatus* tbb = status_of(list, "tbb");
    REQUIRE(tbb != nullptr);
    CHECK(tbb->available);
    CHECK(tbb->devices.size() == 1);
    CHECK(open_device("tbb") == open_device("tbb:0"));
    CHECK_NOTHROW(open_device("auto"));
}

TEST_CASE("errors for unavailable devices name the reason") {
    CHECK(throws(ErrorCode::unavailable,
                 "unknown backend, got 'metal'; available: ", [] { open_device("metal"); }));
    CHECK(throws(ErrorCode::unavailable, "1 device", [] { open_device("tbb:1"); }));
    for (const char* bad : {"tbb:", "tbb:x", "tbb:-1", ":0", ":*", "tbb@", "tbb:99999999999"}) {
        CAPTURE(bad);
        CHECK(throws(ErrorCode::invalid_argument, "invalid device selector", [&] { open_device(bad); }));
    }
    CHECK(throws(ErrorCode::unsupported, "compile-only", [] { open_device("tbb@sm_90"); }));
}

TEST_CASE("an empty selector means CONCORD_DEVICE") {
    setenv("CONCORD_DEVICE", "metal:3", 1);
    CHECK(throws(ErrorCode::unavailable, "CONCORD_DEVICE: unknown backend, got 'metal:3'",
                 [] { open_device(); }));
    setenv("CONCORD_DEVICE", "tbb", 1);
    CHECK(open_device() == open_device("tbb"));
    unsetenv("CONCORD_DEVICE");
}

TEST_SUITE_END();

// In builds with CUDA: either there is a GPU, which works like any other device, or there is a reason.
TEST_SUITE_BEGIN("cuda");

TEST_CASE("cuda has devices or a reason") {
    const auto list = backends();
    const BackendStatus* cuda = status_of(list, "cuda");
    REQUIRE(cuda != nullptr);
    if (cuda->available) {
        CHECK_NOTHROW(open_device("cuda:0"));
    } else {
        MESSAGE("cuda: " << cuda->reason);
        CHECK(cuda->reason.size() > 20);
        CHECK(throws(ErrorCode::unavailable, cuda->reason, [] { open_device("cuda"); }));
    }
}

TEST_CASE("a compile-only device compiles, and its errors name file and line") {
    const auto device = open_device("cuda@sm_90");
    CHECK_FALSE(device->traits().runs);
    const KernelSource good{
        "good", {{"good.cu", "extern \"C\" __global__ void k(f32* x) { x[0] = 1; }"}}, {}};
    const KernelSource bad{
        "bad", {{"bad.cu", "\n\nextern \"C\" __global__ void k(f32* x) { y[0] = 1; }"}}, {}};
    KernelSpec spec;
    spec.entry = "k";
    spec.source = &good;
    CHECK_NOTHROW(device->compile(spec));
    spec.source = &bad;
    CHECK(throws(ErrorCode::compile_failed, "bad.cu(3)", [&] { device->compile(spec); }));
    CHECK(throws(ErrorCode::unsupported, "sm_1", [] { open_device("cuda@sm_1"); }));
}

TEST_SUITE_END();
