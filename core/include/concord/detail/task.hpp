#pragma once
// A function without arguments and result, for public headers: std::function takes half a second to compile.

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace concord::detail {

class Task {
  public:
    Task() = default;
    Task(std::nullptr_t) {}  // NOLINT(google-explicit-constructor): empty
    // Converts as std::function does: from an empty function or a null pointer to an empty task.
    template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, Task> && std::is_invocable_v<std::remove_cvref_t<F>&>)
        Task(F&& f) {  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
        if constexpr (std::is_constructible_v<std::remove_cvref_t<F>, std::nullptr_t>) {
            if (f == nullptr) return;
        }
        object_ = std::make_shared<std::remove_cvref_t<F>>(std::forward<F>(f));
        call_ = [](void* object) { (*static_cast<std::remove_cvref_t<F>*>(object))(); };
    }

    void operator()() const { call_(object_.get()); }
    explicit operator bool() const { return object_ != nullptr; }

  private:
    std::shared_ptr<void> object_;
    void (*call_)(void* object) = nullptr;
};

}  // namespace concord::detail
