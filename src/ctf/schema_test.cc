// SPDX-License-Identifier: MIT
#include "ctf/schema.h"

#include <gtest/gtest.h>

namespace blip::ctf {
namespace {

TEST(Schema, contexts_come_first_and_fields_lie_back_to_back) {
  EventClass c{1,
               "f",
               {{"a", FieldType::kUint32},
                {"tid", FieldType::kInt32, 0, true},
                {"b", FieldType::kHex64},
                {"comm", FieldType::kText16, 0, true}}};
  lay_out(c);
  std::string order;
  for (const Field& f : c.fields) order += f.name + "@" + std::to_string(f.offset) + " ";
  EXPECT_EQ(order, "tid@8 comm@12 a@28 b@32 ");
  EXPECT_EQ(c.record_size, 40u);
  EXPECT_EQ(fields_size(c), 32u);
}

TEST(Schema, a_record_is_rounded_up_to_eight_bytes_but_its_fields_are_not) {
  EventClass c{1, "f", {{"tid", FieldType::kInt32}}};
  lay_out(c);
  EXPECT_EQ(c.record_size, 16u);
  EXPECT_EQ(fields_size(c), 4u);
}

TEST(Schema, a_class_without_fields_is_a_header) {
  EventClass c{1, "f", {}};
  lay_out(c);
  EXPECT_EQ(c.record_size, 8u);
  EXPECT_EQ(fields_size(c), 0u);
}

TEST(Schema, sizes) {
  EXPECT_EQ(field_size(FieldType::kInt32), 4u);
  EXPECT_EQ(field_size(FieldType::kUint32), 4u);
  EXPECT_EQ(field_size(FieldType::kUint64), 8u);
  EXPECT_EQ(field_size(FieldType::kHex64), 8u);
  EXPECT_EQ(field_size(FieldType::kText16), 16u);
}

}  // namespace
}  // namespace blip::ctf
