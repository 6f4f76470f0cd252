// Modules and where they are searched, selectors, and errors for unavailable backends and devices.
#include "devices.hpp"

#include <concord/backend.hpp>
#include <concord/internal/modules.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

using namespace concord;
using test::throws;
namespace fs = std::filesystem;

TEST_SUITE_BEGIN("core");

// The folder of the modules that the registry must refuse: CONCORD_TEST_MODULES, otherwise where a build has it,
// relative to this program. Empty if it does not exist.
static fs::path test_modules() {
    const char* given = std::getenv("CONCORD_TEST_MODULES");
    const fs::path own = detail::file_of(reinterpret_cast<const void*>(&test_modules));
    const fs::path folder = given != nullptr ? given : own.parent_path().parent_path() / "test-modules";
    return fs::exists(folder) ? folder : fs::path();
}

// The registry searches for modules once per process, so that the folder with invalid ones is set before anything else
// runs.
static const bool prepared = [] {
    setenv("CONCORD_BACKEND_PATH", (test_modules().string() + ":/no/such/folder").c_str(), 0);
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
    REQUIRES(!test_modules().empty(), test::needs::test_modules);
    const auto list = backends();
    const std::pair<const char*, std::string> reasons[] = {
        {"old", "interface, got version " + std::to_string(backend_interface_version + 1)},
        {"entryless", "no entry point concord_backend_entryless"},
        {"null_entry", "entry point returned null"},
        {"throwing_entry", "concord-backend-throwing_entry.so threw thrown by the entry point"},
        {"no_create", "does not describe backend 'no_create'"},
        {"other_name", "does not describe backend 'other_name'"},
        {"null_backend", "created no backend"},
        {"throwing_create", "concord-backend-throwing_create.so threw thrown by create"},
        {"throwing_devices",
         "concord-backend-throwing_devices.so threw an object that is not a std::exception"},
    };
    for (const auto& expected : reasons) {
        const std::string name = expected.first, reason = expected.second;
        CAPTURE(name);
        const BackendStatus* status = status_of(list, name);
        REQUIRE(status != nullptr);
        CHECK_FALSE(status->available);
        INFO(status->reason);
        CHECK(status->reason.find(reason) != std::string::npos);
        CHECK(throws(ErrorCode::unavailable, reason, [&] { open_device(name); }));
    }
    CHECK(backend_libraries("throwing_devices").empty());
}

TEST_CASE("a backend that ran out of memory is loaded again") {
    REQUIRES(!test_modules().empty(), test::needs::test_modules);
    backends();  // the module fails at the first attempt
    const auto list = backends();
    const BackendStatus* status = status_of(list, "out_of_memory_once");
    REQUIRE(status != nullptr);
    CHECK(status->reason == "no device found");
    CHECK(backends().size() == list.size());
}

