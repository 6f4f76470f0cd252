// `concord doctor`: runs a test on each device and explains what does not work.

#include "driver_process.hpp"
#include "environment_variables.hpp"
#include "program.hpp"

#include <concord/lab/harness.hpp>

#include <concord/detail/trusted_code.hpp>
#include <concord/internal/backend_status.hpp>
#include <concord/internal/environment.hpp>
#include <concord/internal/modules.hpp>
#include <concord/internal/program_cache.hpp>
#include <concord/trace.hpp>
#include <concord/tuning.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <new>

namespace concord::app {
namespace {

constexpr std::string_view backend_prefix = "concord-backend-";
constexpr u64 trial_size = u64{1} << 16;

// Counts of devices. The worst outcome decides the exit status. Children write them.
struct Findings {
    std::atomic<u64> working = 0, wrong = 0, failed = 0;
    std::atomic<u64> steps = 0;          // counts signs of life
    std::atomic<bool> has_list = false;  // the driver has told its devices
    int status() const {
        if (wrong > 0) return status_wrong;
        if (failed > 0) return status_failed;
        return working > 0 ? status_ok : status_unavailable;
    }
};

// Runs the trial suites on a device and verifies the results.
void try_device(const std::string& selector, Findings& findings) {
    std::string results;
    bool good = true;
    try {
        Harness harness(selector);
        for (const Suite& suite : suites()) {
            if (!suite.is_trial) continue;
            const Work work = suite.workloads.front().make(Type::f32, trial_size, 1).value();
            harness.load(work, {});
            const std::string_view chosen = harness.call("auto").variant;
            for (const Variant* variant : suite.variants) {
                if (variant->name != chosen) continue;
                const Verdict verdict = harness.run(*variant);
                results += std::string(results.empty() ? "" : ", ") + suite.name + "/" + std::string(chosen);
                if (verdict.difference) {
                    good = false;
                    results += " is WRONG: element " + std::to_string(verdict.difference->index) +
                               ": expected " + verdict.difference->expected + ", got " +
                               verdict.difference->got;
                }
            }
        }
        ++(good ? findings.working : findings.wrong);
    } catch (const std::exception& error) {
        good = false;
        ++findings.failed;
        results = detail::words_of(error);
    }
    std::cout << "    " << painted(good ? "ok" : "failed", good ? Tone::good : Tone::bad) << "  " << results
              << '\n';
    if (!good) return;
    const Tuning& tuning = tuning_of(*open_device(selector));
    if (tuning.size() > 0)
        std::cout << "    tuning table: " << tuning.source() << ", " << tuning.size() << " entries\n";
}

void report_backend(const BackendStatus& backend, Findings& findings) {
    std::cout << painted(backend.name, Tone::plain) << ": "
              << (backend.available ? painted("available", Tone::good) : painted("not available", Tone::bad));
    if (!backend.reason.empty()) std::cout << ": " << backend.reason;
    std::cout << "\n  module: " << backend.path << '\n';
    for (const DeviceProperty& library : backend_libraries(backend.name)) {
        // The first line has the reason already.
        const bool repeats =
            !backend.reason.empty() && library.value.find(backend.reason) != std::string::npos;
        std::cout << "  " << library.name << ": " << (repeats ? "not available" : library.value) << '\n';
    }
    findings.has_list = true;
    for (const DeviceInfo& info : backend.devices) {
        std::cout << "  " << info.selector << ": " << info.name << " (" << info.driver << ")\n" << std::flush;
        ++findings.steps;
        try_device(info.selector, findings);
    }
}

std::string module_of(const std::string& name) {
    for (const detail::ModulePath& module : detail::find_modules(backend_prefix)) {
        if (module.path.stem().string().substr(backend_prefix.size()) == name) return module.path.string();
    }
    return "built in";
}

// Tests a backend in a process of its own, because some drivers end theirs or hang. Reports those.
void test_backend(const std::string& name, Findings& findings) {
    constexpr std::chrono::minutes patience(5);  // for one device
    findings.has_list = false;
    const DriverProcess process = in_driver_process(
        [&] {
            report_backend(detail::backend_status(name), findings);
            return status_ok;
        },
        patience, [&] { return findings.steps.load(); });
    if (process.end.empty()) return;
    ++findings.failed;
    const std::string failed = painted("failed", Tone::bad);
    if (findings.has_list)
        std::cout << "    " << failed << "  the driver " << process.end << '\n';
    else
        std::cout << name << ": " << failed << ": its driver " << process.end
                  << "\n  module: " << module_of(name) << '\n';
    std::cout << "  to leave it out: ";
    if (name == "opencl")
        std::cout
            << "set OCL_ICD_VENDORS to a folder with the .icd files of the other OpenCL drivers, or to\n"
               "    /nonexistent, which hides all of them\n";
    else
        std::cout << "create an empty file concord-backend-" << name
                  << ".so in a folder of yours, and set\n    CONCORD_BACKEND_PATH to that folder\n";
}

// An object that the children of this process share with it.
template <class T>
std::unique_ptr<T, void (*)(T*)> make_shared_with_children() {
    void* const memory =
        ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return {new (memory) T, [](T* object) { ::munmap(object, sizeof(T)); }};
}

void report_cache() {
    namespace fs = std::filesystem;
    const fs::path folder = detail::program_cache::folder();
    std::cout << "kernel cache: ";
    if (folder.empty()) {
        std::cout << "off (CONCORD_CACHE=off, or XDG_CACHE_HOME and HOME are not set)\n";
        return;
    }
    // The first kernel creates the directory. Until then the nearest existing directory above it counts.
    fs::path existing = folder;
    std::error_code error;
    while (!fs::exists(existing, error) && existing.has_relative_path())
        existing = existing.parent_path();
    const bool is_folder = fs::is_directory(existing, error);
    const bool writable = is_folder && ::access(existing.c_str(), W_OK | X_OK) == 0;
    const std::string why = is_folder ? std::strerror(errno) : existing.string() + " is not a directory";
    std::cout << folder.string() << ", "
              << (writable ? painted("writable", Tone::good) : painted("not writable", Tone::bad));
    if (!writable) std::cout << " (" << why << "): every process compiles its kernels again";
    if (const std::string other = existing == folder ? detail::why_untrusted(folder) : std::string();
        !other.empty())
        std::cout << painted("; not used", Tone::bad) << ": it is " << other;
    std::cout << '\n';
}

void report_nvtx() {
    std::cout << "NVTX ranges: "
              << (has_nvtx() ? painted("built in", Tone::good) : painted("not built in", Tone::bad));
    if (!has_nvtx()) std::cout << " (CMake did not find the NVTX headers)";
    std::cout << '\n';
}

void report_environment() {
    // Variables of the loader and of the drivers.
    constexpr const char* others[] = {"LD_LIBRARY_PATH",    "CUDA_VISIBLE_DEVICES",  "CUDA_HOME",
                                      "CUDA_PATH",          "OCL_ICD_VENDORS",       "OCL_ICD_FILENAMES",
                                      "OPENCL_VENDOR_PATH", "POCL_DEVICES",          "POCL_WORK_GROUP_METHOD",
                                      "POCL_CACHE_DIR",     "POCL_MAX_PTHREAD_COUNT"};
    std::cout << "environment:";
    bool any = false;
    auto report = [&](const char* name) {
        const std::string_view value = detail::environment_variable(name);
        if (value.empty()) return;
        std::cout << "\n  " << name << "=" << value;
        any = true;
    };
    for (const EnvironmentVariable& variable : environment_variables)
        report(variable.name);
    for (const char* name : others)
        report(name);
    std::cout << (any ? "\n" : " none of Concord's and the drivers' variables is set\n");
}

int doctor() {
    std::cout << "concord " << CONCORD_VERSION << "\n\n";
    const auto shared = make_shared_with_children<Findings>();
    Findings& findings = *shared;
    const std::vector<std::string> names = detail::backend_names();
    for (const std::string& name : names)
        test_backend(name, findings);
    if (names.empty())
        std::cout << "no backend: none is built in, and no module was found; set CONCORD_BACKEND_PATH to the "
                     "directory of the modules\n";
    std::cout << '\n';
    report_cache();
    report_nvtx();
    report_environment();
    std::cout << "\ndevices: " << findings.working << " working, " << findings.wrong
              << " with wrong results, " << findings.failed << " failing\n";
    if (findings.working > 0)
        std::cout
            << "speed of this machine: concord bench --sizes 2^24; faster settings for it: concord tune "
               "--quick (docs/measuring.md)\n";
    return findings.status();
}

}  // namespace

void add_doctor(CLI::App& program, Action& action) {
    CLI::App* command = add_command(
        program, "doctor",
        {.summary = "Test the devices of this machine and explain what does not work",
         .details =
             "Tests each backend in a process of its own, because some drivers end their process: asks it "
             "for its "
             "devices, runs a few algorithms on every device and verifies the results. Shows the backends' "
             "libraries, the kernel cache and the environment variables that matter.",
         .examples = {"concord doctor"},
         .statuses = {status_ok, status_wrong, status_bad_input, status_unavailable, status_failed}});
    command->callback([&action] { action = doctor; });
}

}  // namespace concord::app
