#pragma once
// Copies of kernels for PoCL: selects the copy that a launch uses.

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

// A workaround for PoCL 3.1 and 5.0. They keep loaded kernels in a list, and search the entry of a run again when the
// run ends, by source and group size. If a launch of a wider grid has added a second entry in the meantime, PoCL finds
// that one and aborts ("ref_count > 0"). Therefore runs of one source on several queues may overlap only if they have
// the same grid. Otherwise the launch uses a copy, which is compiled with another option and is a different source to
// PoCL. Waiting for the runs of the other queues could deadlock, because they may wait for this launch through the
// host.
class Copies {
  public:
    enum class Tracking { off, on };
    // The copies that kernels of equal source share in this process.
    static std::shared_ptr<Copies> of_text(const std::string& text);
    // A single kernel without copies.
    static std::shared_ptr<Copies> of_one_kernel() { return std::make_shared<Copies>(Tracking::off); }
    // Removes sources without kernels whose runs have ended.
    static void sweep();

    explicit Copies(Tracking tracking) : tracked_(tracking == Tracking::on) {}
    // Held from number_for() until the launch is enqueued, and until launched() if the copies are tracked.
    std::mutex& mutex() noexcept { return mutex_; }
    bool tracked() const noexcept { return tracked_; }
    // The number of the copy that the queue may launch now. 0 is the original kernel. Makes room for the run, so that
    // launched() cannot fail after the launch is enqueued.
    std::size_t number_for(cl_command_queue queue, const Grid& grid);
    void launched(std::size_t number, cl_command_queue queue, const Grid& grid, EventHandle run) noexcept;

  private:
    // The runs of one copy on one queue.
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
