// The CUDA backend's entry point.

#include <concord/backend.hpp>

#include "cuda_device.hpp"
#include "cuda_offline.hpp"

namespace concord::cuda {
namespace {

class CudaBackend final : public Backend {
  public:
    std::vector<DeviceInfo> devices() override {
        const Driver& driver = Driver::get();
        Nvrtc::get();  // throws: without NVRTC no kernel runs
        int count = 0;
        driver.check(driver.device_get_count(&count), "devices", "cuDeviceGetCount");
        std::vector<DeviceInfo> list;
        list.reserve(static_cast<std::size_t>(count));
        for (int i = 0; i < count; ++i)
            list.push_back(device_info(driver, static_cast<u32>(i)));
        return list;
    }

    std::unique_ptr<backend::Device> open(u32 index) override {
        return std::make_unique<CudaDevice>(Driver::get(), index);
    }

    std::unique_ptr<backend::Device> open_target(std::string_view target) override {
        return OfflineDevice::open(target);
    }

    // Only primary contexts, which core knows as devices.
    AdoptedDevice adopt(const ForeignDevice& foreign, const std::string& /*selector*/,
                        std::span<backend::Device* const> /*open*/) override {
        constexpr const char* call = "adopt_device";
        const Driver& driver = Driver::get();
        auto* const context = static_cast<CUcontext>(foreign.context);
        CUdevice device = 0;
        CUresult result = driver.ctx_push_current(context);
        if (result == CUDA_SUCCESS) {
            result = driver.ctx_get_device(&device);
            CUcontext popped = nullptr;
            driver.ctx_pop_current(&popped);
        }
        if (result != CUDA_SUCCESS)
            throw Error(ErrorCode::invalid_argument, call, "not a live CUcontext", driver.describe(result));
        if (const Context primary(driver, device); primary.handle() != context)
            throw Error(
                ErrorCode::unsupported, call,
                "the CUcontext is not the primary context of its device, which Concord and the CUDA runtime "
                "use; make it with cuDevicePrimaryCtxRetain");
        int count = 0;
        driver.check(driver.device_get_count(&count), call, "cuDeviceGetCount");
        for (int i = 0; i < count; ++i) {
            CUdevice each = 0;
            driver.check(driver.device_get(&each, i), call, "cuDeviceGet");
            if (each == device) return {nullptr, "cuda:" + std::to_string(i)};
        }
        throw Error(ErrorCode::unavailable, call, "the device of the CUcontext is not visible");
    }

    // Independent of each other: NVRTC works without a driver.
    std::vector<DeviceProperty> libraries() override {
        return {found("CUDA driver",
                      [] {
                          const Driver& driver = Driver::library();
                          const std::string release = driver.release();
                          return driver.path() + ", CUDA " + version_text(driver.version()) +
                                 (release.empty() ? "" : " (" + release + ")");
                      }),
                found("NVRTC", [] {
                    const Nvrtc& nvrtc = Nvrtc::get();
                    return nvrtc.path() + ", " + nvrtc.title() + ", compiles for " +
                           nvrtc.architecture_list();
                })};
    }

  private:
    template <class F>
    static DeviceProperty found(const char* name, F describe) {
        try {
            return {name, describe()};
        } catch (const Error& error) {
            return {name, error.what()};
        }
    }
};

Backend* create() {
    return new CudaBackend;
}

}  // namespace
}  // namespace concord::cuda

CONCORD_BACKEND_MODULE(cuda, &concord::cuda::create)
