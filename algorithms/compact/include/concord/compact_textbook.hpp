#pragma once
/// @file
/// textbook() for predicates of compact and partition made with CONCORD_FUNCTION; see `concord/textbook.hpp`. On the
/// CPU all variants support every predicate, so that textbook(keep) has no effect.

#include <concord/compact.hpp>
#include <concord/textbook.hpp>
