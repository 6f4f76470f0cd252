#pragma once
// The messages between the process that reports and a worker.

#include <concord/types.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace concord::lab {

// To a worker: run a piece, from this outcome on.
struct Assignment {
    u64 unit = 0;
    u64 first_work = 0, works = 0;
    u64 first_outcome = 0;
    u64 large_bytes = 0;  // work from this size on waits for its turn
    u8 sends_titles = 0;  // whether `begins` is asked for
};

// From a worker. Every message has a kind and a text.
enum class MessageKind : u8 {
    ready,      // the devices are open
    begins,     // the title of a case
    outcome,    // of a case, as bytes
    inputs,     // the outcome of verifying inputs, as bytes
    asks_turn,  // wants to run a large work; waits for an answer of one byte
    ends_turn   // has freed its memory
};

struct Message {
    MessageKind kind;
    std::string_view text;
};

// Sends all bytes. Returns false if the other end is closed.
bool send_all(int channel, std::string_view bytes);
// Receives as many bytes as `to` has. Returns false if the other end is closed.
bool receive_all(int channel, void* to, std::size_t bytes);

// A message as bytes.
std::string framed(MessageKind kind, std::string_view text = {});

// Splits received bytes into messages.
class MessageReader {
  public:
    void append(std::string_view bytes) { bytes_ += bytes; }
    // The next complete message. It is valid until the next call of a member.
    std::optional<Message> next();

  private:
    std::string bytes_;
    std::size_t at_ = 0;
};

}  // namespace concord::lab
