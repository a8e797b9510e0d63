// SPDX-License-Identifier: MIT
// A context is one row of session/plan/contexts.h: a row that this test adds must arrive everywhere.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "cli/options/contexts.h"
#include "cli/show/print.h"
#include "cli/view/view.h"
#include "ctf/metadata.h"
#include "ctf/stream_writer.h"
#include "ctf/trace_dir.h"
#include "session/drain/region_schema.h"
#include "session/plan/classes.h"

namespace blip::cli {
namespace {

using session::contexts::kTid;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr session::ContextField kNodeFields[] = {
    {.name = "numa_node", .type = ctf::FieldType::kUint32, .capture = jit::Capture::kCpu},
    {.name = "node_mask", .type = ctf::FieldType::kHex64, .capture = jit::Capture::kConstant}};
constexpr session::ContextRow kNode{.words = {"node", "numa"}, .fields = kNodeFields};
constexpr const session::ContextRow* kRows[] = {&kTid, &kNode};

class NewContext : public ::testing::Test {
 protected:
  NewContext() {
    std::string pattern = ::testing::TempDir() + "/blip-context-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
    options_.follow_fork = false;
    options_.no_tid = true;
    auto contexts = parse_contexts("numa,tid", kRows);
    EXPECT_TRUE(contexts);
    options_.probes.push_back({*elf::parse_spec("f"), contexts.value()});
  }
  ~NewContext() override { std::filesystem::remove_all(root_); }

  void plan() {
    const std::vector<session::ProbedPlace> places = {{.name = "f", .module = "m", .addr = FileAddr(0)}};
    auto programs = table_.add(places);
    ASSERT_TRUE(programs);
    program_ = programs->at(0);
  }
  const ctf::EventClass& event_class() const { return table_.classes()[0]; }

  // As a pad would write it.
  std::vector<uint8_t> record() const {
    std::vector<uint8_t> bytes(program_.record_size);
    for (const jit::Field& f : program_.fields) {
      const uint32_t number = f.capture == jit::Capture::kTid   ? 4711
                              : f.capture == jit::Capture::kCpu ? 3
                                                                : 0;
      const uint64_t mask = 0xbeef;
      const bool is_mask = f.capture == jit::Capture::kConstant;
      std::memcpy(&bytes[f.offset], is_mask ? static_cast<const void*>(&mask) : &number,
                  is_mask ? sizeof mask : sizeof number);
    }
    return bytes;
  }

  // What `write` prints to the descriptor it is given.
  template <typename Write>
  std::string printed(Write write) const {
    const std::string file = root_ + "/out";
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    write(fd);
    ::close(fd);
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string live(bool json) const {
    return printed([&](int fd) {
      Output output(fd);
      Printer printer(output, {.json = json});
      printer.event({event_class(), 5, record()});
      EXPECT_TRUE(printer.flush());
    });
  }
  std::string viewed(bool json) const {
    return printed([&](int fd) {
      std::fflush(stdout);
      const pid_t child = ::fork();
      if (child == 0) {
        ::dup2(fd, STDOUT_FILENO);
        ::_exit(view_trace(root_ + "/trace", {.color = ViewColor::kNever, .json = json}) ? 0 : 1);
      }
      int status = -1;
      ::waitpid(child, &status, 0);
      EXPECT_EQ(status, 0);
    });
  }
  void write_trace() const {
    auto dir = ctf::TraceDir::create(root_ + "/trace");
    ASSERT_TRUE(dir);
    const ctf::Uuid uuid = ctf::random_uuid();
    ASSERT_TRUE(dir->write_metadata(ctf::metadata_text({.hostname = "h"}, table_.classes(), uuid)));
    auto writer = ctf::StreamWriter::create(dir->dir_fd(), "s", uuid, {.vpid = 42});
    ASSERT_TRUE(writer);
    const auto bytes = record();
    writer->append(1000, event_class().id, &bytes[abi::kHeaderSize], ctf::fields_size(event_class()));
  }

  std::string root_;
  session::Options options_;
  session::ClassTable table_{options_};
  jit::Action program_;
};

TEST_F(NewContext, is_a_word_of_the_command_line) {
  EXPECT_EQ(options_.probes[0].contexts[0].row, &kNode);
  const auto unknown = parse_contexts("nodes", kRows);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message(), EndsWith("use tid (vtid), node (numa)"));
}

TEST_F(NewContext, is_captured_by_pads) {
  plan();
  std::vector<jit::Capture> captures;
  for (const jit::Field& f : program_.fields) captures.push_back(f.capture);
  EXPECT_THAT(captures, ElementsAre(jit::Capture::kCpu, jit::Capture::kConstant, jit::Capture::kTid));
}

TEST_F(NewContext, is_printed_live) {
  plan();
  EXPECT_THAT(live(false), EndsWith(") 4711 f: { numa_node = 3, node_mask = 0xbeef }\n"));
  EXPECT_EQ(live(true),
            "{\"v\":1,\"kind\":\"event\",\"time\":5,\"name\":\"f\",\"tid\":4711,"
            "\"context\":{\"numa_node\":3,\"node_mask\":48879}}\n");
}

TEST_F(NewContext, is_in_traces_and_their_views) {
  plan();
  EXPECT_THAT(ctf::metadata_text({}, table_.classes(), {}), HasSubstr("_numa_node;"));
  write_trace();
  EXPECT_THAT(viewed(false), HasSubstr("{ numa_node = 3, node_mask = 0xbeef, vtid = 4711 }"));
  EXPECT_THAT(viewed(true), HasSubstr("\"context\":{\"numa_node\":3,\"node_mask\":48879}"));
}

TEST_F(NewContext, is_in_the_text_that_a_later_blip_reads) {
  plan();
  session::RegionSchema schema;
  schema.classes = table_.classes();
  const auto read = session::parse_region_schema(session::to_text(schema));
  ASSERT_TRUE(read);
  const std::vector<ctf::Field>& fields = read->classes.at(0).fields;
  ASSERT_EQ(fields.size(), 3u);
  EXPECT_EQ(fields[0].name, "numa_node");
  EXPECT_EQ(fields[1].type, ctf::FieldType::kHex64);
  EXPECT_TRUE(fields[0].is_context && fields[1].is_context);
}

}  // namespace
}  // namespace blip::cli
