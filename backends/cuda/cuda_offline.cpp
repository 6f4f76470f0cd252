#include "cuda_offline.hpp"

#include "cuda_cubin.hpp"

#include <concord/dlpack.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <utility>

namespace concord::cuda {
namespace {

constexpr u64 KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;

// Differences between architectures that matter for planning, from the CUDA C++ programming guide, technical
// specifications per compute capability. An architecture without an entry uses the last entry below it.
struct Architecture {
    u32 first;
    u32 resident_items;
    u64 local_memory;  // per group, after opting in
};
constexpr Architecture architectures[] = {
    {50, 2048, 48 * KiB},  {70, 2048, 96 * KiB},   {75, 1024, 64 * KiB},  {80, 2048, 163 * KiB},
    {86, 1536, 99 * KiB},  {87, 1536, 163 * KiB},  {88, 1536, 99 * KiB},  {89, 1536, 99 * KiB},
    {90, 2048, 227 * KiB}, {110, 1536, 227 * KiB}, {120, 1536, 99 * KiB},
};

const Architecture& traits_of(u32 architecture) {
    const Architecture* found = &architectures[0];
    for (const Architecture& row : architectures) {
        if (row.first <= architecture) found = &row;
    }
    return *found;
}

// The limit of work-items in a group whose registers fit a multiprocessor. Registers are allocated to warps in units of
// 256, and to four warps at a time.
u64 items_with_registers(i64 registers) {
    if (registers <= 0) return 1024;
    const i64 of_warp = (registers * 32 + 255) / 256 * 256;
    const i64 warps = 65536 / of_warp / 4 * 4;
    return static_cast<u64>(std::min<i64>(1024, warps * 32));
}

// Device memory. Nothing can read it, so that it allocates nothing.
class OfflineMemory final : public backend::Memory {
  public:
    OfflineMemory(u64 bytes, std::atomic<u64>& allocated) : bytes_(bytes), allocated_(allocated) {}
    ~OfflineMemory() override { allocated_ -= bytes_; }
    void* host_pointer() noexcept override { return nullptr; }

  private:
    u64 bytes_;
    std::atomic<u64>& allocated_;
};

class OfflineHostMemory final : public backend::Memory {
  public:
    explicit OfflineHostMemory(u64 bytes) : memory_(std::calloc(bytes, 1)) {
        if (memory_ == nullptr)
            throw Error(ErrorCode::out_of_memory, "Device::allocate_host",
                        "not enough host memory, got a request for " + std::to_string(bytes) + " bytes");
    }
    ~OfflineHostMemory() override { std::free(memory_); }
    void* host_pointer() noexcept override { return memory_; }

  private:
    void* memory_;
};

class OfflineKernel final : public backend::Kernel {
  public:
    OfflineKernel(const backend::Device& device, const KernelSpec& spec, const CubinKernel& info)
        : info_(info) {
        limits_.kernel = std::string(spec.entry) + " on " + device.info().selector;
        limits_.device.local_memory = device.traits().local_memory;
        limits_.max_group_size = items_with_registers(info.registers);
        if (info.launch_bounds > 0)
            limits_.max_group_size = std::min(limits_.max_group_size, static_cast<u64>(info.launch_bounds));
        limits_.static_local = info.local_bytes > 0 ? static_cast<u64>(info.local_bytes) : 0;
        limits_.parameter_sizes = info.parameter_sizes;
    }
    KernelAttributes attributes() const override {
        return {.registers = info_.registers,
                .local_bytes = info_.local_bytes,
                .spill_bytes = info_.frame_bytes,
                .max_group_size = static_cast<i64>(limits_.max_group_size)};
    }
    const KernelLimits& limits() const { return limits_; }

  private:
    CubinKernel info_;
    KernelLimits limits_;
};

using detail::refuse_compile_only;

class OfflineEvent final : public backend::Event {
  public:
    explicit OfflineEvent(const DeviceInfo& device) : device_(device) {}
    void record(bool after_launch) { after_launch_ = after_launch; }
    bool done() const override {
        check("Event::done");
        return true;
    }
    void synchronize() const override { check("Event::synchronize"); }
    double milliseconds_since(const backend::Event& /*start*/) const override {
        refuse_compile_only("Event::milliseconds_since", device_.selector);
    }

  private:
    void check(const char* call) const {
        if (after_launch_) refuse_compile_only(call, device_.selector);
    }

    const DeviceInfo& device_;
    std::atomic<bool> after_launch_ = false;
};

class OfflineQueue final : public backend::Queue {
  public:
    explicit OfflineQueue(const DeviceInfo& device) : device_(device) {}
    void write(backend::Memory&, u64, const void*, u64) override {}
    void read(void*, const backend::Memory&, u64, u64) override {
        refuse_compile_only("Stream::read", device_.selector);
    }
    void copy(backend::Memory&, u64, const backend::Memory&, u64, u64) override {}
    void fill(backend::Memory&, u64, u64, const void*, u32) override {}
    void launch(const backend::Kernel& kernel, const LaunchShape& shape,
                std::span<const KernelArgument> arguments) override {
        check_launch(static_cast<const OfflineKernel&>(kernel).limits(), shape, arguments);
        launched_ = true;
    }
    void record(backend::Event& event) override { static_cast<OfflineEvent&>(event).record(launched_); }
    void wait(const backend::Event&) override {}
    void callback(std::function<void()> f) override {
        if (launched_) refuse_compile_only("Stream::callback", device_.selector);
        try {
            f();
        } catch (...) {
            const std::lock_guard lock(mutex_);
            if (!error_) error_ = std::current_exception();
        }
    }
    void synchronize() override {
        std::exception_ptr error;
        {
            const std::lock_guard lock(mutex_);
            error = std::exchange(error_, nullptr);
        }
        if (error) std::rethrow_exception(error);
        if (launched_) refuse_compile_only("Stream::synchronize", device_.selector);
    }
    bool idle() override { return true; }

