#include <concord/conformance/machine.hpp>

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <thread>

namespace concord::conformance {
namespace {

// The rest of the first line that begins with `name`, past separators and quotes.
std::string value_in(const char* path, const std::string& name) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line.rfind(name, 0) != 0) continue;
        const std::size_t begin = line.find_first_not_of(" \t:=\"", name.size());
        const std::size_t end = line.find_last_not_of(" \t\"");
        if (begin != std::string::npos) return line.substr(begin, end + 1 - begin);
    }
    return {};
}

u32 usable_cores() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<u32>(CPU_COUNT(&set));
    return std::thread::hardware_concurrency();
}

}  // namespace

Machine this_machine() {
    Machine machine;
    machine.cpu = value_in("/proc/cpuinfo", "model name");
    machine.cores = usable_cores();
    machine.memory = static_cast<u64>(sysconf(_SC_PHYS_PAGES)) * static_cast<u64>(sysconf(_SC_PAGESIZE));
    machine.os = value_in("/etc/os-release", "PRETTY_NAME");
    utsname system{};
    if (uname(&system) == 0)
        machine.os += (machine.os.empty() ? "" : ", ") + std::string(system.sysname) + " " + system.release +
                      " " + system.machine;
#if defined(__clang__)
    machine.compiler = "clang++ " __clang_version__;
#elif defined(__GNUC__)
    machine.compiler = "g++ " __VERSION__;
#endif
    return machine;
}

std::string date_now() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32] = {};
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

}  // namespace concord::conformance
