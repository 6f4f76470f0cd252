// Image filter: blurs, sharpens or finds edges in a binary PGM or PPM file with 8 bits per channel. Each channel is
// convolved as bytes. The float results are converted to bytes on the device.
//
// Build, with Concord installed in DIR (in the build tree: example-filter):
//     c++ -std=c++20 -O2 -ffp-contract=off filter.cpp -IDIR/include -LDIR/lib -Wl,-rpath,DIR/lib -lconcord
// Run:
//     ./a.out blur:2.5 photo.ppm soft.ppm [DEVICE]
//     blur:2.5 on cuda:0 by separable: 4000 x 3000 pixels, 3 channels -> soft.ppm
//
// Filters: blur, blur:SIGMA (a Gaussian, whose mask is separable), sharpen, edges.

#include <charconv>
#include <concord/concord.hpp>
#include <fstream>
#include <iostream>

using namespace concord;

// Adds 0.5 so that the truncating conversion rounds to nearest.
CONCORD_FUNCTION(u8, to_byte, (f32 x), return (u8)(x < 0 ? 0 : x > 255 ? 255 : x + 0.5f);)
CONCORD_FUNCTION(u8, length, (f32 x, f32 y), const f32 r = sqrt(x * x + y * y);
                 return (u8)(r > 255 ? 255 : r + 0.5f);)

struct Picture {
    u64 rows = 0, columns = 0, channels = 0;
    std::vector<u8> bytes;  // channels interleaved, as in the file
};

[[noreturn]] void fail(const std::string& why) {
    throw Error(ErrorCode::io, "filter", why);
}

// The next number of the header. Comments extend from # to the end of the line.
u64 number(std::istream& file, const std::string& path) {
    file >> std::ws;
    while (file.peek() == '#') {
        std::string comment;
        std::getline(file, comment);
        file >> std::ws;
    }
    u64 n = 0;
    if (!(file >> n) || n > 1 << 20) fail(path + ": invalid PGM or PPM header");
    return n;
}

Picture read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) fail(path + " cannot be read");
    char kind[2] = {};
    file.read(kind, 2);
    if (kind[0] != 'P' || (kind[1] != '5' && kind[1] != '6')) fail(path + " is not a binary PGM or PPM file");
    Picture picture;
    picture.channels = kind[1] == '6' ? 3 : 1;
    picture.columns = number(file, path);
    picture.rows = number(file, path);
    if (number(file, path) != 255) fail(path + " does not have 8 bits per channel");
    file.get();  // one blank
    picture.bytes.resize(picture.rows * picture.columns * picture.channels);
    file.read(reinterpret_cast<char*>(picture.bytes.data()),
              static_cast<std::streamsize>(picture.bytes.size()));
    if (static_cast<u64>(file.gcount()) != picture.bytes.size()) fail(path + " is truncated");
    return picture;
}

void write(const std::string& path, const Picture& picture) {
    std::ofstream file(path, std::ios::binary);
    file << (picture.channels == 3 ? "P6\n" : "P5\n") << picture.columns << ' ' << picture.rows << "\n255\n";
    file.write(reinterpret_cast<const char*>(picture.bytes.data()),
               static_cast<std::streamsize>(picture.bytes.size()));
    if (!file.flush()) fail(path + " cannot be written");
}

// A square mask. Edge detection also applies the transposed mask.
struct Filter {
    std::vector<f32> mask;
    u64 side = 3;
    bool is_edges = false;
};

Filter gaussian(const std::string& text) {
    double sigma = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), sigma);
    if (error != std::errc() || end != text.data() + text.size() || !(sigma > 0 && sigma <= 5))
        throw std::invalid_argument(text);
    const int radius = static_cast<int>(std::ceil(3 * sigma));
    std::vector<double> weights;
    double sum = 0;
    for (int i = -radius; i <= radius; ++i)
        sum += weights.emplace_back(std::exp(-i * i / (2 * sigma * sigma)));
    Filter filter;
    filter.side = weights.size();
    for (const double a : weights) {
        for (const double b : weights)
            filter.mask.push_back(static_cast<f32>(a / sum) * static_cast<f32>(b / sum));
    }
    return filter;
}

Filter filter_named(const std::string& name) {
    if (name == "sharpen") return {{0, -1, 0, -1, 5, -1, 0, -1, 0}};
    if (name == "edges") return {{-1, 0, 1, -2, 0, 2, -1, 0, 1}, 3, true};
    if (name == "blur") return gaussian("1");
    try {
        if (name.rfind("blur:", 0) == 0) return gaussian(name.substr(5));
    } catch (const std::logic_error&) {  // not a number
        fail("invalid sigma in '" + name + "'; expected a number above 0, at most 5");
    }
    fail("unknown filter '" + name + "'; available: blur, blur:SIGMA, sharpen, edges");
}

// Filters one channel and returns the name of the variant that ran.
std::string_view apply(Stream& stream, const Filter& filter, Picture& picture, u64 channel) {
    const u64 n = picture.rows * picture.columns;
    std::vector<u8> plane(n);
    for (u64 i = 0; i < n; ++i)
        plane[i] = picture.bytes[i * picture.channels + channel];
    const Array<u8> in(stream, plane), out(stream, n);
    const Matrix image(in, picture.rows, picture.columns);
    const ConvolveMask mask(filter.mask, filter.side, filter.side);
    const bool separates = filter.side > 3 && convolve_separates(mask);
    const Array<f32> floats(stream, n);
    const Enqueued run = convolve(stream, image, mask, Matrix(floats, picture.rows, picture.columns),
                                  ConvolveBorder::clamp, {separates ? "separable" : "auto"});
    if (filter.is_edges) {
        std::vector<f32> turned(9);
        for (u64 k = 0; k < 9; ++k)
            turned[k] = filter.mask[k % 3 * 3 + k / 3];
        const Array<f32> down = convolve(stream, image, ConvolveMask(turned, 3, 3), ConvolveBorder::clamp);
        map(stream, floats, down, out, length);
    } else {
        map(stream, floats, out, to_byte);
    }
    plane = out.to_host(stream);
    for (u64 i = 0; i < n; ++i)
        picture.bytes[i * picture.channels + channel] = plane[i];
    return run.variant;
}

int main(int argc, char** argv) try {
    if (argc < 4) fail("expected arguments FILTER IN.ppm OUT.ppm [DEVICE]");
    const Filter filter = filter_named(argv[1]);
    Picture picture = read(argv[2]);
    const auto device = open_device(argc > 4 ? argv[4] : "");
    const auto stream = device->create_stream();
    std::string_view variant;
    for (u64 channel = 0; channel < picture.channels; ++channel)
        variant = apply(*stream, filter, picture, channel);
    write(argv[3], picture);
    std::cout << argv[1] << " on " << device->info().selector << " by " << variant << ": " << picture.columns
              << " x " << picture.rows << " pixels, " << picture.channels
              << (picture.channels == 1 ? " channel" : " channels") << " -> " << argv[3] << '\n';
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
}
