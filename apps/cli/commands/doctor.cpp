// `concord doctor`: runs a test on each device and explains what does not work.

#include "environment_variables.hpp"
#include "program.hpp"

#include <concord/lab/harness.hpp>

#include <concord/backend.hpp>
#include <concord/detail/trusted_code.hpp>
#include <concord/internal/environment.hpp>
#include <concord/internal/modules.hpp>
#include <concord/internal/program_cache.hpp>
#include <concord/trace.hpp>
#include <concord/tuning.hpp>

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <set>

namespace concord::app {
namespace {

constexpr std::string_view backend_prefix = "concord-backend-";
constexpr u64 trial_size = u64{1} << 16;

// Counts of devices. The worst outcome decides the exit status.
struct Findings {
    u64 working = 0, wrong = 0, failed = 0;
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

// How the driver of a backend ended its process, or did not answer. Empty: it answered, perhaps with an error.
std::string end_of_driver(const std::string& name, const std::filesystem::path& module) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return {};
    std::cout.flush();
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(ends[1], STDOUT_FILENO);
        ::dup2(ends[1], STDERR_FILENO);
        const rlimit none{};
        ::setrlimit(RLIMIT_CORE, &none);
        try {
            void* const library = ::dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL);
            const auto entry =
                library == nullptr
                    ? nullptr
                    : reinterpret_cast<BackendEntry>(::dlsym(library, ("concord_backend_" + name).c_str()));
            const BackendModule* const described = entry == nullptr ? nullptr : entry();
            // The loader refuses other modules.
            const bool is_usable =
                described != nullptr && described->interface_version == backend_interface_version &&
                described->name != nullptr && described->name == name && described->create != nullptr;
            if (is_usable) {
                const std::unique_ptr<concord::Backend> backend(described->create());
                const std::size_t devices = backend == nullptr ? 0 : backend->devices().size();
                for (u32 i = 0; i < devices; ++i)
                    (void)backend->open(i);
            }
        } catch (...) {  // the report in the parent says why
        }
        ::_exit(0);
    }
    ::close(ends[1]);
    if (child < 0) {
        ::close(ends[0]);
        return {};
    }
    // Until the child has ended: it and its threads hold the other end.
    std::string said;
    char piece[1024];
    constexpr int patience_ms = 60000;
    pollfd ready{ends[0], POLLIN, 0};
    bool hangs = false;
    while (!hangs) {
        const int count = ::poll(&ready, 1, patience_ms);
        if (count < 0 && errno == EINTR) continue;
        hangs = count == 0;
        const ssize_t n = count > 0 ? ::read(ends[0], piece, sizeof piece) : 0;
        if (count <= 0 || n <= 0) break;
        said.append(piece, static_cast<std::size_t>(n));
    }
    if (hangs) ::kill(child, SIGKILL);
    ::close(ends[0]);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (hangs) return "does not answer within a minute";
    if (!WIFSIGNALED(status)) return {};
    const char* const signal = ::sigabbrev_np(WTERMSIG(status));
    std::string end = std::string("ends the process (SIG") + (signal == nullptr ? "?" : signal) + ")";
    const std::vector<std::string> lines = lines_of(said);
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
        if (line->empty()) continue;
        end += ": " + *line;
        break;
    }
    return end;
}

// Hides backends during its lifetime: files that cannot be loaded are found before their modules.
class HiddenBackends {
  public:
    HiddenBackends() = default;
    ~HiddenBackends() {
        if (folder_.empty()) return;
        std::error_code error;
        std::filesystem::remove_all(folder_, error);
        if (before_.empty())
            ::unsetenv(variable);
        else
            ::setenv(variable, before_.c_str(), 1);
    }
    HiddenBackends(const HiddenBackends&) = delete;
    HiddenBackends& operator=(const HiddenBackends&) = delete;

