// A stream that is a static object has unfinished work when main() returns. Ends with 3.
//
//     concord-exit-pending DEVICE
#include <concord/concord.hpp>

#include <iostream>

namespace {

std::shared_ptr<concord::Stream> stream;

}  // namespace

int main(int argc, char** argv) try {
    const auto device = concord::open_device(argc > 1 ? argv[1] : "");
    stream = device->create_stream();
    const concord::Array<float> x(*stream, std::vector<float>(1 << 20, 1.0F));
    for (int i = 0; i < 8; ++i)
        concord::sort(*stream, x, x);
    return 3;
} catch (const concord::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
