// Host memory of the CPU device: allocation, copies and fills.

#include "tbb_device.hpp"

#include <concord/detail/host_vector.hpp>
#include <concord/internal/host_copy.hpp>

#include <cstring>

namespace concord::tbb_backend {
namespace {

constexpr u64 piece = u64{256} << 10;  // bytes that one task copies or fills

}  // namespace

HostMemory::HostMemory(const backend::Device& device, u64 bytes) : block_(bytes) {
    if (block_.base() == nullptr)
        throw Error(ErrorCode::out_of_memory, "Device::allocate",
                    "not enough host memory, got a request for " + std::to_string(bytes) +
                        " bytes; the machine has " + std::to_string(device.traits().global_memory) +
                        " bytes");
}

void copy_bytes(TbbDevice& device, void* to, const void* from, u64 bytes) {
    auto* target = static_cast<std::byte*>(to);
    const auto* source = static_cast<const std::byte*>(from);
    if (bytes <= piece) {
        std::memcpy(target, source, bytes);
        return;
    }
    const bool non_temporal = 2 * bytes > device.traits().cache;
    device.parallel((bytes + piece - 1) / piece, 1, [=](u64 first, u64 last) {
        const u64 begin = first * piece, end = std::min(bytes, last * piece);
        if (non_temporal) {
            detail::copy_non_temporal(target + begin, source + begin, end - begin);
        } else {
            std::memcpy(target + begin, source + begin, end - begin);
        }
    });
}

void fill_bytes(TbbDevice& device, void* to, const void* pattern, u32 pattern_size, u64 bytes) {
    auto* target = static_cast<std::byte*>(to);
    device.parallel((bytes + piece - 1) / piece, 1, [=](u64 first, u64 last) {
        const u64 begin = first * piece, end = std::min(bytes, last * piece);
        // Copies that double in size. Pieces are whole patterns, so that each begins with one.
        std::memcpy(target + begin, pattern, pattern_size);
        for (u64 done = pattern_size; done < end - begin; done *= 2)
            std::memcpy(target + begin + done, target + begin, std::min(done, end - begin - done));
    });
}

}  // namespace concord::tbb_backend
