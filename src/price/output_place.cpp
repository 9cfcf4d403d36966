#include "price/output_place.h"

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>

#include "base/file.h"
#include "base/owned_fd.h"

namespace weir::price {

namespace {

constexpr std::size_t kReportBytes = 256 << 10;

}  // namespace

Result<void> check_room(const std::filesystem::path& folder, std::size_t size_bytes,
                        const std::string& mend) {
  const auto refused = [&](int number) {
    Error error = system_error(folder, "write here", number);
    error.message = error.message.substr(0, error.message.find(';')) + "; " + mend;
    return tl::unexpected(std::move(error));
  };
  std::string name = (folder / ".weir-room.XXXXXX").string();
  const OwnedFd fd(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd) return refused(errno);
  const int number = ::posix_fallocate(fd.get(), 0, static_cast<off_t>(size_bytes));
  ::unlink(name.c_str());
  if (number != 0) return refused(number);
  return {};
}

Result<std::filesystem::path> check_output_file(const std::filesystem::path& file, const std::string& mend) {
  std::error_code ignored;
  std::filesystem::path target = std::filesystem::weakly_canonical(std::filesystem::absolute(file), ignored);
  if (ignored) target = std::filesystem::absolute(file);
  const std::filesystem::file_status status = std::filesystem::status(target, ignored);
  if (!target.has_filename() ||
      (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)))
    return fail(ErrorKind::kUsage, file.string(), "not a regular file, so no report can replace it; " + mend);
  const Result<void> room = check_room(target.parent_path(), kReportBytes, mend);
  if (!room) return tl::unexpected(room.error());
  return target;
}

}  // namespace weir::price
