#pragma once
// Which copy of a kernel a launch takes.

#include "opencl_api.hpp"

#include <array>
#include <memory>
#include <mutex>
#include <vector>

namespace concord::opencl {

struct Grid {
    cl_uint dimensions;
    std::array<std::size_t, 3> global, local;
    bool operator==(const Grid&) const = default;
};

/// PoCL 3.1 and 5.0 keep loaded kernels in a list, and look a run's entry up again when it ends: by text and group size. If
/// a launch of a wider grid has added a second entry meanwhile, PoCL takes that for the run's own, and aborts ("ref_count >
/// 0"). On PoCL, therefore, runs of one compiled text on several queues overlap only if they have the same grid: else the
/// launch takes a copy, compiled then, with an option that makes it another text to PoCL. (To wait for the other queues' runs is
/// no way out: they may themselves wait, through the host, for this one.)
class Copies {
  public:
    /// Of the kernels of an equal text in this process, or of one kernel alone.
    static std::shared_ptr<Copies> of_text(const std::string& text);
    static std::shared_ptr<Copies> of_one_kernel() { return std::make_shared<Copies>(false); }
    /// Forgets the texts whose kernels are gone and whose runs have ended.
    static void sweep();

    explicit Copies(bool tracked) : tracked_(tracked) {}
    /// Held from number_for() until the launch is enqueued and, if the copies are tracked, given to launched().
    std::mutex& mutex() noexcept { return mutex_; }
    bool tracked() const noexcept { return tracked_; }
    /// The number of the copy that the queue may launch now; 0 is the kernel as it was compiled first.
    std::size_t number_for(cl_command_queue queue, const Grid& grid) const;
    void launched(std::size_t number, cl_command_queue queue, const Grid& grid, EventHandle run);

  private:
    /// The runs of one copy on one queue.
    struct Runs {
        cl_command_queue queue;
        Grid grid;
        EventHandle last;
        bool of_many_grids;
        bool ended() const;
    };
    using Copy = std::vector<Runs>;

    const bool tracked_;
    std::mutex mutex_;
    std::vector<Copy> copies_;  // by number
};

}  // namespace concord::opencl
