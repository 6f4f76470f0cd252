#pragma once
// Whether something is supported, and the reason if not.

#include <concord/kernel.hpp>

#include <array>
#include <concepts>
#include <string>
#include <utility>

namespace concord::detail {

// A reason for messages, in which "{}" stands for one of `gaps` values. Does not compile with another number of them.
template <std::size_t gaps>
struct ReasonText {
    consteval ReasonText(const char* the_text) : text(the_text) {
        std::size_t count = 0;
        for (const char* at = text; *at != '\0'; ++at)
            count += at[0] == '{' && at[1] == '}' ? 1 : 0;
        if (count != gaps) throw "the text has another number of {}";
    }
    const char* text;
};

// Whether something is supported, and if not, why. Holds the text of the reason and its values. Only text() composes
// the message, because most questions are asked to choose a variant and need none.
class Support {
  public:
    constexpr Support() = default;  // supported

    // A value is an integer, or text that must outlive the object: a name, the selector of a device.
    template <class... V>
    static constexpr Support no(ReasonText<sizeof...(V)> reason, V&&... values) {
        static_assert(sizeof...(V) <= most);
        Support support;
        support.reason_ = reason.text;
        support.values_ = {Value(std::forward<V>(values))...};
        return support;
    }

    constexpr explicit operator bool() const { return reason_ == nullptr; }
    // The reason with its values; empty if there is none.
    std::string text() const;

  private:
    struct Value {
        constexpr Value() = default;
        constexpr Value(std::integral auto n) : number(static_cast<u64>(n)) {}
        constexpr Value(TextView t) : name(t.data()), number(t.size()) {}

        const char* name = nullptr;  // null: a number
        u64 number = 0;              // or the length of the name
    };
    static constexpr std::size_t most = 4;

    const char* reason_ = nullptr;
    std::array<Value, most> values_ = {};
};

}  // namespace concord::detail
