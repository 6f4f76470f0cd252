#pragma once
// What machine code says without a driver: its architecture, and what its kernels need. Devices that only compile have no
// driver to ask. For other devices the driver answers, except for the sizes of parameters before CUDA 12.4, which has
// the first query for them.

#include <concord/types.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace concord::cuda {

/// A kernel as its cubin describes it. Fields that cannot be read are -1, and parameters then unknown: the
/// container is plain ELF, but NVIDIA documents the attributes in it only by its tools' output.
struct CubinKernel {
    i64 registers = -1;      ///< a work-item
    i64 local_bytes = -1;    ///< static group-local memory
    i64 frame_bytes = -1;    ///< stack per work-item: arrays and spilled registers
    i64 launch_bounds = -1;  ///< most work-items of a group, where the text says so
    std::optional<std::vector<u32>> parameter_sizes;
};

/// A cubin in memory, which must outlive this.
class Cubin {
  public:
    /// Nothing if the bytes are no cubin or are cut short.
    static std::optional<Cubin> read(std::string_view image);

    /// 90 for sm_90.
    u32 architecture() const { return architecture_; }
    /// Nothing if there is no such kernel.
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
    /// The attributes of a .nv.info section that carry bytes.
    static std::vector<Attribute> attributes(const Section* info);
    static std::optional<std::vector<u32>> parameters(const std::vector<Attribute>& list);

    u32 architecture_ = 0;
    std::vector<Section> sections_;
};

}  // namespace concord::cuda
