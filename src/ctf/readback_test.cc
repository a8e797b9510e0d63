// SPDX-License-Identifier: MIT
// Traces written here and read by the readers from Debian: every event, field and time must come back.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "ctf/test_support.h"

namespace blip::ctf::testing {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kStart = 5'000'000'000'000;

class Readback : public ::testing::TestWithParam<std::string> {
 protected:
  ReaderOutput read() const {
    ReaderOutput output = read_trace(GetParam(), dir_);
    EXPECT_EQ(output.exit_code, 0) << output.errors;
    return output;
  }
  void expect_lines(const std::vector<std::string>& lines) const {
    const ReaderOutput output = read();
    EXPECT_EQ(output.errors, "");
    expect_equal(output.lines, lines);
  }
  static void expect_equal(const std::vector<std::string>& got, const std::vector<std::string>& expected) {
    EXPECT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < std::min(got.size(), expected.size()); ++i)
      ASSERT_EQ(got[i], expected[i]) << "line " << i;
  }

  ScratchDir scratch_;
  std::string dir_ = scratch_ / "trace";
};
INSTANTIATE_TEST_SUITE_P(Both, Readback, ::testing::ValuesIn(kReaders),
                         [](const auto& reader) { return reader.param; });

// Builds the fields of one event and, at the same time, what a reader should print for them.
class Values {
 public:
  explicit Values(std::mt19937_64& random) : random_(random) {}

  void add(const Field& field) {
    std::string& shown = field.is_context ? contexts_ : payload_;
    shown += (shown.empty() ? "" : ", ") + field.name + " = " + value(field.type);
  }
  std::string shown(bool contexts) const {
    const std::string& text = contexts ? contexts_ : payload_;
    return text.empty() ? ", { }" : ", { " + text + " }";
  }
  const std::string& bytes() const { return bytes_; }

 private:
  template <typename T>
  T put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return value;
  }
  std::string value(FieldType type) {
    // All magnitudes, not only huge numbers.
    const uint64_t bits = random_() >> (random_() % 64);
    switch (type) {
      case FieldType::kInt32:
        return std::to_string(put(int32_t(random_() & 1 ? bits : ~bits)));
      case FieldType::kUint32:
        return std::to_string(put(uint32_t(bits)));
      case FieldType::kUint64:
        return std::to_string(put(bits));
      case FieldType::kHex64:
        return fmt::format("0x{:X}", put(bits));
      case FieldType::kText16:
        return text(16);
      case FieldType::kText256:
        return text(256);
      default:
        break;  // captured_readback_test.cc
    }
    return {};
  }
  std::string text(size_t size) {
    const std::string word = std::string("worker-ab\xc3\xb6\xe2\x82\xac").substr(0, 1 + random_() % 9);
    bytes_ += word + std::string(size - word.size(), '\0');
    return '"' + word + '"';
  }

  std::mt19937_64& random_;
  std::string bytes_, contexts_, payload_;
};

std::string expected_line(uint64_t time, uint32_t cpu, const EventClass& c, const Values& values) {
  const bool contexts = !c.fields.empty() && c.fields.front().is_context;
  return fmt::format("[{:020}] {}: {{ cpu_id = {}, vpid = 42 }}{}{}", time, c.name, cpu,
                     contexts ? values.shown(true) : "", values.shown(false));
}

// `events` random events of all classes over three streams, in the order of time.
std::vector<std::string> write_random(TestTrace& trace, int events) {
  std::mt19937_64 random(42);
  std::vector<StreamWriter> streams;
  for (uint32_t cpu = 0; cpu < 3; ++cpu)
    streams.push_back(trace.stream(fmt::format("cpu_{}", cpu), cpu, cpu));
  std::vector<std::string> lines;
  uint64_t time = kStart;
  for (int i = 0; i < events; ++i) {
    time += 1 + (random() >> (24 + random() % 40));
    const auto cpu = uint32_t(random() % streams.size());
    const EventClass& c = trace.classes[random() % trace.classes.size()];
    Values values(random);
    for (const Field& field : c.fields) values.add(field);
    EXPECT_EQ(values.bytes().size(), fields_size(c));
    streams[cpu].append(time, c.id, reinterpret_cast<const uint8_t*>(values.bytes().data()),
                        uint32_t(values.bytes().size()));
    lines.push_back(expected_line(time, cpu, c, values));
    if (random() % 300 == 0) {
      EXPECT_TRUE(streams[cpu].flush_all());
    }
    if (random() % 300 == 0) {
      EXPECT_TRUE(streams[cpu].flush_full());
    }
  }
  return lines;
}