  private:
    const DeviceInfo& device_;
    std::atomic<bool> launched_ = false;
    std::mutex mutex_;
    std::exception_ptr error_;  // first exception of a callback
};

}  // namespace

std::unique_ptr<OfflineDevice> OfflineDevice::open(std::string_view target) {
    constexpr std::string_view prefix = "sm_";
    const Nvrtc& nvrtc = Nvrtc::get();
    u32 architecture = 0;
    if (target.substr(0, prefix.size()) == prefix) {
        const char* end = target.data() + target.size();
        const auto [stop, error] = std::from_chars(target.data() + prefix.size(), end, architecture);
        if (error != std::errc() || stop != end) architecture = 0;
    }
    for (const u32 known : nvrtc.architectures()) {
        if (known == architecture) return std::make_unique<OfflineDevice>(architecture);
    }
    throw Error(
        ErrorCode::unsupported, "open_device",
        detail::error_message("unsupported architecture", detail::quoted("cuda@" + std::string(target)),
                              nvrtc.title() + " supports " + nvrtc.architecture_list()));
}

OfflineDevice::OfflineDevice(u32 architecture) : compiler_(architecture) {
    const std::string& target = compiler_.target();
    info_.selector = "cuda@" + target;
    info_.backend = "cuda";
    info_.name = target + " (compile only)";
    info_.driver = "no driver, " + compiler_.nvrtc().title() + ", " + target;
    const Architecture& row = traits_of(architecture);
    traits_.dialect = Dialect::cuda;
    traits_.dlpack_type = dlpack::DeviceType::cuda;
    traits_.launch = LaunchModel::groups;
    traits_.units = 132;
    traits_.max_group_size = 1024;
    traits_.max_resident_items = row.resident_items;
    traits_.sub_group_width = 32;
    traits_.local_memory = row.local_memory;
    traits_.global_memory = 80 * GiB;
    traits_.max_allocation = traits_.global_memory;
    traits_.cache = 50 * MiB;
    traits_.parameter_bytes = 4096;
    traits_.shuffles = true;
    traits_.async_copy = true;
    traits_.bounds_registers = true;
    traits_.device_fence = true;
    traits_.forward_progress = true;
    traits_.system_atomics = architecture >= 70;
    traits_.f64_matrix_units = has_f64_matrix_units(architecture);
    traits_.runs = false;
}

std::vector<DeviceProperty> OfflineDevice::properties() const {
    return {{"NAME", info_.name},
            {"NVRTC", compiler_.nvrtc().title() + " (" + compiler_.nvrtc().path() + ")"},
            {"TARGETS", compiler_.nvrtc().architecture_list()}};
}

std::unique_ptr<backend::Queue> OfflineDevice::create_queue(concord::Device& /*device*/,
                                                            Priority /*priority*/) {
    return std::make_unique<OfflineQueue>(info_);
}

std::unique_ptr<backend::Event> OfflineDevice::create_event() {
    return std::make_unique<OfflineEvent>(info_);
}

std::unique_ptr<backend::Memory> OfflineDevice::allocate(u64 bytes) {
    const u64 before = allocated_.fetch_add(bytes);
    if (bytes > traits_.global_memory || before > traits_.global_memory - bytes) {
        allocated_ -= bytes;
        throw Error(ErrorCode::out_of_memory, "Device::allocate",
                    "not enough memory on " + info_.selector + ", got a request for " +
                        std::to_string(bytes) + " bytes; " + std::to_string(before) + " of " +
                        std::to_string(traits_.global_memory) + " bytes are in use");
    }
    return std::make_unique<OfflineMemory>(bytes, allocated_);
}

std::unique_ptr<backend::Memory> OfflineDevice::allocate_host(u64 bytes) {
    return std::make_unique<OfflineHostMemory>(bytes);
}

std::unique_ptr<backend::Kernel> OfflineDevice::compile(const KernelSpec& spec) {
    std::optional<CubinKernel> info;
    compiler_.build(spec, [&](const Program& program) {
        // Checks what a driver checks when it loads a program.
        std::string problem;
        const std::optional<Cubin> cubin = Cubin::read(program.image);
        if (!cubin) {
            problem = "the program is not machine code";
        } else if (cubin->architecture() != compiler_.architecture()) {
            problem = "the machine code is for sm_" + std::to_string(cubin->architecture());
        } else if (info = cubin->kernel(program.entry); !info) {
            problem = no_such_kernel(program.entry);
        }
        if (!problem.empty() && !program.from_cache) compiler_.fail(spec, problem, {});
        return problem;
    });
    return std::make_unique<OfflineKernel>(*this, spec, info.value());
}

}  // namespace concord::cuda
