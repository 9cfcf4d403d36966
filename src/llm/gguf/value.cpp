#include "llm/gguf/value.h"

#include <array>

namespace weir::llm {

std::string_view type_name(const GgufValue& value) noexcept {
  // In the order of the variant's alternatives.
  static constexpr std::array<std::string_view, std::variant_size_v<GgufValue>> kNames = {"u8",
                                                                                          "i8",
                                                                                          "u16",
                                                                                          "i16",
                                                                                          "u32",
                                                                                          "i32",
                                                                                          "f32",
                                                                                          "bool",
                                                                                          "string",
                                                                                          "u64",
                                                                                          "i64",
                                                                                          "f64",
                                                                                          "array of u8",
                                                                                          "array of i8",
                                                                                          "array of u16",
                                                                                          "array of i16",
                                                                                          "array of u32",
                                                                                          "array of i32",
                                                                                          "array of f32",
                                                                                          "array of bool",
                                                                                          "array of string",
                                                                                          "array of u64",
                                                                                          "array of i64",
                                                                                          "array of f64"};
  return kNames[value.index()];
}

}  // namespace weir::llm
