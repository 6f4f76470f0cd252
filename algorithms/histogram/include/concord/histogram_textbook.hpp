#pragma once
/// @file
/// textbook() for bin functions of histogram made with CONCORD_FUNCTION; see `concord/textbook.hpp`. On the CPU all
/// variants support every bin function, so that textbook(bin) has no effect.

#include <concord/histogram.hpp>
#include <concord/textbook.hpp>
