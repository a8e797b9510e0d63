// SPDX-License-Identifier: MIT
#include "proc/files/permission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace blip::proc {
namespace {

using testing::HasSubstr;
using testing::Not;

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

TEST(Permission, an_executable_that_may_not_be_read) {
  AccessFacts facts = same_user();
  facts.unreadable_executable = "/opt/secret";
  EXPECT_THAT(message(facts), Not(HasSubstr("/opt/secret")));  // not the cause while it is dumpable
  facts.dumpable = false;
  EXPECT_THAT(message(facts), HasSubstr("/opt/secret, which this user may execute but not read"));
}

TEST(Permission, root_in_a_container_without_the_capability) {
  AccessFacts facts = same_user();
  facts.self.uids = {0, 0, 0, 0};
  facts.self.capabilities = 0x00000000a80425fb;  // docker's default set
  EXPECT_THAT(message(facts), HasSubstr("lacks CAP_SYS_PTRACE"));
  facts.self.capabilities |= uint64_t{1} << 19;
  EXPECT_THAT(message(facts), Not(HasSubstr("CAP_SYS_PTRACE")));
}

TEST(Permission, security_modules_and_filters_come_last) {
  AccessFacts facts = same_user();
  facts.security_label = "unconfined";
  EXPECT_THAT(message(facts), Not(HasSubstr("label")));
  facts.security_label = "docker-default (enforce)";
  EXPECT_THAT(message(facts), HasSubstr("label 'docker-default (enforce)'"));
  facts.self.seccomp_mode = 2;
  EXPECT_THAT(message(facts), HasSubstr("seccomp filter"));
  facts.yama_scope = 1;
  EXPECT_THAT(message(facts), HasSubstr("ptrace_scope is 1"));
}

}  // namespace
}  // namespace blip::proc
