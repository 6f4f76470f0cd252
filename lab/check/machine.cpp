#include <concord/lab/machine.hpp>

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <thread>

namespace concord::lab {
namespace {

// The value in the first line that begins with `name`, without separators and quotes.
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

// Empty if the system does not report them.
cpu_set_t usable_processors() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) CPU_ZERO(&set);
    return set;
}

u32 usable_cores() {
    const cpu_set_t set = usable_processors();
    const int count = CPU_COUNT(&set);
    return count > 0 ? static_cast<u32>(count) : std::thread::hardware_concurrency();
}

// Reads a property of a processor's third-level cache from /sys.
std::string third_cache(int processor, const char* name) {
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(processor) + "/cache/index3/" + name);
    std::string text;
    std::getline(file, text);
    return text;
}

}  // namespace

u64 last_cache_bytes() {
    static const u64 bytes = [] {
        std::map<std::string, u64> by_sharers;  // in KiB
        const cpu_set_t set = usable_processors();
        for (int k = 0; k < CPU_SETSIZE; ++k) {
            if (CPU_COUNT(&set) > 0 && !CPU_ISSET(k, &set)) continue;
            const std::string size = third_cache(k, "size");  // "32768K"
            if (size.size() > 1 && size.back() == 'K')
                by_sharers[third_cache(k, "shared_cpu_list")] = std::strtoull(size.c_str(), nullptr, 10);
        }
        u64 sum = 0;
        for (const auto& [sharers, kib] : by_sharers)
            sum += kib << 10;
        return sum > 0 ? sum : static_cast<u64>(std::max(0L, sysconf(_SC_LEVEL3_CACHE_SIZE)));
    }();
    return bytes;
}

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

}  // namespace concord::lab
