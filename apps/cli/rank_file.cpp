#include "rank_file.hpp"

#include "rank_job.hpp"

#include <concord/error.hpp>

namespace concord::app {

RankFile::RankFile(Communicator& ranks, const std::string& path, const std::string& header)
    : ranks_(ranks), begin_(header.size()) {
    std::filesystem::path working;
    RankJob::together(ranks, [&] {
        if (ranks.rank() != 0) return;
        check_writable(path);
        working = detail::link_target(path).parent_path() / detail::temporary_name();
    });
    const auto told = ranks.all_gather(std::as_bytes(std::span(working.native())));
    working = std::string(reinterpret_cast<const char*>(told[0].data()), told[0].size());
    // All ranks know the name before the file exists, so that the others remove it if rank 0 is killed.
    RankJob::together(ranks, [&] { part_ = std::make_unique<OutputPart>(working, path); });
    RankJob::together(ranks, [&] {
        if (ranks.rank() != 0) return;
        file_ = std::make_unique<OutputFile>(path, working.filename());
        if (file_->is_channel())
            throw Error(
                ErrorCode::unsupported, "--out",
                "'" + path + "' is a pipe or a device, and ranks write in any order; name a regular file");
        file_->write(std::as_bytes(std::span(header)));
    });
    RankJob::together(ranks, [&] { part_->open(); });
}

void RankFile::keep() {
    RankJob::together(ranks_, [&] { part_->close(); });
    RankJob::together(ranks_, [&] {
        if (file_) file_->keep();
    });
    OutputPart::keep(std::move(part_));
}

}  // namespace concord::app
