// Wave equation: propagates a pulse in the middle of a cube, second order in time and eighth order in space,
//
//     next = 2 u - previous + k L(u)
//
// The stencil computes 2 u + k L(u) with radius 4, and a user operator subtracts the previous step. The program writes
// slices through the middle as PGM images. The cube and the stencil are symmetric, so the waves are bitwise symmetric;
// the program verifies this.
//
// Build, with Concord installed in DIR (in the build tree: example-wave):
//     c++ -std=c++20 -O2 -ffp-contract=off wave.cpp -IDIR/include -LDIR/lib -Wl,-rpath,DIR/lib -lconcord
// Run:
//     ./a.out [SIDE [STEPS [FOLDER]]]
//     step 30: wave-30.pgm, the front is 15 points from the middle
//     step 60: wave-60.pgm, the front is 27 points from the middle

#include <concord/concord.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>

using namespace concord;

CONCORD_FUNCTION(float, minus_previous, (float twice, float previous), return twice - previous;)

// Writes a slice as an image of 256 grey levels. 0 is mid-grey, -most is black, +most is white.
void write_image(const std::filesystem::path& path, std::span<const float> slice, u64 side, float most) {
    std::ofstream file(path, std::ios::binary);
    file << "P5\n" << side << ' ' << side << "\n255\n";
    for (const float u : slice)
        file.put(static_cast<char>(std::lround(127.5f + 127.5f * std::clamp(u / most, -1.0f, 1.0f))));
    if (!file.flush()) throw std::runtime_error(path.string() + ": cannot be written");
}

u64 integer(std::string_view text) {
    u64 value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        throw std::runtime_error("wave: SIDE and STEPS must be integers, got '" + std::string(text) +
                                 "'; usage: wave [SIDE [STEPS [FOLDER]]]");
    return value;
}

int main(int argc, char** argv) try {
    const u64 side = argc > 1 ? integer(argv[1]) : 97, steps = argc > 2 ? integer(argv[2]) : 90;
    const std::filesystem::path folder = argc > 3 ? argv[3] : ".";
    if (side < 9 || side > 2000)
        throw std::runtime_error("wave: SIDE out of range, got '" + std::to_string(side) +
                                 "'; expected 9 to 2000");

    const auto device = open_device();  // $CONCORD_DEVICE, else the preferred device
    const auto stream = device->create_stream();

    // L: the second derivative of order 8 along three axes; k = (speed * time step / distance)^2. The star adds 2 u.
    constexpr f64 k = 0.15;
    const StarCoefficients star{2 - k * 3 * 205 / 72, k * 8 / 5, -k / 5, k * 8 / 315, -k / 560};
    const VolumeExtents cube{side, side, side};

    // A smooth pulse at rest: the previous step is the same.
    const u64 slice = side * side, middle = side / 2;
    std::vector<float> pulse(slice * side);
    auto distance = [&](u64 i) { return static_cast<f64>(i) - static_cast<f64>(side - 1) / 2; };
    for (u64 z = 0; z < side; ++z) {
        for (u64 y = 0; y < side; ++y) {
            for (u64 x = 0; x < side; ++x) {
                const f64 square =
                    (distance(x) * distance(x) + distance(y) * distance(y)) + distance(z) * distance(z);
                pulse[z * slice + y * side + x] = static_cast<float>(std::exp(-square / 8));
            }
        }
    }
    // u[step % 2] holds the current step. The other array holds the previous step and receives the next one. One
    // recording per direction: a replay needs no planning, and on CUDA it is one graph.
    const Array<float> u[] = {{*stream, pulse}, {*stream, pulse}}, twice(*stream, pulse.size());
    auto record_step = [&](const Array<float>& now, const Array<float>& next) {
        stream->begin_recording();
        stencil(*stream, Volume(now, cube), star, Volume(twice, cube));
        map(*stream, twice, next, next, minus_previous);
        return stream->end_recording();
    };
    const std::shared_ptr<Recording> to[] = {record_step(u[1], u[0]), record_step(u[0], u[1])};

    bool right = true;
    const u64 every = std::max<u64>(1, steps / 3);
    for (u64 step = 1; step <= steps; ++step) {
        to[step % 2]->replay(*stream);
        if (step % every != 0) continue;

        std::vector<float> seen(slice);
        stream->read(seen.data(), *u[step % 2].buffer(), middle * slice * sizeof(float),
                     slice * sizeof(float));
        stream->synchronize();
        float most = 0;
        for (const float value : seen)
            most = std::max(most, std::abs(value));
        u64 front = 0;
        for (u64 y = 0; y < side; ++y) {
            for (u64 x = 0; x < side; ++x) {
                const float value = seen[y * side + x];
                right = right && std::isfinite(value) && value == seen[y * side + side - 1 - x] &&
                        value == seen[(side - 1 - y) * side + x] && value == seen[x * side + y];
                if (y == middle && x >= middle && std::abs(value) > most / 4) front = x - middle;
            }
        }
        right = right && most > 0;
        const std::string name = "wave-" + std::to_string(step) + ".pgm";
        write_image(folder / name, seen, side, most);
        std::cout << "step " << step << ": " << name << ", the front is " << front
                  << " points from the middle\n";
    }
    if (!right) {
        std::cout << "the waves on " << device->info().selector << " are not symmetric\n";
        return 1;
    }
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
}
