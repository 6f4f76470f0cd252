#include "check_channel.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace concord::lab {
namespace {

struct FrameHeader {
    u32 text_bytes;
    MessageKind kind;
};

}  // namespace

bool send_all(int channel, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t n = ::send(channel, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

bool receive_all(int channel, void* to, std::size_t bytes) {
    auto* at = static_cast<char*>(to);
    while (bytes > 0) {
        const ssize_t n = ::recv(channel, at, bytes, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        bytes -= static_cast<std::size_t>(n);
    }
    return true;
}

std::string framed(MessageKind kind, std::string_view text) {
    FrameHeader header{};
    header.text_bytes = static_cast<u32>(text.size());
    header.kind = kind;
    std::string frame(reinterpret_cast<const char*>(&header), sizeof header);
    return frame.append(text);
}

std::optional<Message> MessageReader::next() {
    FrameHeader header{};
    const std::string_view rest = std::string_view(bytes_).substr(at_);
    if (rest.size() >= sizeof header) std::memcpy(&header, rest.data(), sizeof header);
    if (rest.size() < sizeof header || rest.size() < sizeof header + header.text_bytes) {
        bytes_.erase(0, at_);
        at_ = 0;
        return std::nullopt;
    }
    at_ += sizeof header + header.text_bytes;
    return Message{header.kind, rest.substr(sizeof header, header.text_bytes)};
}

}  // namespace concord::lab
