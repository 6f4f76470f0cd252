// A backend with what the interfaces require and nothing else; docs/extending/backend.md walks through it. Its device
// is the first CPU of the OpenCL drivers. It takes the kernels in OpenCL C, and keeps memory of its own, which the host
// cannot access. Concord knows it by its traits alone.
//
// Each queue has a thread that executes one operation after the other, with blocking calls of OpenCL.

#include <concord/backend.hpp>
#include <concord/backend/launch_limits.hpp>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

namespace concord::minimal {
namespace {

// --- OpenCL ---------------------------------------------------------------------------------------------------------

void check(cl_int status, const char* call, const char* what) {
    if (status != CL_SUCCESS)
        throw Error(ErrorCode::device_failed, call, std::string(what) + " failed", std::to_string(status));
}

// Owners of OpenCL's objects.
struct Release {
    void operator()(cl_context context) const { clReleaseContext(context); }
    void operator()(cl_command_queue queue) const { clReleaseCommandQueue(queue); }
    void operator()(cl_mem memory) const { clReleaseMemObject(memory); }
    void operator()(cl_program program) const { clReleaseProgram(program); }
    void operator()(cl_kernel kernel) const { clReleaseKernel(kernel); }
};
template <class T>
using Handle = std::unique_ptr<std::remove_pointer_t<T>, Release>;

template <class T>
T value_of(cl_device_id id, cl_device_info question) {
    T value{};
    check(clGetDeviceInfo(id, question, sizeof value, &value, nullptr), "Device", "clGetDeviceInfo");
    return value;
}

std::string text_of(cl_device_id id, cl_device_info question) {
    std::size_t size = 0;
    check(clGetDeviceInfo(id, question, 0, nullptr, &size), "Device", "clGetDeviceInfo");
    std::string text(size, '\0');
    check(clGetDeviceInfo(id, question, size, text.data(), nullptr), "Device", "clGetDeviceInfo");
    text.resize(std::strlen(text.c_str()));
    return text;
}

// The first CPU, or null.
cl_device_id first_cpu() {
    cl_platform_id platforms[8] = {};
    cl_uint count = 0;
    if (clGetPlatformIDs(8, platforms, &count) != CL_SUCCESS) return nullptr;
    for (const cl_platform_id platform : platforms) {
        cl_device_id id = nullptr;
        if (platform != nullptr &&
            clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &id, nullptr) == CL_SUCCESS)
            return id;
    }
    return nullptr;
}

// --- Memory ---------------------------------------------------------------------------------------------------------

[[noreturn]] void out_of_memory(const char* call, u64 bytes) {
    throw Error(ErrorCode::out_of_memory, call,
                "not enough memory, got a request for " + std::to_string(bytes) + " bytes");
}

class DeviceMemory final : public backend::Memory {
  public:
    DeviceMemory(cl_context context, u64 bytes)
        : buffer_(clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, nullptr)) {
        if (!buffer_) out_of_memory("Device::allocate", bytes);
    }
    void* host_pointer() noexcept override { return nullptr; }
    cl_mem buffer() const { return buffer_.get(); }

  private:
    Handle<cl_mem> buffer_;
};

// Drivers of CPUs copy from any host memory at the same speed: nothing is page-locked.
class HostMemory final : public backend::Memory {
  public:
    explicit HostMemory(u64 bytes) {
        if (::posix_memalign(&base_, 64, bytes) != 0) out_of_memory("Device::allocate_host", bytes);
    }
    ~HostMemory() override { std::free(base_); }
    void* host_pointer() noexcept override { return base_; }

  private:
    void* base_ = nullptr;
};

cl_mem buffer_of(const backend::Memory& memory) {
    return static_cast<const DeviceMemory&>(memory).buffer();
}

// The address of an offset in host memory, null for device memory.
std::byte* host_address(const backend::Memory& memory, u64 offset) {
    auto* const base = static_cast<std::byte*>(const_cast<backend::Memory&>(memory).host_pointer());
    return base == nullptr ? nullptr : base + offset;
}

