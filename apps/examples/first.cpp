// First program: a x + y on a million elements on the default device, then their sum.
//
// Build, with Concord installed in DIR (in the build tree: example-first):
//     c++ -std=c++20 -O2 -ffp-contract=off first.cpp -IDIR/include -LDIR/lib -Wl,-rpath,DIR/lib -lconcord
// Run:
//     CONCORD_DEVICE=tbb ./a.out
//     5242880

#include <concord/concord.hpp>
#include <iostream>
CONCORD_FUNCTION(float, saxpy, (float x, float y, float a), return a * x + y;)
int main() {
    const auto stream = concord::open_device()->create_stream();
    concord::Array<float> x(*stream, std::vector(1 << 20, 1.0f));
    concord::Array<float> y(*stream, std::vector(1 << 20, 2.0f));
    concord::map(*stream, x, y, y, saxpy.bind(3.0f));
    std::cout << static_cast<int>(concord::sum(*stream, y).get()) << '\n';
}
