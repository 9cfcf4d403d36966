#include "llm/gguf/reader.h"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "llm/gguf/blocks.h"
#include "llm/gguf/gguf_builder.h"

namespace weir::llm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<float> ramp(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(i) - 3.5f;
  return values;
}

GgufBuilder two_tensors() {
  GgufBuilder builder;
  builder.add_value("general.architecture", std::string("llama"))
      .add_tensor("a", {3, 2}, GgmlType::kF32, ramp(6))
      .add_tensor("b", {64, 1, 2}, GgmlType::kQ8_0, ramp(128));
  return builder;
}

TEST(GgufFile, ReadsEveryMetadataType) {
  GgufBuilder builder;
  builder.add_value("u8", std::uint8_t{200}).add_value("i8", std::int8_t{-3});
  builder.add_value("u16", std::uint16_t{60000}).add_value("i16", std::int16_t{-300});
  builder.add_value("u32", std::uint32_t{4000000000}).add_value("i32", std::int32_t{-7});
  builder.add_value("u64", std::uint64_t{1} << 63).add_value("i64", std::int64_t{INT64_MIN});
  builder.add_value("f32", 0.1f).add_value("f64", 0.1).add_value("bool", true);
  builder.add_value("string", std::string("a\0b", 3));
  builder.add_value("u8s", std::vector<std::uint8_t>{1, 2}).add_value("i8s", std::vector<std::int8_t>{-1});
  builder.add_value("u16s", std::vector<std::uint16_t>{9}).add_value("i16s", std::vector<std::int16_t>{-9});
  builder.add_value("u32s", std::vector<std::uint32_t>{}).add_value("i32s", std::vector<std::int32_t>{5, -5});
  builder.add_value("u64s", std::vector<std::uint64_t>{8}).add_value("i64s", std::vector<std::int64_t>{-8});
  builder.add_value("f32s", std::vector<float>{1.5f}).add_value("f64s", std::vector<double>{2.5});
  builder.add_value("bools", std::vector<bool>{true, false, true});
  builder.add_value("strings", std::vector<std::string>{"x", "", "ÿz"});
  const TemporaryFile file(builder.bytes());
  const GgufFile gguf = value_or_throw(GgufFile::open(file.path()));

  EXPECT_EQ(gguf.metadata().size(), 24u);
  const auto holds = [&](std::string_view key, const GgufValue& value) {
    ASSERT_NE(gguf.find_value(key), nullptr) << key;
    EXPECT_TRUE(*gguf.find_value(key) == value) << key;
  };
  holds("u8", std::uint8_t{200});
  holds("i8", std::int8_t{-3});
  holds("u16", std::uint16_t{60000});
  holds("i16", std::int16_t{-300});
  holds("u32", std::uint32_t{4000000000});
  holds("i32", std::int32_t{-7});
  holds("u64", std::uint64_t{1} << 63);
  holds("i64", std::int64_t{INT64_MIN});
  holds("f32", 0.1f);
  holds("f64", 0.1);
  holds("bool", true);
  holds("string", std::string("a\0b", 3));
  holds("u8s", std::vector<std::uint8_t>{1, 2});
  holds("i8s", std::vector<std::int8_t>{-1});
  holds("u16s", std::vector<std::uint16_t>{9});
  holds("i16s", std::vector<std::int16_t>{-9});
  holds("u32s", std::vector<std::uint32_t>{});
  holds("i32s", std::vector<std::int32_t>{5, -5});
  holds("u64s", std::vector<std::uint64_t>{8});
  holds("i64s", std::vector<std::int64_t>{-8});
  holds("f32s", std::vector<float>{1.5f});
  holds("f64s", std::vector<double>{2.5});
  holds("bools", std::vector<bool>{true, false, true});
  holds("strings", std::vector<std::string>{"x", "", "ÿz"});
  EXPECT_EQ(type_name(*gguf.find_value("bools")), "array of bool");
  EXPECT_EQ(type_name(*gguf.find_value("f64")), "f64");
}

TEST(GgufFile, TypedValuesNameKeyWantedAndFoundType) {
  GgufBuilder builder;
  builder.add_value("n", std::int32_t{-1}).add_value("s", std::string("text")).add_value("f", 0.5);
  builder.add_value("small", std::uint16_t{12}).add_value("words", std::vector<std::string>{"a", "b"});
  const TemporaryFile file(builder.bytes());
  const GgufFile gguf = value_or_throw(GgufFile::open(file.path()));

  EXPECT_EQ(gguf.u32("small").value(), 12u);
  EXPECT_EQ(gguf.u64("small").value(), 12u);
  EXPECT_EQ(gguf.f32("f").value(), 0.5f);
  EXPECT_EQ(gguf.string("s").value(), "text");
  EXPECT_THAT(gguf.strings("words").value(), ElementsAre("a", "b"));
  EXPECT_EQ(gguf.u32_or("absent", 5).value(), 5u);
  EXPECT_EQ(gguf.f32_or("absent", 0.5f).value(), 0.5f);
  EXPECT_EQ(gguf.boolean_or("absent", true).value(), true);
  EXPECT_EQ(gguf.string_or("absent", "x").value(), "x");

  EXPECT_THAT(gguf.u32("n").error().message, HasSubstr("key 'n' is of type i32 -1, not u32"));
  EXPECT_THAT(gguf.u32_or("s", 1).error().message, HasSubstr("key 's' is of type string, not u32"));
  EXPECT_THAT(gguf.i32s("words").error().message, HasSubstr("of type array of string, not array of i32"));
  EXPECT_THAT(gguf.boolean("absent").error().message, HasSubstr("key 'absent' is missing (wanted: bool)"));
  EXPECT_EQ(gguf.boolean("absent").error().kind, ErrorKind::kBadData);
}

