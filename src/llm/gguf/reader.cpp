#include "llm/gguf/reader.h"

#include <utility>

#include "base/check.h"
#include "llm/gguf/header_parser.h"

namespace weir::llm {

std::uint64_t TensorInfo::rows() const noexcept {
  std::uint64_t rows = 1;
  for (std::size_t i = 1; i < dims.size(); ++i)
    rows *= dims[i];
  return rows;
}

Result<GgufFile> GgufFile::open(const std::filesystem::path& path) {
  Result<ReadOnlyFile> file = ReadOnlyFile::open(path);
  if (!file) return tl::unexpected(file.error());
  GgufFile gguf(std::move(*file));
  if (Result<void> read = gguf.read_header(); !read) return tl::unexpected(read.error());
  return gguf;
}

Result<void> GgufFile::read_header() {
  const std::string where = path().string();
  ByteCursor cursor(file_, kMaxHeaderBytes);
  const internal::Preamble preamble = internal::read_preamble(cursor);
  version_ = preamble.version;
  metadata_ = internal::read_metadata(cursor, preamble.values);
  tensors_ = internal::read_tensor_table(cursor, preamble.tensors);
  if (cursor.failed()) return tl::unexpected(*cursor.error());
  const Result<std::uint32_t> alignment = internal::alignment_of(metadata_, where);
  if (!alignment) return tl::unexpected(alignment.error());
  alignment_ = *alignment;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (!tensor_index_.emplace(tensors_[i].name, i).second)
      return fail(ErrorKind::kBadData, where, "two tensors are named " + shown_name(tensors_[i].name));
  }
  return internal::place_tensors(tensors_, cursor.offset(), alignment_, size_bytes(), where);
}

const GgufValue* GgufFile::find_value(std::string_view key) const noexcept {
  const auto found = metadata_.find(key);
  return found == metadata_.end() ? nullptr : &found->second;
}

const TensorInfo* GgufFile::find(std::string_view name) const noexcept {
  const auto found = tensor_index_.find(name);
  return found == tensor_index_.end() ? nullptr : &tensors_[found->second];
}

Result<const TensorInfo*> GgufFile::tensor(std::string_view name) const {
  if (const TensorInfo* found = find(name)) return found;
  return fail(ErrorKind::kBadData, path().string(), "has no tensor " + shown_name(name));
}

Result<void> GgufFile::read_tensor(const TensorInfo& tensor, std::span<std::byte> out) const {
  WEIR_CHECK_EQ(out.size(), tensor.size_bytes);
  return read_part(tensor, 0, out);
}

Result<void> GgufFile::read_part(const TensorInfo& tensor, std::uint64_t offset,
                                 std::span<std::byte> out) const {
  WEIR_CHECK_LE(offset, tensor.size_bytes);
  WEIR_CHECK_LE(out.size(), tensor.size_bytes - offset);
  return file_.read_at(tensor.offset + offset, out.data(), out.size());
}

Result<void> require_supported_types(const GgufFile& file) {
  for (const TensorInfo& tensor : file.tensors()) {
    const GgmlTypeInfo& info = type_info(tensor.type);
    if (!info.supported)
      return fail(ErrorKind::kBadData, file.path().string(),
                  "tensor " + shown_name(tensor.name) + " is of type " + std::string(info.name) +
                      "; weir computes with F32, F16, BF16, Q8_0, Q4_0 and Q4_1: choose such a file");
  }
  return {};
}

}  // namespace weir::llm
