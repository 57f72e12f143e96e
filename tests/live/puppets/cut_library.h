// What cut_library and its library know of each other.
#pragma once

#include <cstddef>

using Take = void*(std::size_t);
using CallInFrame = void(Take*);

constexpr int kFrames = 10;
using FillCalls = void(CallInFrame**);
