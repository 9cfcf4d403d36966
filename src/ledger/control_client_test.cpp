/// The client against what may stand behind a socket's name: this process plays every part.

#include "ledger/control_client.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <atomic>
#include <cstring>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "ledger/governed_child.h"
#include "ledger/governed_page.h"
#include "wire/page_file.h"

namespace weir::ledger {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

namespace fs = std::filesystem;

constexpr std::uint64_t kRun = 77;
/// Above pid_max: nobody has it.
constexpr pid_t kNobody = 1'000'000'000;

std::string socket_name(std::uint64_t run, pid_t pid) {
  char name[wire::kSocketNameBytes];
  return {name, wire::print_socket_name(run, static_cast<std::uint32_t>(pid), name)};
}

wire::ControlReply reply_to(const std::string& request) {
  wire::ControlReply reply;
  wire::ControlRequest asked;
  EXPECT_TRUE(wire::parse_control_request(request.data(), request.size(), asked));
  reply.verb = asked.verb;
  reply.has_sample = asked.verb == static_cast<std::uint16_t>(wire::Verb::kSample) ? 1 : 0;
  return reply;
}

std::string bytes_of(const wire::ControlReply& reply) {
  return {reinterpret_cast<const char*>(&reply), sizeof reply};
}

/// Listens under this name and sends what `answer` makes of each message; "" closes the connection.
class FakeServer {
 public:
  using Answer = std::function<std::string(const std::string& request)>;

  FakeServer(const fs::path& file, Answer answer)
      : answer_(std::move(answer)), listening_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, file.c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(listening_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listening_.get(), 4), 0);
    thread_ = std::thread([this] { serve(); });
  }
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;
  ~FakeServer() {
    ::shutdown(listening_.get(), SHUT_RDWR);
    thread_.join();
  }

 private:
  void serve() {
    for (;;) {
      const OwnedFd peer(::accept(listening_.get(), nullptr, nullptr));
      if (!peer) return;
      char bytes[4096];
      for (;;) {
        const ssize_t got = ::recv(peer.get(), bytes, sizeof bytes, 0);
        if (got <= 0) break;
        const std::string answer = answer_({bytes, static_cast<std::size_t>(got)});
        if (answer.empty()) break;
        if (answer != "-") (void)::send(peer.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
      }
    }
  }

  Answer answer_;
  OwnedFd listening_;
  std::thread thread_;
};

class ControlClientTest : public testing::Test {
 protected:
  void SetUp() override {
    page_ = wire::make_page(folder_.path().c_str(), {.run = kRun}, nullptr);
    page_->state = static_cast<std::uint32_t>(wire::PageState::kGoverned);
  }
  void TearDown() override { wire::unmake_page(page_, folder_.path().c_str()); }

