// SPDX-License-Identifier: MIT
// Any bytes in the memory shared with a target: what comes out are whole records of known classes, at most a
// ring's worth, and the drain ends. The input is a list of (offset, word) to store.
#include <cstring>

#include "base/check.h"
#include "ring/counters.h"
#include "ring/reader.h"
#include "ring/shared_reader.h"
#include "ring/test_region.h"

namespace {

using namespace blip;
using namespace blip::ring;

constexpr abi::Geometry kGeometry = {.ring_count = 1,
                                     .class_count = 6,
                                     .subbuf_count = 4,
                                     .subbuf_size = 4096,
                                     .slot_size = 64,
                                     .slot_count = 16};
constexpr uint32_t kSizes[] = {0, 16, 56, 3072, dynamic_size(16, 48), dynamic_size(24, 3072)};
constexpr uint64_t kNow = uint64_t{1} << 40;

template <class Reader>
void drain(Reader& reader) {
  uint64_t bytes = 0;
  const auto sink = [&](uint64_t, uint16_t class_id, const uint8_t* record, uint32_t size) {
    uint64_t header;
    std::memcpy(&header, record, sizeof header);
    CHECK(class_id != 0 && class_id < std::size(kSizes) && size % abi::kRecordAlign == 0 &&
          size >= least_size(kSizes[class_id]) && size <= most_size(kSizes[class_id]));
    CHECK(abi::header_class(header) == class_id);
    bytes += size;
  };
  const DrainStats stats = reader.drain(sink, [] { return kNow; });
  CHECK(stats.bytes == bytes && bytes <= kGeometry.ring_size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static TestRegion* const region = new TestRegion(kGeometry);
  format_region(kGeometry, region->region(), reinterpret_cast<uint64_t>(region->region()));
  RingReader ring(kGeometry, region->region(), 0, kSizes, 1);
  SharedRingReader shared(kGeometry, region->region(), kSizes, 1);
  struct Store {
    uint32_t at;
    uint64_t word;
  } __attribute__((packed)) store;
  for (size_t i = 0; i + sizeof store <= size; i += sizeof store) {
    std::memcpy(&store, data + i, sizeof store);
    const uint64_t words = kGeometry.region_size() / sizeof(uint64_t);
    std::memcpy(region->region() + store.at % words * sizeof(uint64_t), &store.word, sizeof store.word);
    if (store.at >> 31 == 0) continue;
    drain(ring);
    drain(shared);
  }
  drain(ring);
  drain(shared);
  shared.finish([](auto...) {});
  (void)CounterReader(kGeometry, region->region()).totals();
  return 0;
}
