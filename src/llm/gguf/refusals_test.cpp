#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "llm/gguf/gguf_builder.h"
#include "llm/gguf/reader.h"

namespace weir::llm {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::uint64_t kHuge = std::uint64_t{1} << 63;
constexpr std::uint32_t kF32 = 0;
constexpr std::uint32_t kQ4_1 = 3;

/// What open() says of these bytes; "opened" when it takes them.
std::string answer(const std::string& bytes) {
  const TemporaryFile file(bytes);
  const Result<GgufFile> gguf = GgufFile::open(file.path());
  if (gguf) return "opened";
  EXPECT_EQ(gguf.error().kind, ErrorKind::kBadData);
  EXPECT_EQ(gguf.error().where, file.path().string());
  return gguf.error().message;
}

std::string number(std::uint64_t value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}
std::string short_number(std::uint32_t value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

/// A file with one tensor of this shape and so many bytes of data.
std::string with_tensor(std::vector<std::uint64_t> dims, std::uint32_t type, std::size_t data_bytes,
                        std::optional<std::uint64_t> offset = std::nullopt) {
  GgufBuilder builder;
  builder.add_raw_tensor("t", std::move(dims), type, std::string(data_bytes, '\1'), offset);
  return builder.bytes();
}

TEST(GgufRefusal, OfOtherFilesShowsHowTheyStart) {
  EXPECT_THAT(answer("PK\x03\x04 and more bytes that follow"),
              HasSubstr("not a GGUF file (starts with 'PK\\x03\\x04')"));
  EXPECT_THAT(answer(""), HasSubstr("not a GGUF file (is shorter than four bytes)"));
  EXPECT_THAT(answer("GGU"), HasSubstr("not a GGUF file"));
}

TEST(GgufRefusal, OfOtherVersionsAndByteOrdersIsByName) {
  EXPECT_THAT(answer(GgufBuilder().set_version(1).bytes()), HasSubstr("GGUF version 1; weir reads"));
  EXPECT_THAT(answer(GgufBuilder().set_version(4).bytes()), HasSubstr("GGUF version 4; weir reads"));
  EXPECT_THAT(answer(GgufBuilder().set_version(0).bytes()), HasSubstr("GGUF version 0; weir reads"));
  EXPECT_THAT(answer(GgufBuilder().set_version(0x03000000).bytes()), HasSubstr("big-endian"));
}

TEST(GgufRefusal, OfEveryTruncationOfTheHeaderOrTheData) {
  GgufBuilder builder;
  builder.add_value("name", std::string("x")).add_value("list", std::vector<std::string>{"a", "bc"});
  builder.add_value("flags", std::vector<bool>{true}).add_value("numbers", std::vector<std::int32_t>{1, 2});
  builder.add_raw_tensor("t", {5}, kF32, std::string(20, '\1'));
  const std::string whole = builder.bytes();
  ASSERT_EQ(answer(whole), "opened");
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(answer(whole.substr(0, size)), "opened") << size << " of " << whole.size();
}

TEST(GgufRefusal, OfCountsThatTheFileCannotHold) {
  EXPECT_THAT(answer(GgufBuilder().set_tensor_count(kHuge).bytes()),
              AllOf(HasSubstr("the tensor count is 9223372036854775808"), HasSubstr("at byte 8")));
  EXPECT_THAT(answer(GgufBuilder().set_value_count(kHuge).bytes()),
              AllOf(HasSubstr("the metadata count is 9223372036854775808"), HasSubstr("at byte 16")));
}

TEST(GgufRefusal, OfLengthsThatTheFileCannotHold) {
  const auto with = [](std::uint32_t type, const std::string& payload) {
    return answer(GgufBuilder().add_raw_value("k", type, payload).bytes());
  };
  EXPECT_THAT(with(8, number(kHuge)), HasSubstr("a string of 9223372036854775808 bytes"));
  EXPECT_THAT(with(8, number(UINT64_MAX)), HasSubstr("a string of 18446744073709551615 bytes"));
  EXPECT_THAT(with(9, short_number(10) + number(kHuge)),
              HasSubstr("an array's length is 9223372036854775808"));
  EXPECT_THAT(with(9, short_number(10) + number(10)),
              HasSubstr("an array's length is 10 where at most 1 fit"));
  EXPECT_THAT(with(9, short_number(8) + number(1u << 30)), HasSubstr("an array's length is 1073741824"));
  EXPECT_THAT(with(9, short_number(7) + number(1u << 30)), HasSubstr("an array's length is 1073741824"));
  EXPECT_THAT(answer(GgufBuilder().add_value(std::string(65536, 'k'), true).bytes()),
              HasSubstr("a key of 65536 bytes where at most 65535 fit"));
}

TEST(GgufRefusal, OfNestedArraysAndUnknownValueTypes) {
  const std::string inner = short_number(4) + number(0);
  EXPECT_THAT(answer(GgufBuilder().add_raw_value("k", 9, short_number(9) + number(1) + inner).bytes()),
              HasSubstr("an array of arrays"));
  EXPECT_THAT(answer(GgufBuilder().add_raw_value("k", 13, number(0)).bytes()),
              HasSubstr("a value of an unknown type 13"));
  EXPECT_THAT(answer(GgufBuilder().add_raw_value("k", 9, short_number(99) + number(1) + inner).bytes()),
              HasSubstr("array elements of an unknown type 99"));
}

TEST(GgufRefusal, OfBoolsThatAreNeitherZeroNorOne) {
  EXPECT_THAT(answer(GgufBuilder().add_raw_value("k", 7, "\2").bytes()), HasSubstr("a bool that is 2"));
  EXPECT_THAT(answer(GgufBuilder().add_raw_value("k", 9, short_number(7) + number(1) + "\3").bytes()),
              HasSubstr("a bool that is 3"));
}

TEST(GgufRefusal, OfEmptyAndRepeatedNames) {
  EXPECT_THAT(answer(GgufBuilder().add_value("", true).bytes()), HasSubstr("an empty key"));
  EXPECT_THAT(answer(GgufBuilder().add_value("k", true).add_value("k", false).bytes()),
              HasSubstr("the key 'k' stands there twice"));
  EXPECT_THAT(answer(GgufBuilder().add_raw_tensor("", {1}, kF32, "1234").bytes()),
              HasSubstr("a tensor without a name"));
  EXPECT_THAT(answer(GgufBuilder()
                         .add_raw_tensor("t", {1}, kF32, "1234")
                         .add_raw_tensor("t", {1}, kF32, "1234")
                         .bytes()),
              HasSubstr("two tensors are named 't'"));
}

TEST(GgufRefusal, OfAlignmentsThatAreNotSanePowersOfTwo) {
  for (const std::uint32_t alignment : {0u, 1u, 4u, 24u, 131072u, 0x80000000u})
    EXPECT_THAT(answer(GgufBuilder().add_value("general.alignment", alignment).bytes()),
                HasSubstr("general.alignment is " + std::to_string(alignment) + ", not a power of two"));
  EXPECT_THAT(answer(GgufBuilder().add_value("general.alignment", std::uint64_t{32}).bytes()),
              HasSubstr("general.alignment is of type u64, not u32"));
}

TEST(GgufRefusal, OfShapesThatMakeNoTensor) {
  EXPECT_THAT(answer(with_tensor({}, kF32, 64)), HasSubstr("has 0 dimensions, not 1 to 4"));
  EXPECT_THAT(answer(with_tensor({1, 1, 1, 1, 1}, kF32, 64)), HasSubstr("has 5 dimensions, not 1 to 4"));
  EXPECT_THAT(answer(with_tensor({4, 0}, kF32, 64)), HasSubstr("'t' has a dimension of zero"));
  EXPECT_THAT(answer(with_tensor({kHuge, 2}, kF32, 64)), HasSubstr("more elements than a number holds"));
  EXPECT_THAT(answer(with_tensor({1u << 31, 1u << 31, 4}, kF32, 64)),
              HasSubstr("more elements than a number holds"));
  EXPECT_THAT(answer(with_tensor({std::uint64_t{1} << 62}, kF32, 64)),
              HasSubstr("more bytes than a number holds"));
  EXPECT_THAT(answer(with_tensor({48, 2}, kQ4_1, 60)), HasSubstr("not a multiple of Q4_1's 32"));
}

TEST(GgufRefusal, OfUnknownAndRetiredTensorTypes) {
  for (const std::uint32_t type : {4u, 31u, 41u, 0xffffffffu})
    EXPECT_THAT(answer(with_tensor({32}, type, 64)),
                HasSubstr("'t' is of an unknown type " + std::to_string(type)));
}

TEST(GgufRefusal, OfTensorsOutsideTheFile) {
  EXPECT_EQ(answer(with_tensor({16}, kF32, 64)), "opened");
  EXPECT_THAT(answer(with_tensor({17}, kF32, 64)), HasSubstr("'t' needs 68 bytes where the file has 64"));
  EXPECT_THAT(answer(with_tensor({16}, kF32, 64, 32)), HasSubstr("needs 64 bytes where the file has 32"));
  EXPECT_THAT(answer(with_tensor({16}, kF32, 64, kHuge)), HasSubstr("where the file has 0"));
  EXPECT_THAT(answer(with_tensor({16}, kF32, 64, UINT64_MAX - 31)), HasSubstr("where the file has 0"));
}

TEST(GgufRefusal, OfMisalignedTensors) {
  EXPECT_THAT(answer(with_tensor({8}, kF32, 64, 16)), HasSubstr("does not lie at a multiple of 32"));
}

TEST(GgufRefusal, OfOverlappingTensorsWhateverTheirOrder) {
  const auto with_offsets = [](std::uint64_t first, std::uint64_t second) {
    GgufBuilder builder;
    builder.add_raw_tensor("first", {16}, kF32, std::string(64, '\1'), first);
    builder.add_raw_tensor("second", {16}, kF32, std::string(64, '\1'), second);
    return answer(builder.bytes());
  };
  EXPECT_EQ(with_offsets(0, 64), "opened");
  EXPECT_EQ(with_offsets(64, 0), "opened");
  EXPECT_THAT(with_offsets(0, 32), HasSubstr("tensors 'first' and 'second' overlap"));
  EXPECT_THAT(with_offsets(32, 0), HasSubstr("tensors 'second' and 'first' overlap"));
  EXPECT_THAT(with_offsets(0, 0), HasSubstr("overlap"));
}

TEST(GgufRefusal, ShowsHostileNamesHarmlessly) {
  const std::string message = answer(GgufBuilder()
                                         .add_value("\x1b[2J\n" + std::string(200, 'k'), true)
                                         .add_value("\x1b[2J\n" + std::string(200, 'k'), true)
                                         .bytes());
  EXPECT_THAT(message, HasSubstr("'\\x1b[2J\\x0a"));
  EXPECT_LT(message.size(), 200u);
}

TEST(GgufRefusal, OfMissingFilesIsAMatterOfTheEnvironment) {
  const Result<GgufFile> gguf = GgufFile::open("/nonexistent/model.gguf");
  ASSERT_FALSE(gguf);
  EXPECT_EQ(gguf.error().kind, ErrorKind::kEnvironment);
}

}  // namespace
}  // namespace weir::llm
