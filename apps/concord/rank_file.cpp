#include "rank_file.hpp"

#include <concord/error.hpp>

namespace concord::app {
namespace {

// What rank 0 tells the others: the file's name, or behind a 0 why there is none.
std::string told_by_first(Communicator& ranks, const std::string& mine) {
    const auto all = ranks.all_gather(std::as_bytes(std::span(mine)));
    return {reinterpret_cast<const char*>(all[0].data()), all[0].size()};
}

}  // namespace

RankFile::RankFile(Communicator& ranks, const std::string& path, const std::string& header)
    : ranks_(ranks), begin_(header.size()) {
    std::string name;
    std::exception_ptr failure;
    if (ranks.rank() == 0) {
        try {
            file_ = std::make_unique<OutputFile>(path);
            if (file_->is_channel())
                throw Error(
                    ErrorCode::unsupported, "--out",
                    "'" + path + "' is written to as it comes, and ranks write side by side: name a file");
            file_->write(std::as_bytes(std::span(header)));
            name = file_->working_name();
        } catch (const Error& error) {
            failure = std::current_exception();
            name = std::string(1, '\0') + static_cast<char>(error.code()) + error.what();
        }
    }
    name = told_by_first(ranks, name);
    if (failure) std::rethrow_exception(failure);
    if (name.size() > 1 && name[0] == '\0')
        throw Error(static_cast<ErrorCode>(name[1]), "rank 0", name.substr(2));
    part_ = std::make_unique<OutputPart>(name, path);
}

void RankFile::keep() {
    part_->close();
    ranks_.barrier();
    if (file_) file_->keep();
    ranks_.barrier();
}

}  // namespace concord::app
