// check [--wrong]: verifies a function of this project's own on the CPU with concord::check. Ends with status 1 if the
// result is wrong, which --wrong causes.
#include <concord/concord.hpp>
#include <concord/lab/check.hpp>
#include <concord/lab/kernel_test.hpp>

#include <iostream>
#include <string_view>

using namespace concord;
using namespace concord::lab;

CONCORD_FUNCTION(float, twice_plus, (float x, float a), return 2 * x + a;)

int main(int count, char** arguments) try {
    const float offset = count > 1 && std::string_view(arguments[1]) == "--wrong" ? 2 : 1;
    KernelTest test;
    test.name = "twice_plus_one";
    test.inputs = {{Type::f32, [](u64 n) { return n; }}};
    test.outputs = {{Type::f32, [](u64 n) { return n; }, Comparison::bits()}};
    test.variants = {{"map", [offset](Stream& stream, const KernelCall& call) {
                          map(stream, Span<float>(call.in[0]), Span<float>(call.out[0]),
                              twice_plus.bind(offset));
                      }}};
    test.reference = [](const ReferenceCall& call) {
        const auto in = call.in<f32>(0);
        const auto out = call.out<f32>(0);
        for (std::size_t i = 0; i < in.size(); ++i)
            out[i] = 2 * in[i] + 1;
    };
    const CheckReport report = check({suite_of(test)}, {.devices = {"tbb"}, .sizes = {0, 1, 1000}});
    report.print(std::cout);
    return report.status();
} catch (const std::exception& error) {
    std::cerr << "check: " << error.what() << '\n';
    return 2;
}