// --- Kernels --------------------------------------------------------------------------------------------------------

// Each launch has a cl_kernel of its own: arguments are its state.
class MinimalKernel final : public backend::Kernel {
  public:
    MinimalKernel(cl_device_id id, const DeviceTraits& traits, Handle<cl_program> program, std::string name)
        : program_(std::move(program)), name_(std::move(name)) {
        const Handle<cl_kernel> kernel = create();
        const auto sizes = value_of<std::array<std::size_t, 3>>(id, CL_DEVICE_MAX_WORK_ITEM_SIZES);
        cl_ulong static_local = 0;
        std::size_t size = 0;
        check(clGetKernelInfo(kernel.get(), CL_KERNEL_NUM_ARGS, sizeof parameters_, &parameters_, nullptr),
              "Device::compile", "clGetKernelInfo");
        const auto ask = [&](cl_kernel_work_group_info question, auto& value) {
            check(clGetKernelWorkGroupInfo(kernel.get(), id, question, sizeof value, &value, nullptr),
                  "Device::compile", "clGetKernelWorkGroupInfo");
        };
        ask(CL_KERNEL_WORK_GROUP_SIZE, size);
        ask(CL_KERNEL_LOCAL_MEM_SIZE, static_local);
        limits_ = {.size = size,
                   .sizes = {sizes[0], sizes[1], sizes[2]},
                   .local_memory = traits.local_memory,
                   .static_local = static_local};
    }

    // The kernel with the arguments of a launch. Throws invalid_argument if they do not fit.
    std::shared_ptr<_cl_kernel> with(const LaunchShape& shape,
                                     std::span<const KernelArgument> arguments) const {
        backend::check_group(name_, limits_, shape);
        // A buffer has its offset in elements as a second parameter. Local memory is the last one.
        u64 given = shape.local_bytes > 0 ? 1 : 0;
        for (const KernelArgument& argument : arguments)
            given += argument.buffer != nullptr ? 2 : 1;
        backend::check_argument_count(name_, given, parameters_, "parameters with offsets and local memory");
        std::shared_ptr<_cl_kernel> kernel = create();
        cl_uint place = 0;
        const auto set = [&](std::size_t size, const void* value) {
            if (clSetKernelArg(kernel.get(), place++, size, value) != CL_SUCCESS)
                backend::refuse_launch(name_, "wrong size of parameter " + std::to_string(place - 1) +
                                                  ", got " + std::to_string(size) + " bytes");
        };
        for (const KernelArgument& argument : arguments) {
            if (argument.buffer == nullptr) {
                set(argument.size, argument.value);
                continue;
            }
            const cl_mem buffer = buffer_of(backend::memory_of(*argument.buffer));
            const cl_ulong offset = argument.offset / argument.element_size;
            set(sizeof buffer, &buffer);
            set(sizeof offset, &offset);
        }
        if (shape.local_bytes > 0) set(shape.local_bytes, nullptr);
        return kernel;
    }

  private:
    Handle<cl_kernel> create() const {
        Handle<cl_kernel> kernel(clCreateKernel(program_.get(), name_.c_str(), nullptr));
        if (!kernel)
            throw Error(ErrorCode::compile_failed, "Device::compile",
                        "the source has no kernel with that name, got '" + name_ + "'");
        return kernel;
    }

    Handle<cl_program> program_;
    std::string name_;
    cl_uint parameters_ = 0;
    backend::GroupLimits limits_;
};

// --- Events ---------------------------------------------------------------------------------------------------------

using Clock = std::chrono::steady_clock;

class MinimalEvent final : public backend::Event {
  public:
    bool done() const override {
        return mark().wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    }
    void synchronize() const override { mark().wait(); }
    double milliseconds_since(const backend::Event& start) const override {
        const Clock::time_point begin = static_cast<const MinimalEvent&>(start).mark().get();
        return std::chrono::duration<double, std::milli>(mark().get() - begin).count();
    }

