#pragma once
// The option --offsets of commands on segments.

#include "run.hpp"

#include <concord/segmented_reduce.hpp>

namespace concord::app {

class OffsetsOption {
  public:
    void add(CLI::App& command) {
        command
            .add_option(
                "--offsets", path_,
                "Where the segments begin, and where the last one ends: a .npy file of S + 1 ascending "
                "values of type u32, u64, i32 or i64")
            ->type_name("FILE")
            ->required();
    }
    NamedInput input() const { return {"--offsets", path_}; }

    enum class Others { allowed, refused };  // elements outside of all segments
    // Throws invalid_argument unless the offsets are those of segments of `in`. Names the first wrong one.
    void check(const InputArray& in, const InputArray& offsets, Others others = Others::allowed) const {
        const auto refuse = [](const std::string& why) {
            throw Error(ErrorCode::invalid_argument, "--offsets", why);
        };
        check_one_dimension("--in", in);
        check_one_dimension("--offsets", offsets);
        detail::check_offset_type("--offsets " + offsets.name(), offsets.type());
        if (offsets.count() == 0)
            refuse(offsets.name() + " is empty; pass one offset more than there are segments");
        constexpr u64 piece = u64{8} << 20;
        detail::OffsetsCheck values("--offsets", in.count());
        std::vector<std::byte> bytes;
        for (u64 first = 0; first < offsets.bytes(); first += piece) {
            bytes.resize(std::min(piece, offsets.bytes() - first));
            offsets.source().read(bytes.data(), first, bytes.size());
            values.add(bytes, offsets.type());
        }
        if (others == Others::refused) values.check_covers();
    }

  private:
    std::string path_;
};

}  // namespace concord::app
