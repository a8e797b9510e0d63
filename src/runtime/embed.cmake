# SPDX-License-Identifier: MIT
# Writes the bytes of BLOB as the C++ file OUT that defines runtime_blob(). usage: cmake -D BLOB= -D OUT= -P embed.cmake
file(READ ${BLOB} hex HEX)
string(LENGTH "${hex}" digits)
if(digits EQUAL 0)
  message(FATAL_ERROR "runtime blob: empty")
endif()
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
file(WRITE ${OUT} "// Generated from src/runtime by embed.cmake.
#include \"runtime/blob.h\"

namespace blip::runtime {
namespace {
alignas(16) constexpr uint8_t kBlob[] = {${bytes}};
}  // namespace

std::span<const uint8_t> runtime_blob() { return kBlob; }

}  // namespace blip::runtime
")