    // The time at which the queue reaches the mark.
    std::shared_future<Clock::time_point> mark() const {
        const std::lock_guard lock(mutex_);
        return mark_;
    }
    void move_to(std::shared_future<Clock::time_point> mark) {
        const std::lock_guard lock(mutex_);
        mark_ = std::move(mark);
    }

  private:
    mutable std::mutex mutex_;  // another thread may ask while core records
    std::shared_future<Clock::time_point> mark_;
};

// --- The queue ------------------------------------------------------------------------------------------------------

class MinimalQueue final : public backend::Queue {
  public:
    // `kernels`: of the device, held while a kernel runs. PoCL 3.1 ends the process if kernels of one source overlap.
    MinimalQueue(Handle<cl_command_queue> queue, std::mutex& kernels)
        : queue_(std::move(queue)), kernels_(kernels), worker_([this] { work(); }) {}
    ~MinimalQueue() override {
        {
            const std::lock_guard lock(mutex_);
            closing_ = true;
            changed_.notify_all();
        }
        worker_.join();
    }

    void write(backend::Memory& to, u64 offset, const void* from, u64 bytes) override {
        enqueue("Stream::write", [=, this, buffer = buffer_of(to)] {
            return clEnqueueWriteBuffer(queue_.get(), buffer, 0, offset, bytes, from, 0, nullptr, nullptr);
        });
    }
    void read(void* to, const backend::Memory& from, u64 offset, u64 bytes) override {
        enqueue("Stream::read", [=, this, buffer = buffer_of(from)] {
            return clEnqueueReadBuffer(queue_.get(), buffer, 0, offset, bytes, to, 0, nullptr, nullptr);
        });
    }
    // Each side may be memory of allocate_host().
    void copy(backend::Memory& to, u64 to_offset, const backend::Memory& from, u64 from_offset,
              u64 bytes) override {
        std::byte *const target = host_address(to, to_offset), *const source =
                                                                   host_address(from, from_offset);
        if (target != nullptr && source != nullptr) {
            enqueue([=] { std::memcpy(target, source, bytes); });
        } else if (target != nullptr) {
            read(target, from, from_offset, bytes);
        } else if (source != nullptr) {
            write(to, to_offset, source, bytes);
        } else {
            enqueue("Stream::copy", [=, this, in = buffer_of(from), out = buffer_of(to)] {
                return clEnqueueCopyBuffer(queue_.get(), in, out, from_offset, to_offset, bytes, 0, nullptr,
                                           nullptr);
            });
        }
    }
    void fill(backend::Memory& to, u64 offset, u64 bytes, const void* pattern, u32 pattern_size) override {
        std::array<std::byte, 8> value{};
        std::memcpy(value.data(), pattern, pattern_size);
        enqueue("Stream::fill", [=, this, buffer = buffer_of(to)] {
            return clEnqueueFillBuffer(queue_.get(), buffer, value.data(), pattern_size, offset, bytes, 0,
                                       nullptr, nullptr);
        });
    }
    void launch(const backend::Kernel& kernel, const LaunchShape& shape,
                std::span<const KernelArgument> arguments) override {
        const std::array<std::size_t, 3> local = {shape.group_size_x, shape.group_size_y, shape.group_size_z},
                                         global = {shape.groups_x * local[0], shape.groups_y * local[1],
                                                   shape.groups_z * local[2]};
        enqueue([=, this, ready = static_cast<const MinimalKernel&>(kernel).with(shape, arguments)] {
            const std::lock_guard lock(kernels_);
            finish("Stream::launch",
                   clEnqueueNDRangeKernel(queue_.get(), ready.get(), 3, nullptr, global.data(), local.data(),
                                          0, nullptr, nullptr));
        });
    }
    void record(backend::Event& event) override {
        const auto reached = std::make_shared<std::promise<Clock::time_point>>();
        std::shared_future<Clock::time_point> mark = reached->get_future().share();
        enqueue([reached] { reached->set_value(Clock::now()); });
        static_cast<MinimalEvent&>(event).move_to(std::move(mark));
    }
    void wait(const backend::Event& event) override {
        enqueue([mark = static_cast<const MinimalEvent&>(event).mark()] { mark.wait(); });
    }
    void callback(std::function<void()> f) override { enqueue(std::move(f)); }

