// SPDX-License-Identifier: MIT
#include "session/plan/contexts.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "script/names.h"

namespace blip::session {
namespace {

TEST(Contexts, every_word_and_every_field_is_of_one_row) {
  std::set<std::string_view> words, fields;
  for (const ContextRow* row : known_contexts()) {
    EXPECT_FALSE(row->words[0].empty());
    for (std::string_view word : row->words) EXPECT_TRUE(word.empty() || words.insert(word).second) << word;
    for (const ContextField& field : row->fields) EXPECT_TRUE(fields.insert(field.name).second) << field.name;
  }
  for (const ContextField& field : return_fields())
    EXPECT_TRUE(fields.insert(field.name).second) << field.name;
}

TEST(Contexts, only_plain_fields_are_in_records) {
  for (const ContextRow* row : known_contexts())
    for (const ContextField& field : row->fields) EXPECT_TRUE(ctf::is_plain(field.type)) << field.name;
  for (const ContextField& field : return_fields()) EXPECT_TRUE(ctf::is_plain(field.type)) << field.name;
}

TEST(Contexts, expressions_know_the_fields_of_returns) {
  for (const ContextField& field : return_fields())
    EXPECT_TRUE(script::is_of_returns(field.name)) << field.name;
}

TEST(Contexts, what_each_needs) {
  using namespace contexts;
  for (const ContextRow* row : known_contexts()) {
    const std::string word(row->words[0]);
    EXPECT_EQ(row->tells_thread(), row == &kTid || row == &kComm) << word;
    EXPECT_EQ(row->has_stack(), row == &kBacktrace) << word;
    EXPECT_EQ(row->is_dear, row == &kBacktrace) << word;
    EXPECT_EQ(row->is_pattern(), row == &kRegister || row == &kMemory) << word;
  }
}

}  // namespace
}  // namespace blip::session
