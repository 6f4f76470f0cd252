#pragma once
/// An output file that ranks write side by side.

#include "files.hpp"

#include <concord/communicator.hpp>

#include <memory>

namespace concord::app {

/// A file as in files.hpp, of which each rank writes its own pieces: rank 0 makes it, and puts it in its place when all are
/// done. Ranks of other processes open it by its name, so they have to see one file system.
class RankFile {
  public:
    /// Collective. A file of `bytes` bytes that are zeros so far. Throws io, and unsupported for pipes and devices, which
    /// take bytes in one order only.
    RankFile(Communicator& ranks, const std::filesystem::path& path, u64 bytes);
    /// Removes what was written, unless it was kept.
    ~RankFile();
    RankFile(const RankFile&) = delete;
    RankFile& operator=(const RankFile&) = delete;

    /// Throws io. Any bytes of the file, by one rank.
    void write(u64 first, std::span<const std::byte> bytes);
    /// Collective: the file is complete.
    void keep();

  private:
    Communicator& ranks_;
    std::filesystem::path path_;
    std::unique_ptr<OutputFile> file_;  // of rank 0
    int own_ = -1;                      // of the others
};

}  // namespace concord::app