    void synchronize() override {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return operations_.empty(); });
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }
    bool idle() override {
        const std::lock_guard lock(mutex_);
        return operations_.empty();
    }

  private:
    using Operation = std::function<void()>;

    void enqueue(Operation operation) {
        const std::lock_guard lock(mutex_);
        operations_.push_back(std::move(operation));
        changed_.notify_all();
    }

    // A command of OpenCL. f enqueues it and returns a status.
    template <class F>
    void enqueue(const char* call, F f) {
        enqueue([=, this] { finish(call, f()); });
    }
    void finish(const char* call, cl_int status) {
        check(status, call, "the OpenCL command");
        check(clFinish(queue_.get()), call, "clFinish");
    }

    // The first operation stays in the list while it runs.
    void work() {
        std::unique_lock lock(mutex_);
        while (true) {
            changed_.wait(lock, [&] { return closing_ || !operations_.empty(); });
            if (operations_.empty()) return;
            Operation& operation = operations_.front();
            lock.unlock();
            std::exception_ptr failure;
            try {
                operation();
            } catch (...) {
                failure = std::current_exception();
            }
            operation = nullptr;  // what it holds is destroyed without the lock
            lock.lock();
            operations_.pop_front();
            if (failure && !failure_) failure_ = failure;
            changed_.notify_all();
        }
    }

    Handle<cl_command_queue> queue_;
    std::mutex& kernels_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Operation> operations_;
    bool closing_ = false;
    std::exception_ptr failure_;  // the first one since the last synchronize()
    std::thread worker_;          // last, because it uses all of the above
};

// --- The device -----------------------------------------------------------------------------------------------------

DeviceInfo info_of(cl_device_id id) {
    return {.selector = "minimal:0",
            .backend = "minimal",
            .name = text_of(id, CL_DEVICE_NAME),
            .driver = text_of(id, CL_DEVICE_VERSION) + ", driver " + text_of(id, CL_DRIVER_VERSION),
            .rank = 3};
}

