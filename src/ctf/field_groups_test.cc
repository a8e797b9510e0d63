// SPDX-License-Identifier: MIT
#include "ctf/field_groups.h"

#include <gtest/gtest.h>

namespace blip::ctf {
namespace {

Field field(std::string name, FieldGroup group) {
  return {.name = std::move(name), .type = FieldType::kUint64, .group = group};
}

TEST(FieldGroups, names_of_any_bytes_come_back) {
  const std::vector<Field> payload = {field("ret", FieldGroup::kOwn),
                                      field("n", FieldGroup::kArgument),
                                      field("a + b,c&d=e%", FieldGroup::kArgument),
                                      field("$return", FieldGroup::kCapture),
                                      field("", FieldGroup::kCapture),
                                      field("x\"\n\xff\\", FieldGroup::kContext)};
  const std::string uri = payload_uri(payload);
  EXPECT_EQ(uri.find_first_of("\"\\\n \xff"), std::string::npos) << uri;
  const auto names = parse_payload_uri(uri);
  ASSERT_TRUE(names);
  ASSERT_EQ(names->size(), payload.size());
  for (size_t i = 0; i < payload.size(); ++i)
    EXPECT_EQ((*names)[i], (GroupedName{payload[i].group, payload[i].name})) << i;
}

TEST(FieldGroups, a_context_is_one_wherever_it_lies) {
  Field in_scope = field("cpu", FieldGroup::kCapture);
  in_scope.is_context = true;
  EXPECT_EQ(payload_uri(std::vector{in_scope}), "blip:event?context=cpu");
  EXPECT_EQ(payload_uri({}), "blip:event?");
}

TEST(FieldGroups, what_no_blip_wrote) {
  EXPECT_FALSE(parse_payload_uri(""));
  EXPECT_FALSE(parse_payload_uri("http://example.org/event"));
  EXPECT_FALSE(parse_payload_uri("blip:event?strange=x"));
  EXPECT_EQ(parse_payload_uri("blip:event?")->size(), 0U);
  EXPECT_EQ(parse_payload_uri("blip:event?args=a%2,%zz,%")->size(), 3U);
  EXPECT_EQ((*parse_payload_uri("blip:event?args=%"))[0].name, "%");
}

}  // namespace
}  // namespace blip::ctf
