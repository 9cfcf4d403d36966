#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "llm/gguf/header_parser.h"

namespace weir::llm::internal {
namespace {

constexpr std::uint64_t kMaxNameBytes = 1024;
constexpr std::uint32_t kMaxDims = 4;
// The least an entry takes: a length and one byte of name, the count and one dimension, the type, the offset.
constexpr std::uint64_t kLeastEntryBytes = 8 + 1 + 4 + 8 + 4 + 8;
// The least a key-value pair takes: a length and one byte of key, the type, one byte of value.
constexpr std::uint64_t kLeastPairBytes = 8 + 1 + 4 + 1;
constexpr std::uint64_t kMaxTensorBytes = INT64_MAX;

/// Checks the shape against the type and computes the stored size; what is wrong in words, or "".
std::string size_tensor(TensorInfo& tensor) {
  const GgmlTypeInfo& info = type_info(tensor.type);
  std::uint64_t elements = 1;
  for (const std::uint64_t dim : tensor.dims) {
    if (dim == 0) return " has a dimension of zero";
    if (dim > kMaxTensorBytes / elements) return " has more elements than a number holds";
    elements *= dim;
  }
  if (tensor.columns() % info.block_elements != 0)
    return " has rows of " + std::to_string(tensor.columns()) + " elements, not a multiple of " +
           std::string(info.name) + "'s " + std::to_string(info.block_elements);
  const std::uint64_t blocks = elements / info.block_elements;
  if (blocks > kMaxTensorBytes / info.block_bytes) return " has more bytes than a number holds";
  tensor.size_bytes = blocks * info.block_bytes;
  return "";
}

TensorInfo read_entry(ByteCursor& cursor) {
  TensorInfo tensor;
  const std::uint64_t at = cursor.offset();
  tensor.name = cursor.string("a tensor's name", kMaxNameBytes);
  const auto dims = cursor.number<std::uint32_t>("a tensor's dimensions");
  if (cursor.failed()) return tensor;
  const std::string subject = "tensor " + shown_name(tensor.name);
  if (tensor.name.empty()) cursor.refuse(at, "a tensor without a name");
  if (dims < 1 || dims > kMaxDims)
    cursor.refuse(at, subject + " has " + std::to_string(dims) + " dimensions, not 1 to 4");
  for (std::uint32_t i = 0; i < dims && !cursor.failed(); ++i)
    tensor.dims.push_back(cursor.number<std::uint64_t>("a tensor's dimensions"));
  const auto type = cursor.number<std::uint32_t>("a tensor's type");
  tensor.offset = cursor.number<std::uint64_t>("a tensor's offset");
  if (cursor.failed()) return tensor;
  const GgmlTypeInfo* info = find_type(type);
  if (info == nullptr) {
    cursor.refuse(at, subject + " is of an unknown type " + std::to_string(type));
    return tensor;
  }
  tensor.type = info->type;
  if (const std::string wrong = size_tensor(tensor); !wrong.empty()) cursor.refuse(at, subject + wrong);
  return tensor;
}

}  // namespace

Preamble read_preamble(ByteCursor& cursor) {
  Preamble preamble;
  char magic[4] = {};
  if (cursor.bytes_left() >= sizeof magic) cursor.bytes(magic, sizeof magic, "the first four bytes");
  if (std::memcmp(magic, "GGUF", sizeof magic) != 0) {
    const std::string start = cursor.offset() == 0 ? "is shorter than four bytes"
                                                   : "starts with " + shown_name({magic, sizeof magic});
    cursor.refuse(0, "not a GGUF file (" + start + ")");
    return preamble;
  }
  preamble.version = cursor.number<std::uint32_t>("the version");
  if (cursor.failed()) return preamble;
  if (preamble.version != 0 && (preamble.version & 0xffffu) == 0)
    cursor.refuse(4, "a big-endian GGUF file; weir reads little-endian ones");
  else if (preamble.version < 2 || preamble.version > 3)
    cursor.refuse(4, "GGUF version " + std::to_string(preamble.version) + "; weir reads versions 2 and 3");
  preamble.tensors = cursor.count("the tensor count", kLeastEntryBytes);
  preamble.values = cursor.count("the metadata count", kLeastPairBytes);
  return preamble;
}

std::vector<TensorInfo> read_tensor_table(ByteCursor& cursor, std::uint64_t count) {
  std::vector<TensorInfo> tensors;
  for (std::uint64_t i = 0; i < count && !cursor.failed(); ++i)
    tensors.push_back(read_entry(cursor));
  return tensors;
}

Result<void> place_tensors(std::vector<TensorInfo>& tensors, std::uint64_t header_bytes,
                           std::uint32_t alignment, std::uint64_t file_bytes, const std::string& where) {
  const std::uint64_t data = (header_bytes + alignment - 1) / alignment * alignment;
  const std::uint64_t data_bytes = data <= file_bytes ? file_bytes - data : 0;
  for (TensorInfo& tensor : tensors) {
    const std::string subject = "tensor " + shown_name(tensor.name);
    const std::string at = ", at data offset " + std::to_string(tensor.offset);
    if (tensor.offset % alignment != 0)
      return fail(ErrorKind::kBadData, where,
                  subject + " does not lie at a multiple of " + std::to_string(alignment) + at);
    if (tensor.offset > data_bytes || tensor.size_bytes > data_bytes - tensor.offset)
      return fail(ErrorKind::kBadData, where,
                  subject + " needs " + std::to_string(tensor.size_bytes) + " bytes where the file has " +
                      std::to_string(data_bytes - std::min(tensor.offset, data_bytes)) + at +
                      "; is the download complete?");
    tensor.offset += data;
  }
  std::vector<const TensorInfo*> order;
  for (const TensorInfo& tensor : tensors)
    order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->offset < b->offset; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (order[i - 1]->offset + order[i - 1]->size_bytes > order[i]->offset)
      return fail(ErrorKind::kBadData, where,
                  "tensors " + shown_name(order[i - 1]->name) + " and " + shown_name(order[i]->name) +
                      " overlap at byte " + std::to_string(order[i]->offset));
  }
  return {};
}

}  // namespace weir::llm::internal