namespace {

// A folder that is removed at the end, and the environment variable CONCORD_BACKEND_PATH, which is restored.
class Place {
  public:
    Place()
        : folder_(fs::canonical(fs::temp_directory_path()) /
                  ("concord-modules-" + std::to_string(getpid()))) {
        if (const char* before = std::getenv("CONCORD_BACKEND_PATH")) before_ = before;
        fs::remove_all(folder_);
        fs::create_directory(folder_);
    }
    ~Place() {
        set(before_);
        fs::remove_all(folder_);
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    const fs::path& folder() const { return folder_; }
    static void set(const std::string& list) { setenv("CONCORD_BACKEND_PATH", list.c_str(), 1); }

    fs::path make(const std::string& name, mode_t mode = 0755) const {
        fs::create_directory(folder_ / name);
        CHECK(chmod((folder_ / name).c_str(), mode) == 0);
        return folder_ / name;
    }

  private:
    fs::path folder_;
    std::string before_;
};

}  // namespace

TEST_CASE("modules are searched in absolute folders that only trusted users may change") {
    const auto file = detail::file_of(reinterpret_cast<const void*>(&detail::file_of));
    CHECK(file.is_absolute());
    CHECK(fs::exists(file));
    const int on_stack = 0;
    CHECK(detail::file_of(&on_stack).empty());

    const Place place;
    const fs::path mine = place.make("mine"), group = place.make("group", 0775),
                   every = place.make("every", 0777), sticky = place.make("sticky", 01777);
    fs::create_directory_symlink(mine, place.folder() / "link");
    fs::create_directory_symlink(every, place.folder() / "bad_link");
    std::ofstream(place.folder() / "file").flush();
    auto folders = [](const std::string& list) {
        Place::set(list);
        return detail::module_folders_of_environment();
    };
    auto refused = [&](const std::string& list, std::string_view reason) {
        const auto found = folders(list);
        return found.size() == 1 && found[0].refused.find(reason) != std::string::npos;
    };
    auto searched = [&](const std::string& list, const fs::path& folder) {
        const auto found = folders(list);
        return found.size() == 1 && found[0].refused.empty() && found[0].path == folder;
    };
    CHECK(folders("").empty());
    CHECK(folders(":::").empty());
    CHECK(folders("/no/such/folder").empty());
    CHECK(searched(mine.string(), mine));
    CHECK(searched(":" + (mine / ".." / "mine").string() + ":", mine));
    CHECK(searched(group.string(), group));
    CHECK(searched((place.folder() / "link").string(), mine));
    for (const char* relative : {".", "..", "modules", "./modules"})
        CHECK(refused(relative, "relative path"));
    CHECK(refused((place.folder() / "file").string(), "not a folder"));
    for (const fs::path& folder : {every, sticky, place.folder() / "bad_link"})
        CHECK(refused(folder.string(), "every user may write to"));
    struct stat library {};
    CHECK(stat(file.c_str(), &library) == 0);
    const fs::path strange = place.make("strange");
    // Only root may give folders away, and in a container only to some users.
    if (chown(strange.c_str(), library.st_uid + 54321, 0) == 0)
        CHECK(refused(strange.string(), "of another user"));
    Place::set(":.:" + every.string());
    for (const auto& folder : detail::module_folders()) {
        if (folder.refused.empty()) CHECK(folder.path == fs::canonical(folder.path));
    }
}

TEST_CASE("only whole, regular files that trusted users own are modules") {
    const Place place;
    const fs::path first = place.make("first"), second = place.make("second");
    const auto file = detail::file_of(reinterpret_cast<const void*>(&detail::file_of));
    auto module = [](const fs::path& folder, const std::string& name) {
        return folder / ("concord-trial-" + name + ".so");
    };
    const auto copy = [&](const std::string& name, u64 bytes) {
        fs::copy_file(file, module(first, name));
        fs::resize_file(module(first, name), bytes);
    };
    const u64 size = fs::file_size(file);
    copy("whole", size);
    // Debug information follows the parts that are loaded, and may be more than half of the file.
    for (const u64 bytes : {0, 100, 4096, 65536})
        copy("part" + std::to_string(bytes), bytes);
    REQUIRE(mkfifo(module(first, "fifo").c_str(), 0644) == 0);
    fs::create_directory(module(first, "folder"));
    fs::create_symlink("/no/such/module", module(first, "dangling"));
    std::ofstream(module(first, "open")).flush();
    REQUIRE(chmod(module(first, "open").c_str(), 0666) == 0);
    std::ofstream(module(second, "whole")).flush();
    std::ofstream(module(second, "second")).flush();
    std::ofstream(second / "concord-trial-text.txt").flush();

    Place::set(first.string() + ":" + second.string() + ":" + first.string());
    std::map<std::string, std::string> found;
    for (const detail::ModulePath& path : detail::find_modules("concord-trial-"))
        found.emplace(path.path.string(), path.refused);
    const std::map<std::string, std::string> expected = {
        {module(first, "whole"), ""},
        {module(first, "part0"), ""},  // not a shared object: the loader refuses it
        {module(first, "part100"), "an incomplete file"},
        {module(first, "part4096"), "an incomplete file"},
        {module(first, "part65536"), "an incomplete file"},
        {module(first, "fifo"), "not a regular file"},
        {module(first, "folder"), "not a regular file"},
        {module(first, "dangling"), "not accessible"},
        {module(first, "open"), "a file that every user may write to"},
        {module(second, "second"), ""},
    };
    CHECK(found == expected);
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

static void isa_of_group(const Group& group, u32* out) {
    *out = static_cast<u32>(group.isa);
}

TEST_CASE("a selector names an instruction set of the CPU") {
    for (const HostIsa isa : all_host_isas) {
        const std::string selector = "tbb@" + std::string(name_of(isa));
        CAPTURE(selector);
        if (isa > machine_isa()) {
            CHECK(throws(ErrorCode::unavailable, "instruction set not available",
                         [&] { open_device(selector); }));
            continue;
        }
        const auto device = open_device(selector);
        CHECK(device == open_device(selector));
        CHECK(device->info().selector == selector);
        CHECK(device->traits().host_isa == isa);
        // The kernels that run are those of the instruction set; under a sanitizer there is one.
#ifdef CONCORD_SANITIZED
        const HostIsa compiled = HostIsa::baseline;
#else
        const HostIsa compiled = isa;
#endif
        const auto stream = device->create_stream();
        const Array<u32> out(*stream, 1);
        launch(*stream, *device->kernel({.entry = "isa_of_group", .host = host_kernel<&isa_of_group>()}),
               LaunchShape::linear(1, 1), out);
        CHECK(out.to_host(*stream).front() == static_cast<u32>(compiled));
    }
}

TEST_CASE("errors for unavailable devices name the reason") {
    CHECK(throws(ErrorCode::unavailable,
                 "unknown backend, got 'metal'; available: ", [] { open_device("metal"); }));
    CHECK(throws(ErrorCode::unavailable, "1 device", [] { open_device("tbb:1"); }));
    for (const char* bad : {"tbb:", "tbb:x", "tbb:-1", ":0", ":*", "tbb@", "tbb:99999999999"}) {
        CAPTURE(bad);
        CHECK(throws(ErrorCode::invalid_argument, "invalid device selector", [&] { open_device(bad); }));
    }
    CHECK(throws(ErrorCode::unavailable, "unknown instruction set, got 'tbb@sm_90'",
                 [] { open_device("tbb@sm_90"); }));
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

TEST_CASE("a compile-only device refuses what needs results") {
    const auto device = open_device("cuda@sm_90");
    const auto stream = device->create_stream();
    const auto event = device->create_event();
    const std::vector<f32> one = {1};
    f32 value = 0;
    const auto refused = [](const char* call, const auto& f) {
        CHECK(throws(
            ErrorCode::unavailable,
            std::string(call) + ": compile-only device, got 'cuda@sm_90'; select one that runs kernels", f));
    };
    const Array<f32> x(*stream, one), out(*stream, 1);  // nothing to compute
    stream->record(*event);
    CHECK_NOTHROW(event->synchronize());
    CHECK_NOTHROW(map(*stream, x, out, MapFunction::negate));  // compiles
    refused("Stream::synchronize", [&] { stream->synchronize(); });
    refused("Stream::synchronize", [&] { stream->synchronize(); });
    refused("Stream::read", [&] { stream->read(&value, *out.buffer(), 0, 4); });
    refused("Stream::read", [&] { (void)out.to_host(*stream); });
    refused("Stream::read", [&] { (void)sum(*stream, x); });
    refused("Stream::callback", [&] { stream->callback([] {}); });
    CHECK_NOTHROW(event->synchronize());  // its mark precedes the launch
    stream->record(*event);
    refused("Event::synchronize", [&] { event->synchronize(); });
    refused("Event::done", [&] { (void)event->done(); });
    refused("Event::milliseconds_since", [&] { (void)event->milliseconds_since(*event); });
    // Other streams of the device are not affected.
    CHECK_NOTHROW(device->create_stream()->synchronize());
    CHECK(value == 0);
}

TEST_SUITE_END();