    // Returns whether the backend is hidden.
    bool add(const std::string& name) {
        if (folder_.empty()) {
            std::string pattern = (std::filesystem::temp_directory_path() / "concord-doctor-XXXXXX").string();
            if (::mkdtemp(pattern.data()) == nullptr) return false;
            folder_ = std::filesystem::canonical(pattern);
            before_ = detail::environment_variable(variable);
            ::setenv(variable, (folder_.string() + (before_.empty() ? "" : ":") + before_).c_str(), 1);
        }
        const std::filesystem::path file = folder_ / (std::string(backend_prefix) + name + ".so");
        std::ofstream(file).close();
        for (const detail::ModulePath& module : detail::find_modules(backend_prefix)) {
            if (module.path.filename() == file.filename())
                return module.path == file && module.refused.empty();
        }
        return false;
    }

  private:
    static constexpr const char* variable = "CONCORD_BACKEND_PATH";
    std::filesystem::path folder_;
    std::string before_;  // the variable's value
};

// Asks each module in a process of its own, because some drivers end theirs. Reports those and hides them. Returns
// their names, or nothing if one cannot be hidden.
std::optional<std::set<std::string>> hide_fatal_backends(HiddenBackends& hidden, Findings& findings) {
    std::set<std::string> names;
    for (const detail::ModulePath& module : detail::find_modules(backend_prefix)) {
        const std::string name = module.path.stem().string().substr(backend_prefix.size());
        const std::string end = module.refused.empty() ? end_of_driver(name, module.path) : "";
        if (end.empty()) continue;
        ++findings.failed;
        std::cout << name << ": " << painted("failed", Tone::bad) << ": its driver " << end
                  << "\n  module: " << module.path.string() << "\n  to leave it out: ";
        if (name == "opencl")
            std::cout
                << "set OCL_ICD_VENDORS to a folder with the .icd files of the other OpenCL drivers, or to\n"
                   "    /nonexistent, which hides all of them\n";
        else
            std::cout << "create an empty file concord-backend-" << name
                      << ".so in a folder of yours, and set\n    CONCORD_BACKEND_PATH to that folder\n";
        names.insert(name);
        if (!hidden.add(name)) return std::nullopt;
    }
    return names;
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
    for (const DeviceInfo& info : backend.devices) {
        std::cout << "  " << info.selector << ": " << info.name << " (" << info.driver << ")\n";
        try_device(info.selector, findings);
    }
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
    Findings findings;
    std::optional<std::set<std::string>> fatal;
    std::vector<BackendStatus> list;
    {
        HiddenBackends hidden;
        fatal = hide_fatal_backends(hidden, findings);
        if (fatal) list = backends();
    }
    if (!fatal) {
        std::cout << "\nthe other backends are not tested, because this one cannot be hidden\n";
        return findings.status();
    }
    for (const BackendStatus& backend : list) {
        if (fatal->count(backend.name) == 0) report_backend(backend, findings);
    }
    if (list.empty() && fatal->empty())
        std::cout << "no backend: none is built in, and no module was found; set CONCORD_BACKEND_PATH to the "
                     "directory of the modules\n";
    std::cout << '\n';
    report_cache();
    report_nvtx();
    report_environment();
    std::cout << "\ndevices: " << findings.working << " working, " << findings.wrong
              << " with wrong results, " << findings.failed << " failing\n";
    return findings.status();
}

}  // namespace

void add_doctor(CLI::App& program, Action& action) {
    CLI::App* command = add_command(
        program, "doctor",
        {.summary = "Test the devices of this machine and explain what does not work",
         .details =
             "Asks each backend for its devices in a process of its own, because some drivers end their "
             "process. "
             "Then runs a few algorithms on every device and verifies the results. Shows the backends' "
             "libraries, the kernel cache and the environment variables that matter.",
         .examples = {"concord doctor"},
         .statuses = {status_ok, status_wrong, status_bad_input, status_unavailable, status_failed}});
    command->callback([&action] { action = doctor; });
}

}  // namespace concord::app
