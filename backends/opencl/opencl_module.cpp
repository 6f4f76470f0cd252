// The backend's entry point. Finds platforms and devices.

#include "opencl_device.hpp"
#include "opencl_pocl.hpp"

#include <concord/backend.hpp>
#include <concord/internal/environment.hpp>
#include <concord/log.hpp>

#include <mutex>

namespace concord::opencl {
namespace {

// The folder where the ICD loader searches for drivers, for messages.
std::string vendor_folder() {
    const std::string set(detail::environment_variable("OCL_ICD_VENDORS"));
    return set.empty() ? "/etc/OpenCL/vendors" : "OCL_ICD_VENDORS=" + set;
}

// What was found instead of a device.
struct PassedOver {
    std::string text;
    bool for_memory = false;
    std::string remedy = "install an OpenCL driver";
};

[[noreturn]] void unavailable(const std::string& message, const PassedOver& passed_over = {}) {
    throw Error(passed_over.for_memory ? ErrorCode::out_of_memory : ErrorCode::unavailable, "opencl",
                message + passed_over.text + " (loader " + loader_path() + ", drivers from " +
                    vendor_folder() + "); " + passed_over.remedy);
}

std::vector<cl_platform_id> all_platforms() {
    cl_uint count = 0;
    const cl_int status = cl().clGetPlatformIDs(0, nullptr, &count);
    if (status == CL_PLATFORM_NOT_FOUND_KHR || count == 0) return {};
    check(status, "opencl", "clGetPlatformIDs");
    std::vector<cl_platform_id> platforms(count);
    check(cl().clGetPlatformIDs(count, platforms.data(), nullptr), "opencl", "clGetPlatformIDs");
    return platforms;
}

// The devices of a platform. If there are none or the query fails, adds the reason to `passed_over`.
std::vector<cl_device_id> all_devices(cl_platform_id platform, PassedOver& passed_over) {
    const bool pocl = is_pocl(platform);
    if (pocl) check_pocl_memory("opencl");
    cl_uint count = 0;
    cl_int status = cl().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
    std::vector<cl_device_id> devices(status == CL_SUCCESS ? count : 0);
    if (!devices.empty())
        status = cl().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr);
    if (status == CL_SUCCESS && !devices.empty()) return devices;
    const bool is_empty = status == CL_SUCCESS || status == CL_DEVICE_NOT_FOUND;
    const std::string what = "platform " + ask_text(platform, CL_PLATFORM_NAME) + ": " +
                             (is_empty ? "no devices" : status_text(status));
    // The numbers of the devices depend on it. Platforms without devices are normal.
    (is_empty ? detail::log_info : detail::log_warn)("OpenCL " + what);
    passed_over.text += "; " + what;
    if (status == CL_OUT_OF_HOST_MEMORY) {
        passed_over.for_memory = true;
        passed_over.remedy = "free memory, or raise the limit of the process (ulimit -v), and restart it";
        // PoCL keeps what it has started, and ends the process when it is used.
        if (pocl) note_lost_for_memory("clGetDeviceIDs");
    } else if (const std::string problem = pocl ? pocl_cache_problem() : std::string(); !problem.empty()) {
        passed_over.remedy = problem;
    }
    return {};
}

std::vector<cl_device_id> usable_devices() {
    const std::vector<cl_platform_id> platforms = all_platforms();
    if (platforms.empty())
        // The loader does not say why it passes over a driver.
        unavailable("no OpenCL platform found",
                    {.text = {},
                     .for_memory = false,
                     .remedy = memory_is_limited() ? "install an OpenCL driver, or raise the limit of the "
                                                     "process's memory (ulimit -v), and restart it"
                                                   : "install an OpenCL driver"});
    std::vector<cl_device_id> usable;
    PassedOver passed_over;
    for (const cl_platform_id platform : platforms) {
        for (const cl_device_id device : all_devices(platform, passed_over)) {
            const std::string why = why_unusable(device);
            if (why.empty()) {
                usable.push_back(device);
                continue;
            }
            const std::string name = ask_text(device, CL_DEVICE_NAME);
            detail::log_info(
                std::string("OpenCL device '").append(name).append("' is not used: ").append(why));
            passed_over.text.append("; device ").append(name).append(": ").append(why);
        }
    }
    if (usable.empty()) unavailable("no usable OpenCL device", passed_over);
    return usable;
}

class OpenClBackend final : public Backend {
  public:
    std::vector<DeviceInfo> devices() override {
        std::vector<DeviceInfo> infos;
        for (const cl_device_id device : found())
            infos.push_back(info_of(device, static_cast<u32>(infos.size())));
        return infos;
    }

    std::unique_ptr<backend::Device> open(u32 index) override {
        const std::vector<cl_device_id> devices = found();
        if (index >= devices.size())
            throw Error(ErrorCode::unavailable, "open_device",
                        "no such device, got 'opencl:" + std::to_string(index) + "'; OpenCL has " +
                            std::to_string(devices.size()) + " device(s), numbered from 0");
        return std::make_unique<OpenClDevice>(devices[index], info_of(devices[index], index));
    }

    AdoptedDevice adopt(const ForeignDevice& device, const std::string& selector,
                        std::span<backend::Device* const> open) override {
        return adopt_context(device, selector, open);
    }

    std::vector<DeviceProperty> libraries() override try {
        const std::string version = loader_version();
        std::vector<DeviceProperty> list = {
            {"OpenCL ICD loader", loader_path() + (version.empty() ? "" : " (" + version + ")")},
            {"OpenCL drivers from", vendor_folder()}};
        for (const cl_platform_id platform : all_platforms()) {
            PassedOver passed_over;
            const std::size_t count = all_devices(platform, passed_over).size();
            list.push_back({"OpenCL platform", ask_text(platform, CL_PLATFORM_NAME) + ", " +
                                                   ask_text(platform, CL_PLATFORM_VERSION) + ", " +
                                                   std::to_string(count) + " device(s)" + passed_over.text});
        }
        return list;
    } catch (const Error& error) {
        return {{"OpenCL ICD loader", error.what()}};
    }

  private:
    // Searches once, so that indices stay valid.
    std::vector<cl_device_id> found() {
        const std::lock_guard lock(mutex_);
        if (devices_.empty()) devices_ = usable_devices();
        return devices_;
    }

    std::mutex mutex_;
    std::vector<cl_device_id> devices_;
};

}  // namespace
}  // namespace concord::opencl

CONCORD_BACKEND_MODULE(opencl, []() -> concord::Backend* { return new concord::opencl::OpenClBackend; })
