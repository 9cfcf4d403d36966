#include <algorithm>
#include <cstdint>

#include "base/file.h"
#include "lab/cell.h"

namespace weir::lab {

namespace {

constexpr std::size_t kLargestTextBytes = 1u << 20;

tl::unexpected<Error> refuse(const std::string& name, const std::string& what) {
  return fail(ErrorKind::kBadData, name, what);
}

bool leaves_folder(const std::filesystem::path& name) {
  return name.is_absolute() ||
         std::any_of(name.begin(), name.end(), [](const auto& part) { return part == ".."; });
}

/// Bytes of the code point at the head of `text` as its first byte says them; 0 when that is no first byte.
std::size_t length_of(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  if (first >= 0xF0 && first < 0xF5) return 4;
  return 0;
}

/// No overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
    const std::size_t length = length_of(byte(0));
    if (length == 0 || at + length > text.size()) return false;
    for (std::size_t i = 1; i < length; ++i)
      if ((byte(i) & 0xC0) != 0x80) return false;
    if (byte(0) == 0xE0 && byte(1) < 0xA0) return false;
    if (byte(0) == 0xED && byte(1) >= 0xA0) return false;
    if (byte(0) == 0xF0 && byte(1) < 0x90) return false;
    if (byte(0) == 0xF4 && byte(1) >= 0x90) return false;
    at += length;
  }
  return true;
}

bool is_control(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r') || c == 0x7f;
}

}  // namespace

Result<std::string> read_cell_text(const std::filesystem::path& folder, const std::string& name) {
  if (leaves_folder(name)) return refuse(name, "must be a relative path inside the cell's folder");
  std::error_code problem;
  const auto base = std::filesystem::canonical(folder.empty() ? "." : folder, problem);
  const auto path = problem ? base : std::filesystem::canonical(base / name, problem);
  if (problem) return fail(ErrorKind::kEnvironment, name, "cannot be read: " + problem.message());
  if (std::mismatch(base.begin(), base.end(), path.begin(), path.end()).first != base.end())
    return refuse(name, "is a link that leaves the cell's folder");
  if (!std::filesystem::is_regular_file(path, problem)) return refuse(name, "is not a regular file");
  auto text = read_text(path, kLargestTextBytes);
  if (!text) return text;
  if (text->empty()) return refuse(name, "is empty");
  if (!is_utf8(*text)) return refuse(name, "is not UTF-8 text");
  if (std::any_of(text->begin(), text->end(), is_control)) return refuse(name, "holds a control character");
  return text;
}

}  // namespace weir::lab
