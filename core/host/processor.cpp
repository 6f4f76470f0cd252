#include <concord/internal/processor.hpp>

#if defined(__x86_64__)
#include <cpuid.h>
#else
#include <sys/utsname.h>
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>

namespace concord::detail {
namespace {

namespace fs = std::filesystem;

#if defined(__x86_64__)
// AMD64 Architecture Programmer's Manual 3, appendix E, and Intel SDM 2A, CPUID: the extended model counts for families
// 6 and 15 and above, the extended family from family 15 on.
std::string read_processor_key() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    std::array<char, 12> vendor{};
    if (__get_cpuid(0, &a, &b, &c, &d) == 0) return "x86-64";
    std::memcpy(vendor.data(), &b, 4);
    std::memcpy(vendor.data() + 4, &d, 4);
    std::memcpy(vendor.data() + 8, &c, 4);
    __get_cpuid(1, &a, &b, &c, &d);
    const unsigned base = a >> 8 & 15;
    const unsigned family = base == 15 ? base + (a >> 20 & 255) : base;
    const unsigned model = (a >> 4 & 15) | (base == 6 || base == 15 ? (a >> 16 & 15) << 4 : 0);
    return std::string(vendor.data(), vendor.size()) + " family " + std::to_string(family) + " model " +
           std::to_string(model);
}
#else
std::string read_processor_key() {
    std::string implementer, part;
    std::ifstream file("/proc/cpuinfo");
    file.exceptions(std::ios::badbit);  // otherwise getline() hides that memory ran out
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(": ");
        if (colon == std::string::npos) continue;
        if (line.rfind("CPU implementer", 0) == 0) implementer = line.substr(colon + 2);
        if (line.rfind("CPU part", 0) == 0) part = line.substr(colon + 2);
    }
    if (!implementer.empty()) return "implementer " + implementer + " part " + part;
    utsname system{};
    return uname(&system) == 0 ? system.machine : "unknown";
}
#endif

// Quota and period in microseconds. Nothing without a limit.
std::optional<u32> quota_in(const fs::path& group, bool unified) {
    double quota = 0, period = 0;
    if (unified) {  // "max 100000" or "150000 100000"
        if (!(std::ifstream(group / "cpu.max") >> quota >> period)) return std::nullopt;
    } else if (!(std::ifstream(group / "cpu.cfs_quota_us") >> quota) ||
               !(std::ifstream(group / "cpu.cfs_period_us") >> period)) {
        return std::nullopt;
    }
    if (!(quota > 0) || !(period > 0)) return std::nullopt;
    return static_cast<u32>(std::clamp(std::ceil(quota / period), 1.0, 65536.0));
}

}  // namespace

const std::string& processor_key() {
    static const std::string key = read_processor_key();
    return key;
}

// Linux, Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/cgroups.rst. A line is "ID:CONTROLLERS:PATH"; version 2
// has the ID 0 and no controllers. In a container the path may be the host's, which is not visible: then only the
// groups that exist count, and the root is the container's own.
std::optional<u32> processor_quota(std::string_view groups, const fs::path& root) {
    std::optional<u32> least;
    while (!groups.empty()) {
        const std::size_t end = std::min(groups.find('\n'), groups.size());
        const std::string_view line = groups.substr(0, end);
        groups.remove_prefix(std::min(end + 1, groups.size()));
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string_view::npos || second == std::string_view::npos) continue;
        const std::string controllers = "," + std::string(line.substr(first + 1, second - first - 1)) + ",";
        const bool unified = controllers == ",,";
        if (!unified && controllers.find(",cpu,") == std::string::npos) continue;
        for (const char* mount : unified ? std::array{".", "unified"} : std::array{"cpu", "cpu,cpuacct"}) {
            fs::path below = fs::path(line.substr(second + 1)).lexically_normal().relative_path();
            for (;; below = below.parent_path()) {
                fs::path group = root / mount;
                // An empty path would end the group in a slash. If memory runs out while libstdc++ extends such a
                // path, it crashes.
                if (!below.empty()) group /= below;
                if (const auto quota = quota_in(group, unified))
                    least = std::min(least.value_or(*quota), *quota);
                if (below.empty()) break;
            }
        }
    }
    return least;
}

}  // namespace concord::detail
