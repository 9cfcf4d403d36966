#include "base/sha256.h"

#include <openssl/evp.h>
#include <algorithm>
#include <memory>
#include <vector>

#include "base/check.h"

namespace weir {

namespace {

class Digest {
 public:
  Digest() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    WEIR_CHECK(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
  }
  void add(const void* bytes, std::size_t count) {
    WEIR_CHECK(EVP_DigestUpdate(context_.get(), bytes, count) == 1);
  }
  std::string hex() {
    unsigned char raw[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    WEIR_CHECK(EVP_DigestFinal_ex(context_.get(), raw, &length) == 1);
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (unsigned i = 0; i < length; ++i) {
      text += kDigits[raw[i] >> 4];
      text += kDigits[raw[i] & 15];
    }
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  Digest digest;
  digest.add(bytes.data(), bytes.size());
  return digest.hex();
}

Result<std::string> sha256_hex(const ReadOnlyFile& file) {
  Digest digest;
  std::vector<char> part(1u << 20);
  for (std::uint64_t offset = 0; offset < file.size_bytes();) {
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(part.size(), file.size_bytes() - offset));
    if (auto read = file.read_at(offset, part.data(), count); !read) return tl::unexpected(read.error());
    digest.add(part.data(), count);
    offset += count;
  }
  return digest.hex();
}

}  // namespace weir
