// Selectors, and what is said of backends and devices that cannot be had.
#include "devices.hpp"

#include <concord/backend.hpp>

using namespace concord;
using test::throws;

TEST_SUITE_BEGIN("core");

// The registry looks for modules once a process, so the folder with bad ones is set before anything else
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

TEST_CASE("modules that cannot be used say why") {
    REQUIRE(prepared);
    const auto list = backends();
    const BackendStatus* old = status_of(list, "old");
    REQUIRE(old != nullptr);
    CHECK_FALSE(old->available);
    CHECK(old->reason.find("interface " + std::to_string(backend_interface_version + 1)) !=
          std::string::npos);
    const BackendStatus* entryless = status_of(list, "entryless");
    REQUIRE(entryless != nullptr);
    CHECK(entryless->reason.find("concord_backend_entryless") != std::string::npos);
    CHECK(throws(ErrorCode::unavailable, "rebuild", [] { open_device("old"); }));
}

TEST_CASE("the CPU is always there") {
    const auto list = backends();
    const BackendStatus* tbb = status_of(list, "tbb");
    REQUIRE(tbb != nullptr);
    CHECK(tbb->available);
    CHECK(tbb->devices.size() == 1);
    CHECK(open_device("tbb") == open_device("tbb:0"));
    CHECK_NOTHROW(open_device("auto"));
}

TEST_CASE("a device that cannot be had is an error that explains") {
    CHECK(throws(ErrorCode::unavailable, "no backend 'metal'", [] { open_device("metal"); }));
    CHECK(throws(ErrorCode::unavailable, "1 device", [] { open_device("tbb:1"); }));
    for (const char* bad : {"tbb:", "tbb:x", "tbb:-1", ":0", "tbb@", "tbb:99999999999"}) {
        CAPTURE(bad);
        CHECK(throws(ErrorCode::invalid_argument, "no selector", [&] { open_device(bad); }));
    }
    CHECK(throws(ErrorCode::unsupported, "compile-only", [] { open_device("tbb@sm_90"); }));
}

TEST_CASE("CONCORD_DEVICE is what an empty selector means") {
    setenv("CONCORD_DEVICE", "metal:3", 1);
    CHECK(throws(ErrorCode::unavailable, "metal:3", [] { open_device(); }));
    setenv("CONCORD_DEVICE", "tbb", 1);
    CHECK(open_device() == open_device("tbb"));
    unsetenv("CONCORD_DEVICE");
}

TEST_SUITE_END();

// Where CUDA was built: either there is a GPU, and then it works like any other device, or the reason is
// given.
TEST_SUITE_BEGIN("cuda");

TEST_CASE("cuda has devices, or says why not") {
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

TEST_CASE("a compile-only device compiles, and tells a wrong text's file and line") {
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
