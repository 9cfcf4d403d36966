#include <sys/mman.h>
#include <unistd.h>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "llm/gguf/blocks.h"
#include "llm/gguf/reader.h"

namespace {

using weir::llm::GgufFile;
using weir::llm::TensorInfo;

constexpr std::uint64_t kReadLimit = 1 << 20;

void require(bool promise) {
  if (!promise) std::abort();
}

/// Reads a tensor as the model loader does; its shape and place were checked by open().
void read_weights(const GgufFile& file, const TensorInfo& tensor) {
  require(tensor.offset + tensor.size_bytes <= file.size_bytes());
  require(tensor.size_bytes > 0 && tensor.offset % file.alignment() == 0);
  const bool supported = weir::llm::type_info(tensor.type).supported;
  if (tensor.size_bytes > kReadLimit || !supported) return;
  std::vector<std::byte> stored(tensor.size_bytes);
  require(file.read_tensor(tensor, stored).has_value());
  std::vector<float> values(tensor.elements());
  weir::llm::dequantize_rows(tensor.type, stored, values);
  if (const auto bits = static_cast<std::size_t>(weir::llm::affine_bits(tensor.type)); bits != 0) {
    std::vector<std::uint32_t> packed(values.size() / 32 * bits);
    std::vector<float> scales(values.size() / 32), biases(values.size() / 32);
    weir::llm::repack_rows(tensor.type, stored, tensor.rows(), tensor.columns(), packed, scales, biases);
  }
}

}  // namespace

/// Any bytes are either refused or a file whose every tensor can be read.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int fd = ::memfd_create("gguf", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(fd);
  require(::ftruncate(fd, 0) == 0 && ::pwrite(fd, data, size, 0) == static_cast<ssize_t>(size));
  const weir::Result<GgufFile> file = GgufFile::open(path);
  if (!file) {
    require(file.error().kind == weir::ErrorKind::kBadData);
    return 0;
  }
  for (const auto& [key, value] : file->metadata()) {
    require(file->find_value(key) == &value);
    (void)file->u32(key);
    (void)file->string(key);
  }
  for (const TensorInfo& tensor : file->tensors()) {
    require(file->find(tensor.name) == &tensor);
    read_weights(*file, tensor);
  }
  (void)weir::llm::require_supported_types(*file);
  return 0;
}
