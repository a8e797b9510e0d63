// SPDX-License-Identifier: MIT
#include "proc/permission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace blip::proc {
namespace {

using testing::HasSubstr;

AccessFacts same_user() {
  AccessFacts facts;
  facts.pid = 77;
  facts.self.uids = facts.target.uids = {1000, 1000, 1000, 1000};
  facts.self.gids = facts.target.gids = {1000, 1000, 1000, 1000};
  return facts;
}

std::string message(const AccessFacts& facts) {
  const Error error = explain_denial(facts);
  EXPECT_EQ(error.kind(), ErrorKind::kPermission);
  EXPECT_THAT(error.message(), HasSubstr("process 77"));
  return error.message();
}

TEST(Permission, other_user) {
  AccessFacts facts = same_user();
  facts.target.uids = {54321, 54321, 54321, 54321};
  EXPECT_THAT(message(facts), HasSubstr("belongs to uid 54321"));
  facts.target.uids = {1000, 0, 0, 0};
  EXPECT_THAT(message(facts), HasSubstr("belongs to uid 0 (root)"));
}

TEST(Permission, not_dumpable) {
  AccessFacts facts = same_user();
  facts.dumpable = false;
  EXPECT_THAT(message(facts), HasSubstr("PR_SET_DUMPABLE"));
}

TEST(Permission, group_and_capabilities) {
  AccessFacts facts = same_user();
  facts.target.capabilities = 1;
  EXPECT_THAT(message(facts), HasSubstr("capabilities"));
  facts.target.gids = {1000, 42, 42, 42};
  EXPECT_THAT(message(facts), HasSubstr("gid 42"));
}

TEST(Permission, yama_scopes) {
  AccessFacts facts = same_user();
  facts.yama_scope = 1;
  EXPECT_THAT(message(facts), HasSubstr("ptrace_scope is 1"));
  EXPECT_THAT(message(facts), HasSubstr("-c"));
  facts.yama_scope = 2;
  EXPECT_THAT(message(facts), HasSubstr("ptrace_scope is 2"));
  facts.yama_scope = 3;
  facts.target.uids = {0, 0, 0, 0};
  EXPECT_THAT(message(facts), HasSubstr("until the next boot"));
}

TEST(Permission, user_namespace_and_the_rest) {
  AccessFacts facts = same_user();
  EXPECT_THAT(message(facts), HasSubstr("security module"));
  facts.same_user_namespace = false;
  EXPECT_THAT(message(facts), HasSubstr("user namespace"));
}

}  // namespace
}  // namespace blip::proc
