#include "rank_file.hpp"

#include "rank_job.hpp"

#include <concord/error.hpp>

namespace concord::app {

RankFile::RankFile(Communicator& ranks, const std::string& path, const std::string& header)
    : ranks_(ranks), begin_(header.size()) {
    std::string name;
    RankJob::together(ranks, [&] {
        if (ranks.rank() != 0) return;
        file_ = std::make_unique<OutputFile>(path, OutputFile::Writers::several);
        if (file_->is_channel())
            throw Error(
                ErrorCode::unsupported, "--out",
                "'" + path + "' is a pipe or a device, and ranks write in any order; name a regular file");
        file_->write(std::as_bytes(std::span(header)));
        name = file_->working_path().string();
    });
    const auto told = ranks.all_gather(std::as_bytes(std::span(name)));
    name.assign(reinterpret_cast<const char*>(told[0].data()), told[0].size());
    RankJob::together(ranks, [&] { part_ = std::make_unique<OutputPart>(name, path); });
}

void RankFile::keep() {
    RankJob::together(ranks_, [&] { part_->close(); });
    RankJob::together(ranks_, [&] {
        if (file_) file_->keep();
    });
}

}  // namespace concord::app
