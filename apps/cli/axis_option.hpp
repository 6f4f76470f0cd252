#pragma once
// The option --axis of commands that compute along one axis of their input.

#include "run.hpp"

#include <concord/nd_span.hpp>

#include <charconv>

namespace concord::app {

class AxisOption {
  public:
    void add(CLI::App& command, const std::string& text) {
        command.add_option("--axis", text_, text)->type_name("N");
    }
    explicit operator bool() const { return text_.has_value(); }

    // The axis counted from the front. Throws invalid_argument if the input has no such axis.
    i64 of(const InputArray& in) const {
        i64 axis = 0;
        const char* const end = text_->data() + text_->size();
        const auto [stop, error] = std::from_chars(text_->data(), end, axis);
        if (error != std::errc() || stop != end)
            throw Error(ErrorCode::invalid_argument, "--axis",
                        "expected an integer, got '" + *text_ + "'; examples: 0, -1");
        if (in.shape().size() > max_rank)
            throw Error(ErrorCode::invalid_argument, "--axis",
                        "supports at most " + std::to_string(max_rank) + " dimensions, got " + in.name() +
                            " of shape " + shape_name(in.shape()));
        return detail::axis_of("--axis", axis, static_cast<u32>(in.shape().size()));
    }
    // Throws unsupported if the option is given. in: what does not support it.
    void check_absent(const char* in) const {
        if (!text_) return;
        throw Error(ErrorCode::unsupported, "--axis",
                    std::string("not supported in ") + in + "; use one device whose memory holds the data");
    }

  private:
    std::optional<std::string> text_;
};

}  // namespace concord::app
