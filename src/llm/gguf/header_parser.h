#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "llm/gguf/byte_cursor.h"
#include "llm/gguf/reader.h"

namespace weir::llm::internal {

// The header of a GGUF file, all numbers little-endian:
//
//   "GGUF" | version u32 | tensor count u64 | metadata count u64
//   metadata:  key string | type u32 | value            (as often as counted)
//     array:   element type u32 | count u64 | elements
//     string:  length u64 | bytes
//   tensors:   name string | dimension count u32 | dimensions u64 each | type u32 | offset u64
//   zeros up to a multiple of the alignment, then the tensors' bytes; offsets count from there

struct Preamble {
  std::uint32_t version = 0;
  std::uint64_t tensors = 0;
  std::uint64_t values = 0;
};

/// These read on from the cursor; what is wrong is noted there.
[[nodiscard]] Preamble read_preamble(ByteCursor& cursor);
[[nodiscard]] GgufFile::Metadata read_metadata(ByteCursor& cursor, std::uint64_t count);
/// Offsets still count from the start of the data.
[[nodiscard]] std::vector<TensorInfo> read_tensor_table(ByteCursor& cursor, std::uint64_t count);

/// The file's alignment: 32 unless the metadata says otherwise; a power of two from 8 to 64 KiB.
[[nodiscard]] Result<std::uint32_t> alignment_of(const GgufFile::Metadata& metadata,
                                                 const std::string& where);
/// Makes the offsets absolute. Refuses tensors that are misaligned, overlap or leave the file.
[[nodiscard]] Result<void> place_tensors(std::vector<TensorInfo>& tensors, std::uint64_t header_bytes,
                                         std::uint32_t alignment, std::uint64_t file_bytes,
                                         const std::string& where);

}  // namespace weir::llm::internal
