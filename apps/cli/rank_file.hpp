#pragma once
/// An output file that the ranks of a communicator write side by side.

#include "files.hpp"

#include <concord/communicator.hpp>

#include <memory>
#include <string>

namespace concord::app {

/// A file as in files.hpp, of which each rank writes its own pieces: rank 0 makes it, and puts it in its place when all are
/// done. Ranks of other processes open it by its name, so they have to see one file system.
class RankFile {
  public:
    /// Collective; `header` is where the file begins. Throws io, and unsupported for pipes and devices, which take bytes in
    /// one order only: on all ranks.
    RankFile(Communicator& ranks, const std::string& path, const std::string& header);

    /// Any bytes behind the header, by one rank. Throws io.
    void write(u64 first, std::span<const std::byte> bytes) { part_->write(begin_ + first, bytes); }
    /// Collective: the file is complete. Throws io, on all ranks.
    void keep();

  private:
    Communicator& ranks_;
    u64 begin_;
    std::unique_ptr<OutputFile> file_;  // of rank 0
    std::unique_ptr<OutputPart> part_;
};

}  // namespace concord::app
