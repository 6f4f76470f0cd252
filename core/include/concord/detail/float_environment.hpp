#pragma once
// The floating-point environment of the calling thread: rounding, denormals and traps. Results must not depend on the
// caller's, which libraries that are linked with -ffast-math change.

#include <concord/types.hpp>

#if !defined(__x86_64__)
#include <cfenv>
#endif
#include <optional>
#include <type_traits>
#include <utility>

namespace concord::detail {

// Gives the thread the default environment during its lifetime: rounding to nearest, denormals kept, no traps. The
// destructor restores the caller's, including its exception flags. Takes about 12 ns.
//
// The compiler moves arithmetic of the same function across it. Therefore the arithmetic belongs in a function that
// the compiler does not see, such as a kernel, or in in_default_float_environment().
class DefaultFloatEnvironment {
  public:
    DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
    DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;
#if defined(__x86_64__)
    DefaultFloatEnvironment() noexcept : vector_(vector_state()), x87_(x87_control()) {
        if ((vector_ & ~exception_flags) != default_vector) set_vector_state(default_vector);
        if (x87_ != default_x87) set_x87_control(default_x87);
    }
    ~DefaultFloatEnvironment() {
        if (vector_state() != vector_) set_vector_state(vector_);
        if (x87_control() != x87_) set_x87_control(x87_);
    }

  private:
    // MXCSR: all exceptions masked. The control word of the x87, for long double: the same, with 64 bits of precision.
    static constexpr u32 default_vector = 0x1f80, exception_flags = 0x3f;
    static constexpr u16 default_x87 = 0x37f;

    static u32 vector_state() noexcept {
        return __builtin_ia32_stmxcsr();
    }
    static void set_vector_state(u32 state) noexcept {
        __builtin_ia32_ldmxcsr(state);
    }
    static u16 x87_control() noexcept {
        u16 control = 0;
        asm volatile("fnstcw %0" : "=m"(control) : : "memory");
        return control;
    }
    static void set_x87_control(u16 control) noexcept {
        asm volatile("fldcw %0" : : "m"(control) : "memory");
    }

    u32 vector_;
    u16 x87_;
#else
    DefaultFloatEnvironment() noexcept {
        std::fegetenv(&callers_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~DefaultFloatEnvironment() {
        std::fesetenv(&callers_);
    }

  private:
    std::fenv_t callers_;
#endif
};

// Calls f(context) in the default environment.
void call_in_default_float_environment(void (*f)(void* context), void* context);

// The result of f(), computed in the default environment.
template <class F>
auto in_default_float_environment(F&& f) {
    using Result = std::invoke_result_t<F&>;
    if constexpr (std::is_void_v<Result>) {
        call_in_default_float_environment(
            [](void* context) { (*static_cast<std::remove_reference_t<F>*>(context))(); }, &f);
    } else {
        std::optional<Result> result;
        in_default_float_environment([&] { result.emplace(f()); });
        return *std::move(result);
    }
}

}  // namespace concord::detail
