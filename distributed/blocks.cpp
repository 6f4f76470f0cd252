#include "blocks.hpp"

#include <concord/distributed.hpp>

#include <algorithm>
#include <cstring>

namespace concord::detail {

Blocks::Blocks(const std::vector<u64>& counts, u32 rank, u64 length) {
    std::vector<u64> starts;  // one more entry than ranks
    for (const u64 count : counts) {
        starts.push_back(all);
        all += count;
    }
    starts.push_back(all);
    first = starts[rank];
    const u64 count = counts[rank], end = first + count;
    if (first % length != 0) lead = std::min(count, length - first % length);
    if (lead > 0) {
        // The owner's non-empty part contains the beginning of the block; empty parts may begin there as well.
        const u64 block = first / length * length;
        while (!(starts[lead_owner] <= block && block < starts[lead_owner + 1]))
            ++lead_owner;
    }
    body = (count - lead) / length * length;
    rest = count - lead - body;
    if (rest == 0) return;
    const u64 block = end - rest;
    tail = std::min(length, all - block);
    for (u32 other = rank + 1; other < counts.size() && starts[other] < block + tail; ++other) {
        const u64 last = std::min(starts[other + 1], block + tail);
        if (last > starts[other]) fragments.push_back({other, starts[other] - block, last - starts[other]});
    }
}

View collect_tail(Communicator& ranks, Stream& stream, const Blocks& blocks, const View& in,
                  std::shared_ptr<Buffer>& memory) {
    std::vector<Message> sends, receives;
    if (blocks.lead > 0) sends.push_back({blocks.lead_owner, in.part(0, blocks.lead)});
    View tail = in.part(blocks.lead + blocks.body, blocks.rest);
    if (!blocks.fragments.empty()) {
        const u32 size = size_of(in.type);
        memory = stream.scratch(blocks.tail * size);
        stream.copy(*memory, 0, *tail.buffer, tail.offset, tail.bytes());
        tail = {memory.get(), 0, blocks.tail, in.type};
        for (const Blocks::Fragment& fragment : blocks.fragments)
            receives.push_back({fragment.rank, tail.part(fragment.at, fragment.count)});
    }
    ranks.exchange(stream, sends, receives);
    return tail;
}

void return_tail(Communicator& ranks, Stream& stream, const Blocks& blocks, const View& result,
                 const View& out) {
    std::vector<Message> sends, receives;
    if (blocks.lead > 0) receives.push_back({blocks.lead_owner, out.part(0, blocks.lead)});
    for (const Blocks::Fragment& fragment : blocks.fragments)
        sends.push_back({fragment.rank, result.part(fragment.at, fragment.count)});
    if (!sends.empty()) {
        const View own = out.part(out.count - blocks.rest, blocks.rest);
        stream.copy(*own.buffer, own.offset, *result.buffer, result.offset, own.bytes());
    }
    ranks.exchange(stream, sends, receives);
}

std::vector<std::vector<std::byte>> gather_elements(Communicator& ranks, Stream& stream, const View& mine) {
    std::vector<std::byte> values(mine.bytes());
    if (!values.empty()) stream.read(values.data(), *mine.buffer, mine.offset, values.size());
    stream.synchronize();
    return ranks.all_gather(values);
}

std::string described(Type type, const Operator& op, const ValueBytes& values, const ValueBytes& identity) {
    auto hex = [](std::span<const std::byte> bytes) {
        constexpr std::string_view digits = "0123456789abcdef";
        std::string text;
        for (const std::byte byte : bytes) {
            text += digits[std::to_integer<u32>(byte) >> 4];
            text += digits[std::to_integer<u32>(byte) & 15];
        }
        return text;
    };
    return std::string(name_of(type)) + " by " + op.name + " (" + hex(std::as_bytes(std::span(&op.hash, 1))) +
           " " + hex(values.bytes) + " " + hex(identity.bytes) + ")";
}

std::vector<std::vector<u64>> agree(Communicator& ranks, const char* call, const std::string& what,
                                    std::span<const u64> mine) {
    // Sends the numbers, followed by the description of the call.
    const auto numbers = std::as_bytes(mine);
    std::vector<std::byte> said(numbers.begin(), numbers.end());
    const std::string words = std::string(call) + " of " + what;
    const auto text = std::as_bytes(std::span(words));
    said.insert(said.end(), text.begin(), text.end());
    std::vector<std::vector<u64>> result;
    std::string first;
    for (const std::vector<std::byte>& theirs : ranks.all_gather(said)) {
        std::vector<u64> values(mine.size());
        const u64 bytes = std::min<u64>(theirs.size(), mine.size_bytes());
        if (bytes > 0) std::memcpy(values.data(), theirs.data(), bytes);
        const std::string other(reinterpret_cast<const char*>(theirs.data()) + bytes, theirs.size() - bytes);
        if (result.empty()) first = other;
        if (other != first) {
            const std::string rank = std::to_string(result.size());
            throw Error(ErrorCode::invalid_argument, call,
                        std::string("ranks differ: rank 0 calls ")
                            .append(first)
                            .append(", rank ")
                            .append(rank)
                            .append(" calls ")
                            .append(other));
        }
        result.push_back(std::move(values));
    }
    return result;
}

}  // namespace concord::detail
