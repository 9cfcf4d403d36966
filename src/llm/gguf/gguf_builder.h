#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "llm/gguf/ggml_type.h"
#include "llm/gguf/value.h"

namespace weir::llm {

/// For tests: writes GGUF files, right ones and, with the knobs, wrong ones. Nothing is checked: a key may be
/// added twice, a shape may lie about its data.
class GgufBuilder {
 public:
  GgufBuilder& add_value(std::string key, GgufValue value);
  /// Replaces the key's value, or adds it.
  GgufBuilder& set_value(const std::string& key, GgufValue value);
  GgufBuilder& remove_value(std::string_view key);
  /// `type` and `payload` go into the file as they are.
  GgufBuilder& add_raw_value(std::string key, std::uint32_t type, std::string payload);

  /// Encodes `values` (see encode_blocks()); `dims` are in the file's order, fastest first.
  GgufBuilder& add_tensor(std::string name, std::vector<std::uint64_t> dims, GgmlType type,
                          std::span<const float> values);
  /// `type` need not be known. Without an offset the data follows the tensor before, aligned.
  GgufBuilder& add_raw_tensor(std::string name, std::vector<std::uint64_t> dims, std::uint32_t type,
                              std::string data, std::optional<std::uint64_t> offset = std::nullopt);
  GgufBuilder& remove_tensor(std::string_view name);

  GgufBuilder& set_version(std::uint32_t version);
  /// Sets general.alignment and lays the data out so.
  GgufBuilder& set_alignment(std::uint32_t alignment);
  /// Counts in the preamble other than the true ones.
  GgufBuilder& set_tensor_count(std::uint64_t count);
  GgufBuilder& set_value_count(std::uint64_t count);

  /// The file.
  [[nodiscard]] std::string bytes() const;

 private:
  struct Value {
    std::string key;
    std::uint32_t type;
    std::string payload;
  };
  struct Tensor {
    std::string name;
    std::vector<std::uint64_t> dims;
    std::uint32_t type;
    std::string data;
    std::optional<std::uint64_t> offset;
  };

  std::uint32_t version_ = 3;
  std::uint32_t alignment_ = 32;
  std::optional<std::uint64_t> tensor_count_, value_count_;
  std::vector<Value> values_;
  std::vector<Tensor> tensors_;
};

/// For tests: a file of its own in the temporary folder, gone with this object.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content);
  ~TemporaryFile();
  TemporaryFile(TemporaryFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFile& operator=(TemporaryFile&&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace weir::llm
