// Group kernel, one body for all devices: the histogram of bytes. Each work-group counts its part of the input in local
// memory, and adds its counts to the result.
//
// Build, with Concord installed in DIR (in the build tree: example-group_kernel):
//     c++ -std=c++20 -O2 -ffp-contract=off group_kernel.cpp -IDIR/include -LDIR/lib -Wl,-rpath,DIR/lib -lconcord
// Run:
//     CONCORD_DEVICE=opencl:0 ./a.out
//     byte_counts on opencl:0 (pthread-skylake-avx512): all 256 counts of 1000003 bytes are correct

#include <concord/concord.hpp>
#include <iostream>

using namespace concord;

// clang-format off
CONCORD_GROUP_KERNEL(byte_counts, (256), (u32* counts, const u8* in, u64 n),
    CONCORD_LOCAL(u32, local_counts, [256]);
    CONCORD_ITEMS((t)) { local_counts[t] = 0; }
    // The part of this group.
    const u64 part = (n + group.count_x - 1) / group.count_x;
    const u64 begin = min(n, group.x * part), end = min(n, begin + part);
    CONCORD_STRIDED((i, begin, end)) { atomic_add(&local_counts[in[i]], 1u); }
    CONCORD_ITEMS((t)) { atomic_add(&counts[t], local_counts[t]); })
// clang-format on

int main() try {
    const auto device = open_device();  // $CONCORD_DEVICE, else the preferred device
    const auto stream = device->create_stream();

    std::vector<u8> bytes(1000003);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<u8>(i * i / 7);
    std::vector<u32> expected(256);
    for (const u8 byte : bytes)
        ++expected[byte];

    // Compiles the kernel for all backends and looks for races between the work-items of a group.
    check(byte_counts, 3, std::vector<u32>(256), bytes, bytes.size());

    const Array<u8> in(*stream, bytes);
    const Array<u32> counts(*stream, std::vector<u32>(256));
    byte_counts(*stream, 64, counts, in, bytes.size());  // 64 groups

    const std::vector<u32> result = counts.to_host(*stream);
    std::cout << "byte_counts on " << device->info().selector << " (" << device->info().name << "): ";
    for (std::size_t i = 0; i < result.size(); ++i) {
        if (result[i] == expected[i]) continue;
        std::cout << "byte " << i << ": expected " << expected[i] << ", got " << result[i] << '\n';
        return 1;
    }
    std::cout << "all 256 counts of " << bytes.size() << " bytes are correct\n";
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
