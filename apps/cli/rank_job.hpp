#pragma once
/// The program as one of the ranks of a job that mpirun has started.

#include <concord/communicator.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace concord::app {

/// All of it belongs to the process, like main(). MPI is initialised when it is first needed.
class RankJob {
  public:
    /// Whether there are other ranks.
    static bool has_ranks();
    /// Throws unavailable, saying why, if the way to them cannot be had.
    static Communicator& ranks();
    /// Whether this process is the one that prints: rank 0, or the only one.
    static bool speaks();
    /// Says what was wrong and returns the status, to end with: once, where all ranks end for a reason of theirs. A rank that is
    /// alone with its reason names itself; MPI ends the others when it has ended, and the job has its status.
    static int complain(std::string_view line, int status);
    /// Collective: calls f, which calls nothing collective; where it throws an Error on some rank, all throw it.
    template <class F>
    static void together(F&& f) {
        together(ranks(), std::forward<F>(f));
    }
    /// The same among others, threads of this process perhaps.
    template <class F>
    static void together(Communicator& among, F&& f) {
        agree(among, failure_of(std::forward<F>(f)));
    }
    /// Which one of the ranks on this machine this is, and how many there are. Collective, the first time.
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