TEST_P(Readback, every_event_field_and_time) {
  TestTrace trace(dir_, {{0, "plain", {}},
                         {1, "register", {{"rdi", FieldType::kHex64}}},
                         {2, "odd", {{"n", FieldType::kUint32}, {"vtid", FieldType::kInt32, 0, true}}},
                         {300,
                          "all",
                          {{"vpid", FieldType::kInt32, 0, true},
                           {"procname", FieldType::kText16, 0, true},
                           {"a", FieldType::kUint64},
                           {"b", FieldType::kInt32},
                           {"c", FieldType::kText16},
                           {"_d", FieldType::kHex64}}},
                         {65535, "only_context", {{"ip", FieldType::kHex64, 0, true}}}});
  expect_lines(write_random(trace, 20'000));
}

TEST_P(Readback, the_same_contexts_in_all_classes) {
  const Field tid{"vtid", FieldType::kInt32, 0, true};
  const Field comm{"procname", FieldType::kText16, 0, true};
  TestTrace trace(dir_, {{1, "a", {tid, comm}}, {2, "b", {tid, comm, {"rdi", FieldType::kHex64}}}});
  expect_lines(write_random(trace, 2'000));
}

TEST_P(Readback, no_stream_at_all) {
  TestTrace trace(dir_, {one_word_class()});
  expect_lines({});
}

TEST_P(Readback, no_class_and_no_event) {
  TestTrace trace(dir_, {});
  { const StreamWriter writer = trace.stream("s"); }
  expect_lines({});
}

TEST_P(Readback, one_event_beside_an_empty_stream) {
  TestTrace trace(dir_, {one_word_class()});
  {
    StreamWriter writer = trace.stream("s");
    const StreamWriter empty = trace.stream("empty", 1, 1);
    append_word(writer, kStart, 7);
  }
  expect_lines({word_line(kStart, 7)});
}

TEST_P(Readback, gaps_of_more_than_32_and_48_bits) {
  TestTrace trace(dir_, {one_word_class()});
  std::vector<std::string> lines;
  {
    StreamWriter writer = trace.stream("s");
    uint64_t time = (uint64_t{3} << 48) - 100;  // the 48-bit time wraps at once
    for (const int bits : {0, 7, 33, 40, 46, 47, 48, 49, 50, 55, 3}) {
      time += uint64_t{1} << bits;
      append_word(writer, time, uint64_t(bits));
      lines.push_back(word_line(time, uint64_t(bits)));
    }
  }
  expect_lines(lines);
}

TEST_P(Readback, real_time_is_the_offset_plus_the_monotonic_time) {
  TestTrace trace(dir_, {one_word_class()});
  {
    StreamWriter writer = trace.stream("s");
    append_word(writer, 5'000'000'001, 1);
  }
  const std::string command = GetParam() + " --clock-seconds --no-delta '" + dir_ + "'";
  FILE* pipe = ::popen(command.c_str(), "r");
  char line[256] = {};
  ASSERT_TRUE(std::fgets(line, sizeof line, pipe));
  ::pclose(pipe);
  EXPECT_THAT(line, HasSubstr("[1700000005.123456790]")) << "offset 1700000000.123456789 s";
  EXPECT_THAT(line, HasSubstr("host:program"));
}

TEST_P(Readback, discarded_counts) {
  TestTrace trace(dir_, {one_word_class()});
  {
    StreamWriter first = trace.stream("first", 0, 0);
    first.set_discarded(5);
    append_word(first, kStart, 1);
    EXPECT_TRUE(first.flush_all());
    append_word(first, kStart + 10, 2);
    first.set_discarded(16);
    EXPECT_TRUE(first.flush_all());
    first.set_discarded(1016, kStart + 20);
    StreamWriter only_losses = trace.stream("only_losses", 1, 1);
    only_losses.set_discarded(77'777, kStart + 30);
  }
  const ReaderOutput output = read();
  EXPECT_EQ(output.lines, (std::vector{word_line(kStart, 1), word_line(kStart + 10, 2)}));
  for (const int n : {5, 11, 1000, 77'777})
    EXPECT_THAT(output.errors, HasSubstr(fmt::format("Tracer discarded {} events between", n)));
}

TEST_P(Readback, five_thousand_classes_open_quickly) {
  std::vector<EventClass> classes;
  for (int i = 0; i < 5000; ++i)
    classes.push_back({uint16_t(i),
                       fmt::format("ns::function_{}(int)", i),
                       {{"vtid", FieldType::kInt32, 0, true}, {"rdi", FieldType::kHex64}}});
  TestTrace trace(dir_, classes);
  const auto lines = write_random(trace, 5'000);
  const ReaderOutput output = read();
  expect_equal(output.lines, lines);
  EXPECT_LT(output.seconds, 10) << "about half a second on an idle machine";
}

TEST_P(Readback, hostile_names) {
  const std::pair<std::string, std::string> names[] = {
      {"esc\x1b[31m", "esc\\x1b[31m"},
      {"quote\" }; event { name = \"x", "quote\" }; event { name = \"x"},
      {"back\\", "back\\"},
      {"*/ /* // comment", "*/ /* // comment"},
      {"new\nline\r\t", "new\\x0aline\\x0d\\x09"},
      {"%s%n {} ${x}", "%s%n {} ${x}"},
      {"\xff\xfe", "\\xff\\xfe"},
      {"gr\xc3\xb6\xc3\x9f\x65", "gr\xc3\xb6\xc3\x9f\x65"},
      {"", "(unnamed)"},
      {"std::map<std::pair<int, char const*>, std::vector<int> >::operator[](int&&)",
       "std::map<std::pair<int, char const*>, std::vector<int> >::operator[](int&&)"},
      {"t<" + std::string(65533, 'x') + ">", "t<" + std::string(65533, 'x') + ">"},
  };
  std::vector<EventClass> classes;
  for (const auto& [name, shown] : names)
    classes.push_back(
        {uint16_t(classes.size()), name, {{"a b\"\\", FieldType::kInt32}, {"int", FieldType::kInt32}}});
  TestTrace trace(dir_, classes);
  std::vector<std::string> lines;
  {
    StreamWriter writer = trace.stream("s");
    const int32_t fields[2] = {-1, 2};
    for (const EventClass& c : trace.classes) {
      writer.append(kStart + c.id, c.id, reinterpret_cast<const uint8_t*>(fields), sizeof fields);
      lines.push_back(fmt::format("[{:020}] {}: {{ cpu_id = 0, vpid = 42 }}, {{ a_b__ = -1, int = 2 }}",
                                  kStart + c.id, names[c.id].second));
    }
  }
  expect_lines(lines);
}

TEST_P(Readback, a_class_added_while_writing) {
  TestTrace trace(dir_, {one_word_class()});
  const uint64_t word = 5;
  {
    StreamWriter writer = trace.stream("s");
    append_word(writer, kStart, 1);
    EXPECT_TRUE(writer.flush_all());
    trace.classes.push_back({2, "late", {{"vtid", FieldType::kInt32, 0, true}, {"x", FieldType::kInt32}}});
    lay_out(trace.classes.back());
    EXPECT_TRUE(trace.dir.write_metadata(metadata_text({}, trace.classes, trace.uuid)));
    writer.append(kStart + 1, 2, reinterpret_cast<const uint8_t*>(&word), 8);
  }
  expect_lines(
      {word_line(kStart, 1),
       fmt::format("[{:020}] late: {{ cpu_id = 0, vpid = 42 }}, {{ vtid = 5 }}, {{ x = 0 }}", kStart + 1)});
}

// The pid that nobody asked for is told by the packets where they can, by the events where they cannot.
TEST_P(Readback, streams_of_one_process_and_of_several) {
  const Field pid{"vpid", FieldType::kInt32, 0, true, true};
  EventClass implicit{1, "f", {pid, {"rdi", FieldType::kHex64}}, 0, true};
  EventClass asked{2, "g", {pid, {"rdi", FieldType::kHex64}}, 0, true};
  asked.fields.front().is_implicit = false;
  TestTrace trace(dir_, {implicit, asked});
  const uint64_t word = 7;
  const auto* fields = reinterpret_cast<const uint8_t*>(&word);
  {
    StreamWriter one = trace.stream("one", 0);
    StreamWriter several = trace.stream_of_several("several", 1, 1);
    for (uint64_t i = 0; i < 1000; ++i) {
      one.append(kStart + 4 * i, 1, fields, 8);
      one.append_with_pid(kStart + 4 * i + 1, 2, kVpid, fields, 8);
      several.append_with_pid(kStart + 4 * i + 2, 1, int32_t(i), fields, 8);
      several.append_with_pid(kStart + 4 * i + 3, 2, -1, fields, 8);
    }
  }
  std::vector<std::string> lines;
  for (uint64_t i = 0; i < 1000; ++i) {
    const uint64_t t = kStart + 4 * i;
    lines.push_back(fmt::format("[{:020}] f: {{ cpu_id = 0, vpid = 42 }}, {{ rdi = 0x7 }}", t));
    lines.push_back(
        fmt::format("[{:020}] g: {{ cpu_id = 0, vpid = 42 }}, {{ vpid = 42 }}, {{ rdi = 0x7 }}", t + 1));
    lines.push_back(fmt::format("[{:020}] f: {{ cpu_id = 1 }}, {{ vpid = {} }}, {{ rdi = 0x7 }}", t + 2, i));
    lines.push_back(fmt::format("[{:020}] g: {{ cpu_id = 1 }}, {{ vpid = -1 }}, {{ rdi = 0x7 }}", t + 3));
  }
  expect_lines(lines);
  const auto packets = check_stream(dir_ + "/several", {{1, 12}, {2, 12}});
  EXPECT_EQ(all_events(packets).size(), 2000u);
}

TEST_P(Readback, what_a_target_puts_into_text_cannot_break_the_trace) {
  TestTrace trace(dir_, {{1, "f", {{"procname", FieldType::kText16, 0, true}}}});
  {
    StreamWriter writer = trace.stream("s");
    for (int value = 1; value < 256; ++value) {
      const std::string text(16, char(value));
      writer.append(kStart + uint64_t(value), 1, reinterpret_cast<const uint8_t*>(text.data()), 16);
    }
  }
  EXPECT_EQ(read().errors, "");
}

}  // namespace
}  // namespace blip::ctf::testing
