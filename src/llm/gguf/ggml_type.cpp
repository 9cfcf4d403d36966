#include "llm/gguf/ggml_type.h"

#include <algorithm>

#include "base/check.h"

namespace weir::llm {
namespace {

constexpr GgmlTypeInfo row(std::uint32_t number, std::string_view name, std::uint32_t elements,
                           std::uint32_t bytes, bool supported = false) {
  return {static_cast<GgmlType>(number), name, elements, bytes, supported};
}

// Numbers 4, 5, 31 to 33 and 36 to 38 were given to types that have since been retired.
constexpr GgmlTypeInfo kTypes[] = {
    row(0, "F32", 1, 4, true),    row(1, "F16", 1, 2, true),   row(2, "Q4_0", 32, 18, true),
    row(3, "Q4_1", 32, 20, true), row(6, "Q5_0", 32, 22),      row(7, "Q5_1", 32, 24),
    row(8, "Q8_0", 32, 34, true), row(9, "Q8_1", 32, 36),      row(10, "Q2_K", 256, 84),
    row(11, "Q3_K", 256, 110),    row(12, "Q4_K", 256, 144),   row(13, "Q5_K", 256, 176),
    row(14, "Q6_K", 256, 210),    row(15, "Q8_K", 256, 292),   row(16, "IQ2_XXS", 256, 66),
    row(17, "IQ2_XS", 256, 74),   row(18, "IQ3_XXS", 256, 98), row(19, "IQ1_S", 256, 50),
    row(20, "IQ4_NL", 32, 18),    row(21, "IQ3_S", 256, 110),  row(22, "IQ2_S", 256, 82),
    row(23, "IQ4_XS", 256, 136),  row(24, "I8", 1, 1),         row(25, "I16", 1, 2),
    row(26, "I32", 1, 4),         row(27, "I64", 1, 8),        row(28, "F64", 1, 8),
    row(29, "IQ1_M", 256, 56),    row(30, "BF16", 1, 2, true), row(34, "TQ1_0", 256, 54),
    row(35, "TQ2_0", 256, 66),    row(39, "MXFP4", 32, 17),    row(40, "NVFP4", 64, 36),
};

}  // namespace

const GgmlTypeInfo* find_type(std::uint32_t number) noexcept {
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes), [number](const GgmlTypeInfo& info) {
    return static_cast<std::uint32_t>(info.type) == number;
  });
  return found == std::end(kTypes) ? nullptr : found;
}

const GgmlTypeInfo& type_info(GgmlType type) {
  const GgmlTypeInfo* info = find_type(static_cast<std::uint32_t>(type));
  WEIR_CHECK(info != nullptr);
  return *info;
}

std::uint64_t stored_bytes(GgmlType type, std::uint64_t elements) {
  const GgmlTypeInfo& info = type_info(type);
  WEIR_CHECK_EQ(elements % info.block_elements, 0u);
  return elements / info.block_elements * info.block_bytes;
}

}  // namespace weir::llm