TEST(GgufFile, ListsTensorsWithShapesAndPlaces) {
  const TemporaryFile file(two_tensors().bytes());
  const GgufFile gguf = value_or_throw(GgufFile::open(file.path()));
  EXPECT_EQ(gguf.version(), 3u);
  EXPECT_EQ(gguf.alignment(), 32u);
  ASSERT_EQ(gguf.tensors().size(), 2u);
  const TensorInfo& b = gguf.tensors()[1];
  EXPECT_EQ(b.name, "b");
  EXPECT_THAT(b.dims, ElementsAre(64u, 1u, 2u));
  EXPECT_EQ(b.columns(), 64u);
  EXPECT_EQ(b.rows(), 2u);
  EXPECT_EQ(b.size_bytes, 4 * kQ8_0Bytes);
  EXPECT_EQ(b.offset + b.size_bytes, gguf.size_bytes());
  EXPECT_EQ(gguf.find("b"), &b);
  EXPECT_EQ(gguf.find("c"), nullptr);
  EXPECT_THAT(gguf.tensor("c").error().message, HasSubstr("has no tensor 'c'"));
}

TEST(GgufFile, ReadsATensorsBytesWholeAndInPart) {
  const TemporaryFile file(two_tensors().bytes());
  const GgufFile gguf = value_or_throw(GgufFile::open(file.path()));
  const TensorInfo& a = *gguf.find("a");
  std::vector<float> values(6);
  ASSERT_TRUE(gguf.read_tensor(a, std::as_writable_bytes(std::span(values))));
  EXPECT_EQ(values, ramp(6));
  std::vector<float> part(2);
  ASSERT_TRUE(gguf.read_part(a, 12, std::as_writable_bytes(std::span(part))));
  EXPECT_THAT(part, ElementsAre(-0.5f, 0.5f));
  EXPECT_THROW((void)gguf.read_part(a, 20, std::as_writable_bytes(std::span(part))), Failure);
}

TEST(GgufFile, ReadsVersionTwoAndOtherAlignments) {
  for (const std::uint32_t alignment : {8u, 64u, 4096u}) {
    const TemporaryFile file(two_tensors().set_version(2).set_alignment(alignment).bytes());
    const GgufFile gguf = value_or_throw(GgufFile::open(file.path()));
    EXPECT_EQ(gguf.version(), 2u);
    EXPECT_EQ(gguf.find("b")->offset % alignment, 0u);
    std::vector<float> values(6);
    ASSERT_TRUE(gguf.read_tensor(*gguf.find("a"), std::as_writable_bytes(std::span(values))));
    EXPECT_EQ(values, ramp(6));
  }
}

TEST(GgufFile, ReadsStringsLongerThanItsBuffer) {
  GgufBuilder builder;
  builder.add_value("long", std::string(300000, 'x') + "end").add_value("after", std::uint32_t{7});
  const TemporaryFile file(builder.bytes());
  const GgufFile gguf = value_or_throw(GgufFile::open(file.path()));
  EXPECT_EQ(gguf.string("long").value().size(), 300003u);
  EXPECT_EQ(gguf.string("long").value().substr(299999), "xend");
  EXPECT_EQ(gguf.u32("after").value(), 7u);
}

TEST(GgufFile, OpensWithoutTensorsOrMetadata) {
  const TemporaryFile file(GgufBuilder().bytes());
  const GgufFile gguf = value_or_throw(GgufFile::open(file.path()));
  EXPECT_TRUE(gguf.tensors().empty());
  EXPECT_TRUE(gguf.metadata().empty());
}

TEST(SupportedTypes, AreAcceptedAndOthersRefusedByTensorAndType) {
  GgufBuilder builder = two_tensors();
  const TemporaryFile good(builder.bytes());
  EXPECT_TRUE(require_supported_types(value_or_throw(GgufFile::open(good.path()))));
  builder.add_raw_tensor("blk.0.ffn_up.weight", {256, 2}, 14, std::string(420, '\0'));
  const TemporaryFile file(builder.bytes());
  const GgufFile gguf = value_or_throw(GgufFile::open(file.path()));
  EXPECT_EQ(gguf.find("blk.0.ffn_up.weight")->size_bytes, 420u);
  const Result<void> refused = require_supported_types(gguf);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kBadData);
  EXPECT_THAT(refused.error().message, HasSubstr("'blk.0.ffn_up.weight' is of type Q6_K"));
}

}  // namespace
}  // namespace weir::llm
