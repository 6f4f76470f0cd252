#pragma once
// The carry of each part of an input that arrives in parts, on the host.

#include <concord/scan.hpp>

#include <cstddef>
#include <vector>

namespace concord::detail {
namespace host {

// Up to sixteen elements of any type.
struct Elements {
    alignas(64) std::byte bytes[scan_fan * 8];
};

}  // namespace host

class ScanCarry {
  public:
    // The problem's operator, its values and the identity. The problem may end before this object.
    explicit ScanCarry(const ScanProblem& problem);

    // Writes the carry of the next node: one element.
    void carry(void* carry) const;
    // Adds the totals of the next `count` nodes, which are 16^level times as large as the smallest ones.
    void push(const void* totals, u64 count, u32 level);

  private:
    struct Level {
        host::Elements totals;
        u64 count = 0;
    };
    // The carries of the level's nodes from their parent's carry, and the total of the parent.
    void scan(const Level& level, const void* carry, void* before, void* total) const;

    const host::ScanPhases& phases_;
    std::vector<std::byte> values_;
    host::Elements identity_;
    std::vector<Level> levels_;  // the lowest first
};

}  // namespace concord::detail
