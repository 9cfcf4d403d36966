#include "llm/gguf/byte_cursor.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace weir::llm {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{64} << 10;

}  // namespace

ByteCursor::ByteCursor(const ReadOnlyFile& file, std::uint64_t bound_bytes)
    : file_(file), end_(std::min(file.size_bytes(), bound_bytes)) {}

void ByteCursor::refuse(std::uint64_t offset, const std::string& message) {
  if (error_) return;
  error_ = Error{ErrorKind::kBadData, file_.path().string(), message + ", at byte " + std::to_string(offset)};
}

bool ByteCursor::refill() {
  buffer_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kBufferBytes, bytes_left())));
  buffer_start_ = offset_;
  if (const Result<void> read = file_.read_at(offset_, buffer_.data(), buffer_.size()); !read) {
    buffer_.clear();
    error_ = read.error();
  }
  return !error_;
}

void ByteCursor::bytes(void* out, std::size_t size, const char* what) {
  if (error_) return;
  if (size > bytes_left()) {
    const char* end = end_ == file_.size_bytes() ? "the file ends" : "the header passes its largest size";
    refuse(offset_, std::string(end) + " within " + what);
    return;
  }
  auto* to = static_cast<std::byte*>(out);
  while (size > 0) {
    const std::uint64_t used = offset_ - buffer_start_;
    if (used >= buffer_.size() && !refill()) return;
    const auto from = static_cast<std::size_t>(offset_ - buffer_start_);
    const std::size_t part = std::min(size, buffer_.size() - from);
    std::memcpy(to, buffer_.data() + from, part);
    to += part;
    size -= part;
    offset_ += part;
  }
}

std::string ByteCursor::string(const char* what, std::uint64_t limit_bytes) {
  const std::uint64_t at = offset_;
  const auto length = number<std::uint64_t>(what);
  if (failed()) return {};
  if (length > std::min(limit_bytes, bytes_left())) {
    refuse(at, std::string(what) + " of " + std::to_string(length) + " bytes where at most " +
                   std::to_string(std::min(limit_bytes, bytes_left())) + " fit");
    return {};
  }
  std::string text(static_cast<std::size_t>(length), '\0');
  bytes(text.data(), text.size(), what);
  return text;
}

std::uint64_t ByteCursor::count(const char* what, std::uint64_t least_bytes) {
  const std::uint64_t at = offset_;
  const auto value = number<std::uint64_t>(what);
  if (failed()) return 0;
  if (value <= bytes_left() / least_bytes) return value;
  refuse(at, std::string(what) + " is " + std::to_string(value) + " where at most " +
                 std::to_string(bytes_left() / least_bytes) + " fit");
  return 0;
}

std::string shown_name(std::string_view name) {
  constexpr std::size_t kShown = 80;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "'";
  for (const char c : name.substr(0, kShown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      text += c;
    } else {
      text += "\\x";
      text += kDigits[byte >> 4];
      text += kDigits[byte & 15];
    }
  }
  return text + (name.size() > kShown ? "…'" : "'");
}

}  // namespace weir::llm
