#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "llm/gguf/ggml_type.h"
#include "llm/gguf/value.h"

namespace weir::llm {

/// Where one tensor lies. `dims` are in the file's order, fastest first: a matrix of R rows and C columns has
/// dims {C, R}; 1 to 4 of them, none zero.
struct TensorInfo {
  std::string name;
  std::vector<std::uint64_t> dims;
  GgmlType type = GgmlType::kF32;
  std::uint64_t offset = 0;      ///< From the start of the file, in bytes.
  std::uint64_t size_bytes = 0;  ///< Never zero; lies inside the file.

  /// Elements in a row (dims[0]) and rows (the product of the others).
  [[nodiscard]] std::uint64_t columns() const noexcept { return dims.empty() ? 0 : dims.front(); }
  [[nodiscard]] std::uint64_t rows() const noexcept;
  [[nodiscard]] std::uint64_t elements() const noexcept { return columns() * rows(); }
};

/// A GGUF model file, versions 2 and 3, little-endian, opened for reading only: nothing is mapped and nothing
/// is ever written. open() reads the header (metadata and tensor table) and checks every count, length and
/// offset against the file before it allocates, so memory stays within a small multiple of the header's
/// bytes. Tensors neither overlap nor leave the file; names and keys are unique. Bad bytes are kBadData with
/// their offset. Immutable after open: threads may share it.
class GgufFile {
 public:
  using Metadata = std::map<std::string, GgufValue, std::less<>>;

  /// The header may not be longer than this; the largest vocabularies need some 20 MiB.
  static constexpr std::uint64_t kMaxHeaderBytes = std::uint64_t{128} << 20;

  [[nodiscard]] static Result<GgufFile> open(const std::filesystem::path& path);

  [[nodiscard]] std::uint32_t version() const noexcept { return version_; }
  [[nodiscard]] std::uint32_t alignment() const noexcept { return alignment_; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return file_.size_bytes(); }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return file_.path(); }
  [[nodiscard]] const Metadata& metadata() const noexcept { return metadata_; }

  /// The value of a key, or nullptr.
  [[nodiscard]] const GgufValue* find_value(std::string_view key) const noexcept;
  [[nodiscard]] bool has(std::string_view key) const noexcept { return find_value(key) != nullptr; }

  /// Typed values; an absent key or another type is kBadData and names the key, the wanted and the found
  /// type. Numbers: any integer type that holds a value in range will do for u32 and u64; f32 takes f32 and
  /// f64. Views live as long as this object.
  [[nodiscard]] Result<std::uint32_t> u32(std::string_view key) const;
  [[nodiscard]] Result<std::uint64_t> u64(std::string_view key) const;
  [[nodiscard]] Result<float> f32(std::string_view key) const;
  [[nodiscard]] Result<bool> boolean(std::string_view key) const;
  [[nodiscard]] Result<std::string_view> string(std::string_view key) const;
  [[nodiscard]] Result<std::span<const std::string>> strings(std::string_view key) const;
  [[nodiscard]] Result<std::span<const std::int32_t>> i32s(std::string_view key) const;
  [[nodiscard]] Result<std::span<const float>> f32s(std::string_view key) const;
  /// The same with a value for an absent key; a key of another type is still an error.
  [[nodiscard]] Result<std::uint32_t> u32_or(std::string_view key, std::uint32_t absent) const;
  [[nodiscard]] Result<float> f32_or(std::string_view key, float absent) const;
  [[nodiscard]] Result<bool> boolean_or(std::string_view key, bool absent) const;
  [[nodiscard]] Result<std::string_view> string_or(std::string_view key, std::string_view absent) const;

  /// In the order of the file's table.
  [[nodiscard]] const std::vector<TensorInfo>& tensors() const noexcept { return tensors_; }
  /// The tensor of this name, or nullptr.
  [[nodiscard]] const TensorInfo* find(std::string_view name) const noexcept;
  /// The tensor of this name; its absence is kBadData.
  [[nodiscard]] Result<const TensorInfo*> tensor(std::string_view name) const;

  /// Fills `out`, exactly tensor.size_bytes long, with the tensor's stored bytes.
  [[nodiscard]] Result<void> read_tensor(const TensorInfo& tensor, std::span<std::byte> out) const;
  /// Fills `out` with the tensor's bytes from `offset` (within the tensor) on.
  [[nodiscard]] Result<void> read_part(const TensorInfo& tensor, std::uint64_t offset,
                                       std::span<std::byte> out) const;

  /// Tells the kernel that this file's page cache will not be read again.
  void forget_pages() const noexcept { file_.forget_pages(); }

 private:
  explicit GgufFile(ReadOnlyFile file) : file_(std::move(file)) {}
  [[nodiscard]] Result<void> read_header();
  template <class T>
  [[nodiscard]] Result<T> unsigned_integer(std::string_view key, std::string_view wanted) const;
  template <class T>
  [[nodiscard]] Result<const T*> value_of(std::string_view key, std::string_view wanted) const;

  ReadOnlyFile file_;
  std::uint32_t version_ = 0;
  std::uint32_t alignment_ = 0;
  Metadata metadata_;
  std::vector<TensorInfo> tensors_;
  std::map<std::string, std::size_t, std::less<>> tensor_index_;
};

/// Refuses (kBadData) a file with a tensor of a type that weir does not compute with, naming tensor and type;
/// to be asked before a weight is read.
[[nodiscard]] Result<void> require_supported_types(const GgufFile& file);

}  // namespace weir::llm
