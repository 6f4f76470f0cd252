#pragma once
/// The program as one of the ranks of a job that mpirun has started.

#include <concord/communicator.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace concord::app {

/// All of it belongs to the process, like main(). MPI is initialised when it is first needed.
class Job {
  public:
    /// Whether there are other ranks.
    static bool has_ranks();
    /// Throws unavailable, saying why, if the way to them cannot be had.
    static Communicator& ranks();
    /// Whether this process is the one that prints: rank 0, or the only one.
    static bool speaks();
    /// Says what was wrong and returns the status: once, where all ranks end for a reason of theirs, else aborts the job with it.
    static int complain(std::string_view line, int status);
    /// Collective: calls f, which calls nothing collective; where it throws an Error on some rank, all throw it.
    template <class F>
    static void together(F&& f) {
        agree(failure_of(std::forward<F>(f)));
    }
    /// Which one of the ranks on this machine this is, and how many there are. Collective, the first time.
    struct Place {
        u32 rank, ranks;
    };
    static Place on_this_machine();

  private:
    static std::vector<std::byte> described(const std::exception& error);
    static void agree(const std::vector<std::byte>& failure);
    template <class F>
    static std::vector<std::byte> failure_of(F&& f) {
        try {
            f();
            return {};
        } catch (const std::exception& error) {
            return described(error);
        }
    }
};

}  // namespace concord::app
