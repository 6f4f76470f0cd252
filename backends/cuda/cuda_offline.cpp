#include "cuda_offline.hpp"

#include "cuda_cubin.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

namespace concord::cuda {
namespace {

constexpr u64 KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;

// What sets architectures apart for planning (CUDA C++ programming guide, technical specifications per
// compute capability). An architecture that is not here is taken for the last one below it.
struct Architecture {
    u32 first;
    u32 resident_lanes;
    u64 local_memory;  // of a group, if it asks
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

// Most lanes of a group whose registers fit a multiprocessor: they are handed out to warps by 256, to four
// warps at a time.
u64 lanes_with_registers(i64 registers) {
    if (registers <= 0) return 1024;
    const i64 of_warp = (registers * 32 + 255) / 256 * 256;
    const i64 warps = 65536 / of_warp / 4 * 4;
    return static_cast<u64>(std::min<i64>(1024, warps * 32));
}

// Device memory that nothing can look into needs no memory.
class OfflineBuffer final : public Buffer {
  public:
    OfflineBuffer(Device& device, u64 bytes, std::atomic<u64>& allocated)
        : Buffer(device, Kind::device, bytes), allocated_(allocated) {}
    ~OfflineBuffer() override { allocated_ -= capacity(); }
    void* host_pointer() noexcept override { return nullptr; }

  private:
    std::atomic<u64>& allocated_;
};

class OfflineHostBuffer final : public Buffer {
  public:
    OfflineHostBuffer(Device& device, u64 bytes)
        : Buffer(device, Kind::host, bytes), memory_(std::calloc(bytes, 1)) {
        if (memory_ == nullptr)
            throw Error(ErrorCode::out_of_memory, "Device::allocate_host", std::to_string(bytes) + " bytes");
    }
    ~OfflineHostBuffer() override { std::free(memory_); }
    void* host_pointer() noexcept override { return memory_; }

  private:
    void* memory_;
};

class OfflineKernel final : public Kernel {
  public:
    OfflineKernel(Device& device, const KernelSpec& spec, const CubinKernel& info)
        : Kernel(spec.entry), device_(device), info_(info) {
        limits_.device.local_memory = device.traits().local_memory;
        limits_.max_lanes = lanes_with_registers(info.registers);
        if (info.launch_bounds > 0)
            limits_.max_lanes = std::min(limits_.max_lanes, static_cast<u64>(info.launch_bounds));
        limits_.static_local = info.local_bytes > 0 ? static_cast<u64>(info.local_bytes) : 0;
        limits_.parameter_sizes = info.parameter_sizes;
    }
    Device& device() const override { return device_; }
    KernelAttributes do_attributes() const override {
        return {.registers = info_.registers,
                .local_bytes = info_.local_bytes,
                .spill_bytes = info_.frame_bytes,
                .max_lanes = static_cast<i64>(limits_.max_lanes)};
    }
    const KernelLimits& limits() const { return limits_; }

  private:
    Device& device_;  // whose table of kernels holds this
    CubinKernel info_;
    KernelLimits limits_;
};

class OfflineEvent final : public Event {
  public:
    explicit OfflineEvent(std::shared_ptr<Device> device) : device_(std::move(device)) {}
    Device& device() const override { return *device_; }
    bool done() const override { return true; }
    void synchronize() const override {}
    double milliseconds_since(const Event& start) const override {
        if (&start.device() != device_.get())
            throw Error(ErrorCode::wrong_device, "Event::milliseconds_since",
                        "the start is of " + start.device().info().selector + ", the end of " +
                            device_->info().selector);
        if (!recorded || !static_cast<const OfflineEvent&>(start).recorded)
            throw Error(ErrorCode::invalid_argument, "Event::milliseconds_since",
                        "an event was never recorded");
        return 0;
    }

    std::atomic<bool> recorded = false;

  private:
    std::shared_ptr<Device> device_;
};

class OfflineStream final : public Stream {
  public:
    explicit OfflineStream(std::shared_ptr<Device> device) : Stream(std::move(device)) {}

  protected:
    void do_write(Buffer&, u64, const void*, u64) override {}
    void do_read(void* to, const Buffer&, u64, u64 bytes) override { std::memset(to, 0, bytes); }
    void do_copy(Buffer&, u64, const Buffer&, u64, u64) override {}
    void do_fill(Buffer&, u64, u64, const void*, u32) override {}
    void do_launch(const Kernel& kernel, const LaunchShape& shape,
                   std::span<const KernelArgument> arguments) override {
        check_launch(kernel, static_cast<const OfflineKernel&>(kernel).limits(), shape, arguments);
    }
    void do_record(Event& event) override { static_cast<OfflineEvent&>(event).recorded = true; }
    void do_wait(const Event&) override {}
    void do_callback(std::function<void()> f) override {
        try {
            f();
        } catch (...) {
            const std::lock_guard lock(mutex_);
            if (!error_) error_ = std::current_exception();
        }
    }
    void do_synchronize() override {
        std::exception_ptr error;
        {
            const std::lock_guard lock(mutex_);
            error = std::exchange(error_, nullptr);
        }
        if (error) std::rethrow_exception(error);
    }
    bool do_idle() override { return true; }

