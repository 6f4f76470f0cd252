// Baselines of OpenCV, with as many threads as the tbb device. filter2D uses one thread, so each thread processes a
// band of rows. filter2D reads the rows around a band from the image.

#include "rows.hpp"

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <limits>

namespace concord::baselines {
namespace {

using lab::native_pointer;

int depth_of(Type type) {
    return type == Type::u8 ? CV_8U : type == Type::f32 ? CV_32F : CV_64F;
}

cv::Mat matrix(const View& view, u64 rows, u64 columns) {
    return {static_cast<int>(rows), static_cast<int>(columns), depth_of(view.type),
            native_pointer<void>(view)};
}

Call convolve(Stream&, const Work& work, Views in, Views out) {
    const cv::Mat image = matrix(in[0], work.shape[0], work.shape[1]);
    const cv::Mat mask = matrix(in[1], work.shape[2], work.shape[3]);
    cv::Mat result = matrix(out[0], work.shape[0], work.shape[1]);
    const int border = work.title == "5x5 clamp" ? cv::BORDER_REPLICATE : cv::BORDER_CONSTANT;
    return [=]() mutable {
        cv::parallel_for_(
            cv::Range(0, image.rows),
            [&](const cv::Range& rows) {
                cv::Mat band = result.rowRange(rows);
                cv::filter2D(image.rowRange(rows), band, result.depth(), mask, {-1, -1}, 0, border);
            },
            cv::getNumThreads());
    };
}

void opencv(std::vector<Baseline>& list) {
    cv::setNumThreads(static_cast<int>(host_threads()));
    std::vector<std::string_view> titles = convolve_titles;
    titles.push_back("5x5 clamp");
    append(list, {"opencv", "OpenCV " + cv::getVersionString(), "tbb", std::numeric_limits<int>::max()},
           {{"convolve", titles, {Type::u8, Type::f32, Type::f64}, convolve, "cv::filter2D"}});
}

}  // namespace
}  // namespace concord::baselines

CONCORD_BASELINE_MODULE(concord::baselines::opencv)
