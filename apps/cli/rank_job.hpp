#pragma once
// The program as a rank of a job that mpirun has started.

#include <concord/communicator.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace concord::app {

// Process-wide functions. MPI is initialized on first use.
class RankJob {
  public:
    // Whether there are other ranks.
    static bool has_ranks();
    // The communicator of all ranks. Throws unavailable with the reason.
    static Communicator& ranks();
    // Whether this process prints: rank 0, or the only process.
    static bool speaks();
    // Prints "concord: LINE" on standard error and returns the status. Allocates no memory.
    static int print(std::string_view line, int status) noexcept;
    // Prints the error once per job and returns the status. Allocates no memory without ranks. If all ranks fail, one
    // of them prints. If a single rank fails, it names itself. Then MPI ends the others, and the job ends with this
    // status.
    static int complain(std::string_view line, int status) noexcept;
    // Collective. Calls f, which must not call anything collective. If f throws on a rank, all ranks throw its error.
    template <class F>
    static void together(F&& f) {
        together(ranks(), std::forward<F>(f));
    }
    // The same for another communicator, whose ranks may be threads of this process.
    template <class F>
    static void together(Communicator& among, F&& f) {
        agree(among, failure_of(std::forward<F>(f)));
    }
    // This rank's number among the ranks on this machine, and their number. Collective on first use.
    struct Place {
        u32 rank, ranks;
    };
    static Place on_this_machine();

  private:
    static std::vector<std::byte> described(const std::exception& error);
    static void agree(Communicator& among, const std::vector<std::byte>& failure);
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
