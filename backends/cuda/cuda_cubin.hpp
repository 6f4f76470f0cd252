#pragma once
// Reads machine code without a driver: its architecture, and the resources and parameters of its kernels. Devices that
// only compile have no driver. On other devices the driver reports these, except the number of parameters.

#include <concord/types.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace concord::cuda {

// A kernel as its cubin describes it. The container is ELF, but NVIDIA documents its attributes only through the output
// of its tools. Numbers that cannot be read are -1.
struct CubinKernel {
    i64 registers = -1;                               // per work-item
    i64 local_bytes = -1;                             // static group-local memory
    i64 frame_bytes = -1;                             // stack per work-item: arrays and spilled registers
    i64 launch_bounds = -1;                           // limit of work-items per group from __launch_bounds__
    bool waits = false;                               // has an instruction for griddepcontrol.wait
    std::optional<std::vector<u32>> parameter_sizes;  // in bytes; empty: unknown
};

// A view of a cubin in memory, which must outlive it.
class Cubin {
  public:
    // Empty if the bytes are not a complete cubin.
    static std::optional<Cubin> read(std::string_view image);

    // 90 for sm_90.
    u32 architecture() const { return architecture_; }
    // Empty if there is no such kernel.
    std::optional<CubinKernel> kernel(const std::string& entry) const;

  private:
    struct Section {
        std::string_view name;
        std::string_view bytes;  // empty for sections without bytes in the file
        u64 size = 0;
    };
    struct Attribute {
        u8 kind;
        std::string_view bytes;
    };

    const Section* section(const std::string& name) const;
    std::string_view symbol_name(u32 index) const;
    // The attributes of a .nv.info section that have bytes.
    static std::vector<Attribute> attributes(const Section* info);
    static std::optional<std::vector<u32>> parameters(const std::vector<Attribute>& list);
    // Whether machine code contains an unconditional griddepcontrol.wait.
    bool waits(std::string_view code) const;

    u32 architecture_ = 0;
    std::vector<Section> sections_;
};

}  // namespace concord::cuda