DeviceTraits traits_of(cl_device_id id) {
    DeviceTraits traits;
    traits.dialect = Dialect::opencl;
    traits.launch = LaunchModel::single_items;
    traits.constant_buffers = true;
    traits.units = value_of<cl_uint>(id, CL_DEVICE_MAX_COMPUTE_UNITS);
    traits.max_group_size = static_cast<u32>(value_of<std::size_t>(id, CL_DEVICE_MAX_WORK_GROUP_SIZE));
    traits.local_memory = value_of<cl_ulong>(id, CL_DEVICE_LOCAL_MEM_SIZE);
    traits.global_memory = value_of<cl_ulong>(id, CL_DEVICE_GLOBAL_MEM_SIZE);
    traits.max_allocation = value_of<cl_ulong>(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    traits.cache = value_of<cl_ulong>(id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
    traits.fp64 = value_of<cl_device_fp_config>(id, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
    const auto single = value_of<cl_device_fp_config>(id, CL_DEVICE_SINGLE_FP_CONFIG);
    traits.exact_divide_sqrt = (single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    traits.keeps_denormals = (single & CL_FP_DENORM) != 0;
    return traits;
}

class MinimalDevice final : public backend::Device {
  public:
    explicit MinimalDevice(cl_device_id id)
        : id_(id),
          info_(info_of(id)),
          traits_(traits_of(id)),
          context_(clCreateContext(nullptr, 1, &id, nullptr, nullptr, nullptr)) {
        if (!context_) throw Error(ErrorCode::unavailable, "open_device", "clCreateContext failed");
    }
    const DeviceInfo& info() const noexcept override { return info_; }
    const DeviceTraits& traits() const noexcept override { return traits_; }
    std::vector<DeviceProperty> properties() const override {
        return {{"name", text_of(id_, CL_DEVICE_NAME)},
                {"vendor", text_of(id_, CL_DEVICE_VENDOR)},
                {"version", text_of(id_, CL_DEVICE_VERSION)},
                {"language", text_of(id_, CL_DEVICE_OPENCL_C_VERSION)},
                {"driver", text_of(id_, CL_DRIVER_VERSION)},
                {"profile", text_of(id_, CL_DEVICE_PROFILE)},
                {"extensions", text_of(id_, CL_DEVICE_EXTENSIONS)},
                {"compute units", std::to_string(traits_.units)},
                {"memory (bytes)", std::to_string(traits_.global_memory)},
                {"local memory (bytes)", std::to_string(traits_.local_memory)}};
    }

    std::unique_ptr<backend::Memory> allocate(u64 bytes) override {
        return std::make_unique<DeviceMemory>(context_.get(), bytes);
    }
    std::unique_ptr<backend::Memory> allocate_host(u64 bytes) override {
        return std::make_unique<HostMemory>(bytes);
    }

    std::unique_ptr<backend::Kernel> compile(const KernelSpec& spec) override {
        // Macros say what the compiler and the device support. Operations keep their order: no fast-math options.
        std::string source = "#define CONCORD_CPU\n", options = "-cl-std=CL1.2 -w";
        if (traits_.fp64) source += "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#define CONCORD_FP64\n";
        if (traits_.exact_divide_sqrt) options += " -cl-fp32-correctly-rounded-divide-sqrt";
        source += assemble(spec, traits_.dialect);
        const char* text = source.c_str();
        Handle<cl_program> program(clCreateProgramWithSource(context_.get(), 1, &text, nullptr, nullptr));
        if (!program ||
            clBuildProgram(program.get(), 1, &id_, options.c_str(), nullptr, nullptr) != CL_SUCCESS) {
            std::size_t size = 0;
            clGetProgramBuildInfo(program.get(), id_, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
            std::string log(size, '\0');
            clGetProgramBuildInfo(program.get(), id_, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
            throw Error(ErrorCode::compile_failed, "Device::compile",
                        "kernel " + std::string(spec.entry) + " does not compile:\n" + log.c_str());
        }
        return std::make_unique<MinimalKernel>(id_, traits_, std::move(program), std::string(spec.entry));
    }

    std::unique_ptr<backend::Event> create_event() override { return std::make_unique<MinimalEvent>(); }
    std::unique_ptr<backend::Queue> create_queue(concord::Device& /*device*/,
                                                 Priority /*priority*/) override {
        cl_int status = CL_SUCCESS;
        Handle<cl_command_queue> queue(clCreateCommandQueue(context_.get(), id_, 0, &status));
        check(status, "Device::create_stream", "clCreateCommandQueue");
        return std::make_unique<MinimalQueue>(std::move(queue), kernels_);
    }

  private:
    cl_device_id id_;
    DeviceInfo info_;
    DeviceTraits traits_;
    Handle<cl_context> context_;
    std::mutex kernels_;
};

// --- The backend ----------------------------------------------------------------------------------------------------

class MinimalBackend final : public Backend {
  public:
    std::vector<DeviceInfo> devices() override {
        const cl_device_id id = first_cpu();
        if (id == nullptr)
            throw Error(ErrorCode::unavailable, "minimal",
                        "no OpenCL driver for CPUs; install one, such as PoCL");
        return {info_of(id)};
    }
    std::unique_ptr<backend::Device> open(u32 /*index*/) override {
        return std::make_unique<MinimalDevice>(first_cpu());
    }
};

}  // namespace
}  // namespace concord::minimal

CONCORD_BACKEND_MODULE(minimal, []() -> concord::Backend* { return new concord::minimal::MinimalBackend; })
