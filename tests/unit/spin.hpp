#pragma once
#include <concord/concord.hpp>

namespace concord::test {

// Slow arithmetic in one group, which leaves room on the device for other groups.
inline const KernelSource spin_source{"spin",
                                      {{"spin.cu",
                                        "extern \"C\" __global__ void spin(u32* out, u32 steps) {\n"
                                        "    u32 x = 1;\n"
                                        "    for (u32 i = 0; i < steps; ++i) x = x * 1664525u + (x >> 7);\n"
                                        "    *out = x;\n"
                                        "}\n"}},
                                      {{"spin.cl",
                                        "__kernel void spin(__global u32* out, ulong out_at, u32 steps) {\n"
                                        "    u32 x = 1;\n"
                                        "    for (u32 i = 0; i < steps; ++i) x = x * 1664525u + (x >> 7);\n"
                                        "    out[out_at] = x;\n"
                                        "}\n"}}};

inline void spin_group(const Group& /*group*/, u32* out, u32 steps) {
    u32 x = 1;
    for (u32 i = 0; i < steps; ++i)
        x = x * 1664525U + (x >> 7);
    *out = x;
}

inline std::shared_ptr<Kernel> spin_kernel(Device& device) {
    KernelSpec spec;
    spec.source = &spin_source;
    spec.entry = "spin";
    spec.host = plain_host_kernel<&spin_group>();
    return device.compile(spec);
}

}  // namespace concord::test