  private:
    std::mutex mutex_;
    std::exception_ptr error_;  // of the first callback that failed
};

}  // namespace

std::shared_ptr<OfflineDevice> OfflineDevice::open(std::string_view target) {
    constexpr std::string_view prefix = "sm_";
    const Nvrtc& nvrtc = Nvrtc::get();
    u32 architecture = 0;
    if (target.substr(0, prefix.size()) == prefix) {
        const char* end = target.data() + target.size();
        const auto [stop, error] = std::from_chars(target.data() + prefix.size(), end, architecture);
        if (error != std::errc() || stop != end) architecture = 0;
    }
    for (const u32 known : nvrtc.architectures()) {
        if (known == architecture) return std::make_shared<OfflineDevice>(architecture);
    }
    throw Error(ErrorCode::unsupported, "open_device",
                "'cuda@" + std::string(target) + "': " + nvrtc.title() + " compiles for " +
                    nvrtc.architecture_list());
}

OfflineDevice::OfflineDevice(u32 architecture) : compiler_(architecture) {
    const std::string& target = compiler_.target();
    info_.selector = "cuda@" + target;
    info_.backend = "cuda";
    info_.name = target + " (compile only)";
    info_.driver = "no driver, " + compiler_.nvrtc().title() + ", " + target;
    const Architecture& row = traits_of(architecture);
    traits_.dialect = Dialect::cuda;
    traits_.many_lanes = true;
    traits_.units = 132;
    traits_.max_lanes = 1024;
    traits_.max_resident_lanes = row.resident_lanes;
    traits_.sub_group_width = 32;
    traits_.local_memory = row.local_memory;
    traits_.global_memory = 80 * GiB;
    traits_.max_allocation = traits_.global_memory;
    traits_.cache = 50 * MiB;
    traits_.compiles_text = true;
    traits_.shuffles = true;
    traits_.device_fence = true;
    traits_.forward_progress = true;
    traits_.runs = false;
}

std::vector<Property> OfflineDevice::properties() const {
    return {{"NAME", info_.name},
            {"NVRTC", compiler_.nvrtc().title() + " (" + compiler_.nvrtc().path() + ")"},
            {"TARGETS", compiler_.nvrtc().architecture_list()}};
}

std::shared_ptr<Stream> OfflineDevice::do_create_stream(Priority /*priority*/) {
    return std::make_shared<OfflineStream>(shared_from_this());
}

std::shared_ptr<Event> OfflineDevice::do_create_event() {
    return std::make_shared<OfflineEvent>(shared_from_this());
}

std::unique_ptr<Buffer> OfflineDevice::do_allocate(u64 bytes) {
    const u64 before = allocated_.fetch_add(bytes);
    if (bytes > traits_.global_memory || before > traits_.global_memory - bytes) {
        allocated_ -= bytes;
        throw Error(ErrorCode::out_of_memory, "Device::allocate",
                    std::to_string(bytes) + " bytes on " + info_.selector + ", which stands for a GPU of " +
                        std::to_string(traits_.global_memory) + " bytes, " + std::to_string(before) +
                        " in use");
    }
    return std::make_unique<OfflineBuffer>(*this, bytes, allocated_);
}

std::unique_ptr<Buffer> OfflineDevice::do_allocate_host(u64 bytes) {
    return std::make_unique<OfflineHostBuffer>(*this, bytes);
}

std::shared_ptr<Kernel> OfflineDevice::do_compile(const KernelSpec& spec) {
    std::optional<CubinKernel> info;
    compiler_.build(spec, [&](const Program& program) {
        // What a driver would find out by loading it.
        std::string problem;
        const std::optional<Cubin> cubin = Cubin::read(program.image);
        if (!cubin) {
            problem = "the program is not machine code";
        } else if (cubin->architecture() != compiler_.architecture()) {
            problem = "the machine code is for sm_" + std::to_string(cubin->architecture());
        } else if (info = cubin->kernel(spec.entry); !info) {
            problem = no_such_kernel(spec.entry);
        }
        if (!problem.empty() && !program.from_cache) compiler_.fail(spec, problem, {});
        return problem;
    });
    return std::make_shared<OfflineKernel>(*this, spec, info.value());
}

}  // namespace concord::cuda
