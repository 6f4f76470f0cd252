#include "rank_file.hpp"

#include <concord/error.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace concord::app {
namespace {

std::string text_of(const std::vector<std::byte>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

RankFile::RankFile(Communicator& ranks, const std::filesystem::path& path, u64 bytes)
    : ranks_(ranks), path_(path) {
    std::string name;
    if (ranks.rank() == 0) {
        file_ = std::make_unique<OutputFile>(path);
        if (file_->is_channel())
            throw Error(ErrorCode::unsupported, "--out",
                        "'" + path.string() +
                            "' is written to as it comes, and ranks write side by side: name a file");
        file_->set_size(bytes);
        name = file_->name();
    }
    name = text_of(ranks.all_gather(std::as_bytes(std::span(name)))[0]);
    if (file_) return;
    own_ = ::open(name.c_str(), O_WRONLY | O_CLOEXEC);
    if (own_ < 0)
        throw Error(ErrorCode::io, path.string(),
                    "rank " + std::to_string(ranks.rank()) + " cannot open " + name + ": " +
                        std::strerror(errno) + "; ranks have to see one file system");
}

RankFile::~RankFile() {
    if (own_ >= 0) ::close(own_);
}

void RankFile::write(u64 first, std::span<const std::byte> bytes) {
    if (file_) return file_->write_at(first, bytes);
    write_all_at(own_, first, bytes, path_);
}

void RankFile::keep() {
    if (own_ >= 0) {
        const int closed = ::close(own_);
        own_ = -1;
        if (closed != 0)
            throw Error(ErrorCode::io, path_.string(),
                        "cannot be written: " + std::string(std::strerror(errno)));
    }
    ranks_.barrier();
    if (file_) file_->keep();
    ranks_.barrier();
}

}  // namespace concord::app