  [[nodiscard]] PageReading reading() const { return read_pages(folder_.path(), kRun).at(0); }
  [[nodiscard]] fs::path socket() const { return folder_.path() / socket_name(kRun, ::getpid()); }
  [[nodiscard]] Result<ControlClient> connect() const {
    return ControlClient::connect(folder_.path(), reading());
  }
  /// The words of a connection that fails.
  [[nodiscard]] std::string refusal() const {
    auto client = connect();
    if (client) return "connected";
    EXPECT_EQ(client.error().kind, ErrorKind::kEnvironment);
    return client.error().message;
  }
  static Result<ControlAnswer> ask(ControlClient& client, wire::Verb verb = wire::Verb::kTrim,
                                   milliseconds patience = milliseconds(5'000)) {
    wire::ControlRequest request;
    request.verb = static_cast<std::uint16_t>(verb);
    return client.ask(request, patience);
  }

  const PagesFolder folder_;
  wire::CountersPage* page_ = nullptr;
};

TEST_F(ControlClientTest, AVerbIsAskedOfThePagesProcessAndItsAnswerTold) {
  wire::ControlRequest seen;
  const FakeServer server(socket(), [&](const std::string& request) {
    EXPECT_TRUE(wire::parse_control_request(request.data(), request.size(), seen));
    wire::ControlReply reply = reply_to(request);
    reply.released = 5;
    std::strcpy(reply.text, "a\x1b[31m");
    return bytes_of(reply);
  });
  auto client = connect();
  ASSERT_TRUE(client) << describe(client.error());
  const auto answer = ask(*client);
  ASSERT_TRUE(answer) << describe(answer.error());
  EXPECT_EQ(seen.pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(seen.start_ticks, reading().start_ticks);
  EXPECT_EQ(answer->released, 5);
  EXPECT_EQ(answer->text, "a?[31m") << "nothing reaches a terminal as it came";
  EXPECT_FALSE(answer->layers);
  EXPECT_TRUE(ask(*client, wire::Verb::kSample)->layers);
}

TEST_F(ControlClientTest, WhatIsNoAnswerIsBadDataAndEndsTheConnection) {
  wire::ControlReply other;
  other.verb = static_cast<std::uint16_t>(wire::Verb::kSample);
  for (const std::string& bytes : {std::string("x"), std::string(100'000, 'x'), bytes_of(other)}) {
    std::error_code none;
    fs::remove(socket(), none);
    const FakeServer server(socket(), [&](const std::string&) { return bytes; });
    auto client = connect();
    ASSERT_TRUE(client);
    EXPECT_EQ(ask(*client).error().kind, ErrorKind::kBadData) << bytes.size();
    EXPECT_EQ(ask(*client).error().kind, ErrorKind::kEnvironment);
  }
}

TEST_F(ControlClientTest, SilenceIsWaitedForSoLongAndALateAnswerIsNobodys) {
  const FakeServer server(socket(), [](const std::string&) { return "-"; });
  auto client = connect();
  ASSERT_TRUE(client);
  EXPECT_THAT(ask(*client, wire::Verb::kTrim, milliseconds(30)).error().message, HasSubstr("did not answer"));
  EXPECT_THAT(ask(*client).error().message, HasSubstr("connect again"));
}

TEST_F(ControlClientTest, AConnectionThatIsClosedIsSaid) {
  const FakeServer server(socket(), [](const std::string&) { return ""; });
  auto client = connect();
  ASSERT_TRUE(client);
  EXPECT_THAT(ask(*client).error().message, HasSubstr("closed the connection"));
}

TEST_F(ControlClientTest, WhatStandsInTheSocketsPlaceIsNotFollowed) {
  EXPECT_THAT(refusal(), HasSubstr("no control socket"));
  folder_.put(socket_name(kRun, ::getpid()), "", 0);
  EXPECT_THAT(refusal(), HasSubstr("not yours"));
  fs::remove(socket());
  const FakeServer server(folder_.path() / "elsewhere", [](const std::string&) { return "-"; });
  fs::create_symlink(folder_.path() / "elsewhere", socket());
  EXPECT_THAT(refusal(), HasSubstr("not yours"));
}

TEST_F(ControlClientTest, ASocketThatNobodyListensToIsSaid) {
  {
    const FakeServer server(socket(), [](const std::string&) { return "-"; });
  }
  EXPECT_THAT(refusal(), HasSubstr("listens no more"));
}

TEST_F(ControlClientTest, AFolderThatLetsOthersInIsRefused) {
  const FakeServer server(socket(), [](const std::string&) { return "-"; });
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  const PageReading page = reading();
  EXPECT_THAT(ControlClient::connect(folder_.path(), page).error().message, HasSubstr("chmod 700"));
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0700), 0);
  EXPECT_TRUE(ControlClient::connect(folder_.path(), page));
}

TEST_F(ControlClientTest, AnotherProcessBehindTheNameIsNotSpokenTo) {
  GovernedChild child([&] { (void)wire::make_page(folder_.path().c_str(), {.run = kRun}, nullptr); });
  const FakeServer server(folder_.path() / socket_name(kRun, child.pid()),
                          [](const std::string&) { return "-"; });
  for (const PageReading& page : read_pages(folder_.path(), kRun)) {
    if (page.pid != child.pid()) continue;
    EXPECT_THAT(ControlClient::connect(folder_.path(), page).error().message,
                HasSubstr("answered by process " + std::to_string(::getpid())));
  }
}

TEST_F(ControlClientTest, AProcessThatHasEndedIsSaid) {
  PageReading page = reading();
  page.pid = kNobody;
  EXPECT_THAT(ControlClient::connect(folder_.path(), page).error().message, HasSubstr("has ended"));
}

TEST_F(ControlClientTest, ChangesAreWaitedForUntilTwoReadingsAgree) {
  std::atomic<std::int64_t> moving = 0;
  const FakeServer server(socket(), [&](const std::string& request) {
    wire::ControlReply reply = reply_to(request);
    reply.sample.footprint = moving > 0 ? moving-- : 0;
    if (reply.verb == static_cast<std::uint16_t>(wire::Verb::kReturn)) reply.released = 3;
    return bytes_of(reply);
  });
  wire::ControlRequest request;
  request.verb = static_cast<std::uint16_t>(wire::Verb::kReturn);
  auto client = connect();
  ASSERT_TRUE(client);
  moving = 5;
  auto change = act_and_settle(*client, request, {.pause = milliseconds(1)});
  ASSERT_TRUE(change) << describe(change.error());
  EXPECT_TRUE(change->settled);
  EXPECT_EQ(change->before.footprint, 5);
  EXPECT_EQ(change->after.footprint, 0);
  EXPECT_EQ(change->answer.released, 3);
  moving = INT64_C(1) << 40;
  change = act_and_settle(*client, request, {.settle = milliseconds(30), .pause = milliseconds(1)});
  ASSERT_TRUE(change);
  EXPECT_FALSE(change->settled) << "it never comes to rest";
}

TEST_F(ControlClientTest, WhatIsPendingIsSaidAndWhatIsRefusedChangesNothing) {
  std::atomic<int> samples = 0;
  std::atomic<wire::ControlStatus> status = wire::ControlStatus::kPending;
  const FakeServer server(socket(), [&](const std::string& request) {
    wire::ControlReply reply = reply_to(request);
    if (reply.has_sample != 0) {
      ++samples;
    } else {
      reply.status = static_cast<std::uint16_t>(status.load());
    }
    return bytes_of(reply);
  });
  wire::ControlRequest request;
  request.verb = static_cast<std::uint16_t>(wire::Verb::kTrim);
  auto client = connect();
  ASSERT_TRUE(client);
  auto change = act_and_settle(*client, request, {.pause = milliseconds(1)});
  ASSERT_TRUE(change);
  EXPECT_TRUE(change->pending);
  status = wire::ControlStatus::kRefused;
  samples = 0;
  change = act_and_settle(*client, request, {});
  ASSERT_TRUE(change);
  EXPECT_FALSE(change->pending);
  EXPECT_EQ(samples, 1);
}

TEST_F(ControlClientTest, OneIsFoundByItsPidOrByItsName) {
  const PageReading own = reading();
  EXPECT_EQ(find_governed(folder_.path(), std::to_string(::getpid()))->pid, ::getpid());
  EXPECT_EQ(find_governed(folder_.path(), own.command)->pid, ::getpid());
  for (const std::string& word :
       {std::to_string(kNobody), std::string("nobody"), std::string(), std::string("-1")})
    EXPECT_EQ(find_governed(folder_.path(), word).error().kind, ErrorKind::kUsage) << word;
  GovernedChild child([&] {
    wire::CountersPage* const page = wire::make_page(folder_.path().c_str(), {.run = kRun}, nullptr);
    page->state = static_cast<std::uint32_t>(wire::PageState::kGoverned);
  });
  const auto several = find_governed(folder_.path(), own.command);
  ASSERT_FALSE(several);
  EXPECT_THAT(several.error().message, HasSubstr(std::to_string(child.pid())));
  EXPECT_EQ(find_governed(folder_.path(), std::to_string(child.pid()))->pid, child.pid());
  child.kill();
  EXPECT_EQ(find_governed(folder_.path(), own.command)->pid, ::getpid());
  page_->state = static_cast<std::uint32_t>(wire::PageState::kOff);
  EXPECT_FALSE(find_governed(folder_.path(), own.command)) << "weir governs nothing there";
}

}  // namespace
}  // namespace weir::ledger
