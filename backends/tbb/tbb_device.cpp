#include "tbb_device.hpp"

#include <concord/backend/launch_limits.hpp>
#include <concord/dlpack.hpp>
#include <concord/internal/host_threads.hpp>
#include <concord/internal/processor.hpp>
#include <concord/log.hpp>

#include <sys/mman.h>
#include <sys/utsname.h>
#include <tbb/info.h>
#include <tbb/version.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>

namespace concord::tbb_backend {
namespace {

std::string cpu_field(std::string_view field) {
    std::ifstream file("/proc/cpuinfo");
    file.exceptions(std::ios::badbit);  // otherwise getline() hides that memory ran out
    for (std::string line; std::getline(file, line);) {
        if (line.rfind(field, 0) != 0) continue;
        const std::size_t colon = line.find(": ");
        if (colon != std::string::npos) return line.substr(colon + 2);
    }
    return {};
}

u64 bytes_of(int name, u64 otherwise) {
    const long value = sysconf(name);
    return value > 0 ? static_cast<u64>(value) : otherwise;
}

u64 physical_memory() {
    return bytes_of(_SC_PHYS_PAGES, 0) * bytes_of(_SC_PAGESIZE, 4096);
}

std::string runtime(HostIsa isa) {
    return "oneTBB " + std::to_string(TBB_VERSION_MAJOR) + "." + std::to_string(TBB_VERSION_MINOR) + ", " +
           std::string(title_of(isa));
}

// The device with the given selector and instruction set.
DeviceInfo info_of(std::string selector, HostIsa isa) {
    std::string name = cpu_field("model name");
    const u32 threads = detail::host_threads();
    return {std::move(selector),
            "tbb",
            name.empty() ? "CPU" : name,
            runtime(isa) + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads"),
            2,
            detail::processor_key() + ", " + std::string(title_of(isa))};
}

std::unique_ptr<backend::Device> open_device(std::string selector, HostIsa isa) {
    return std::make_unique<TbbDevice>(info_of(std::move(selector), isa),
                                       static_cast<int>(detail::host_threads()), isa);
}

// Throws if less than `bytes` bytes of memory are left.
void check_memory_left(std::size_t bytes) {
    void* const test = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (test == MAP_FAILED) throw std::bad_alloc();
    munmap(test, bytes);
}

// oneTBB cannot start any more in this process.
class LostTbb : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// What oneTBB initialises once per process. If that runs out of memory, every later attempt waits for ever. Therefore
// the attempt is made with enough memory left, and a failed one is not repeated.
void start_tbb() {
    static std::mutex mutex;
    static bool was_tried = false, is_started = false;
    const std::lock_guard lock(mutex);
    if (is_started) return;
    if (was_tried) throw LostTbb("an earlier attempt failed");
    check_memory_left(std::size_t{16} << 20);
    was_tried = true;
    try {
        tbb::info::default_concurrency();
    } catch (const std::exception& error) {
        throw LostTbb(detail::words_of(error));
    }
    is_started = true;
}

class TbbBackend final : public Backend {
  public:
    std::vector<DeviceInfo> devices() override { return {info_of("tbb:0", host_isa())}; }
    std::unique_ptr<backend::Device> open(u32 /*index*/) override { return open_device("tbb:0", host_isa()); }
    std::unique_ptr<backend::Device> open_target(std::string_view target) override {
        const std::string selector = "tbb@" + std::string(target);
        for (const HostIsa isa : all_host_isas) {
            if (name_of(isa) != target) continue;
            if (isa > machine_isa())
                throw Error(
                    ErrorCode::unavailable, "open_device",
                    detail::error_message("instruction set not available", detail::quoted(selector),
                                          "the processor has " + std::string(title_of(machine_isa()))));
            return open_device(selector, isa);
        }
        throw Error(ErrorCode::unavailable, "open_device",
                    detail::error_message("unknown instruction set", detail::quoted(selector),
                                          "select " + detail::host_isa_names("tbb@")));
    }
    std::vector<DeviceProperty> libraries() override {
        return {{"oneTBB", "built with " + std::to_string(TBB_VERSION_MAJOR) + "." +
                               std::to_string(TBB_VERSION_MINOR) + ", running interface " +
                               std::to_string(TBB_runtime_interface_version())}};
    }
};

}  // namespace

std::vector<KernelParameter> HostFunctionKernel::parameters() const {
    std::vector<KernelParameter> parameters;
    if (takes_rest()) return parameters;
    for (const HostKernel::Parameter& parameter : signature_)
        parameters.push_back({.is_buffer = parameter.pointer, .type = parameter.type});
    return parameters;
}

void HostFunctionKernel::check(std::span<const KernelArgument> arguments) const {
    const std::size_t fixed = signature_.size() - (takes_rest() ? 1 : 0);
    if (!takes_rest() || arguments.size() < fixed)
        backend::check_argument_count(name, arguments.size(), fixed);
    for (std::size_t i = 0; i < fixed; ++i) {
        const bool buffer = arguments[i].buffer != nullptr;
        const u32 bytes = buffer ? sizeof(void*) : arguments[i].size;
        // An empty struct has one byte in C++ and four in the other languages.
        if (buffer == signature_[i].pointer && (buffer || bytes >= signature_[i].bytes) &&
            (bytes == signature_[i].bytes || signature_[i].is_class))
            continue;
        throw Error(
            ErrorCode::invalid_argument, "Stream::launch",
            name + ": argument " + std::to_string(i) + " does not match, got " +
                (buffer ? "a buffer" : "a value of " + std::to_string(bytes) + " bytes") +
                "; the parameter is " +
                (signature_[i].pointer ? "a buffer"
                                       : "a value of " + std::to_string(signature_[i].bytes) + " bytes"));
    }
}

TbbDevice::TbbDevice(DeviceInfo info, int threads, HostIsa isa) : info_(std::move(info)), arena_(threads, 1) {
    traits_.dialect = Dialect::host;
    traits_.dlpack_type = dlpack::DeviceType::cpu;
    traits_.units = static_cast<u32>(threads);
    traits_.local_memory = u64{256} << 10;
    traits_.global_memory = physical_memory();
    traits_.max_allocation = traits_.global_memory;
    traits_.cache = bytes_of(_SC_LEVEL2_CACHE_SIZE, u64{1} << 20) * traits_.units;
    traits_.launch = LaunchModel::host;
    traits_.host_isa = isa;
    traits_.device_fence = true;
    traits_.forward_progress = true;
    traits_.shares_host_memory = true;
    traits_.uses_host_memory = true;
    // Otherwise the first operation would initialise the arena. If that fails, oneTBB's later operations wait for ever.
    try {
        start_tbb();
        arena_.initialize();
    } catch (const std::exception& error) {
        std::string message =
            "oneTBB cannot start; free memory, or raise the limits of the process (ulimit -u, -v)";
        if (dynamic_cast<const LostTbb*>(&error) != nullptr) message += ", and restart it";
        throw Error(ErrorCode::out_of_memory, "open_device", message, detail::words_of(error));
    }
}

std::vector<DeviceProperty> TbbDevice::properties() const {
    std::vector<DeviceProperty> list;
    auto add = [&](std::string name, std::string value) {
        list.push_back({std::move(name), value.empty() ? "not reported" : std::move(value)});
    };
    auto cache = [&](const char* name, int query) { add(name, std::to_string(bytes_of(query, 0))); };
    add("model", cpu_field("model name"));
    add("vendor", cpu_field("vendor_id"));
    add("instruction set used", std::string(title_of(traits_.host_isa)));
    add("features", cpu_field("flags"));
    add("clock (MHz)", cpu_field("cpu MHz"));
    add("processors configured", std::to_string(sysconf(_SC_NPROCESSORS_CONF)));
    add("processors online", std::to_string(sysconf(_SC_NPROCESSORS_ONLN)));
    add("threads used", std::to_string(traits_.units));
    cache("level 1 data cache (bytes)", _SC_LEVEL1_DCACHE_SIZE);
    cache("level 2 cache (bytes)", _SC_LEVEL2_CACHE_SIZE);
    cache("level 3 cache (bytes)", _SC_LEVEL3_CACHE_SIZE);
    cache("cache line (bytes)", _SC_LEVEL1_DCACHE_LINESIZE);
    add("memory (bytes)", std::to_string(traits_.global_memory));
    add("page (bytes)", std::to_string(bytes_of(_SC_PAGESIZE, 0)));
    add("oneTBB",
        runtime(traits_.host_isa) + ", interface " + std::to_string(TBB_runtime_interface_version()));
    utsname system{};
    if (uname(&system) == 0)
        add("system", std::string(system.sysname) + " " + system.release + " " + system.machine);
    return list;
}

std::unique_ptr<backend::Memory> TbbDevice::allocate(u64 bytes) {
    return std::make_unique<HostMemory>(*this, bytes);
}

std::unique_ptr<backend::Memory> TbbDevice::allocate_host(u64 bytes) {
    return allocate(bytes);
}

std::unique_ptr<backend::Memory> TbbDevice::adopt(const ForeignMemory& memory) {
    return adopt_host(memory);
}

std::unique_ptr<backend::Memory> TbbDevice::adopt_host(const ForeignMemory& memory) {
    return std::make_unique<AdoptedMemory>(memory.handle);
}

std::unique_ptr<backend::Kernel> TbbDevice::compile(const KernelSpec& spec) {
    return std::make_unique<HostFunctionKernel>(spec, traits_.host_isa);
}

}  // namespace concord::tbb_backend

CONCORD_BACKEND_MODULE(tbb, []() -> concord::Backend* { return new concord::tbb_backend::TbbBackend; })
