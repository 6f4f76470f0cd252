#pragma once
// An output file that the ranks of a communicator write together.

#include "files.hpp"

#include <concord/communicator.hpp>

#include <memory>
#include <string>

namespace concord::app {

// An output file as in files.hpp. Rank 0 creates it, each rank writes its pieces, and rank 0 renames it at the end. All
// ranks must see the same file system.
class RankFile {
  public:
    // Collective. The file begins with `header`. Throws io, and unsupported for pipes and devices, which cannot be
    // written in any order. All ranks throw.
    RankFile(Communicator& ranks, const std::string& path, const std::string& header);

    // Writes bytes after the header. Throws io.
    void write(u64 first, std::span<const std::byte> bytes) { part_->write(begin_ + first, bytes); }
    // Collective. Ends writing. The file appears when rank 0 calls publish_outputs(). Throws io on all ranks.
    void keep();

  private:
    Communicator& ranks_;
    u64 begin_;
    std::unique_ptr<OutputFile> file_;  // of rank 0
    std::unique_ptr<OutputPart> part_;
};

}  // namespace concord::app
