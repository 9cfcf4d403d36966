// The built tool as a user meets it: exit codes, streams, and every size of the reference.
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace weir::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Program : public ::testing::Test {
 protected:
  Program() : folder_(::testing::TempDir() + "weir_program_" + std::to_string(::getpid())) {
    std::filesystem::create_directories(folder_ / "config/weir");
  }
  ~Program() override { std::filesystem::remove_all(folder_); }

  /// Runs `weir <words>` through sh with nothing but `variables` (written for sh) in its environment.
  Outcome weir(const std::string& words, const std::string& variables = "") {
    const std::string command = "env -i PATH=/usr/bin:/bin HOME=" + folder_.string() +
                                " XDG_CONFIG_HOME=" + (folder_ / "config").string() + " " + variables + " " +
                                WEIR_BINARY_DIR + "/bin/weir " + words + " >" + (folder_ / "out").string() +
                                " 2>" + (folder_ / "err").string();
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), contents(folder_ / "out"),
            contents(folder_ / "err")};
  }
  nlohmann::json limits(const std::string& variables, const std::string& words = "") {
    const Outcome outcome = weir("limits --json " + words, variables);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out, nullptr, false);
  }

  std::filesystem::path folder_;
};

TEST_F(Program, ShowsEverySizeInExactBytesWithItsSource) {
  const std::pair<const char*, std::int64_t> sizes[] = {{"0", 0},
                                                        {"1", 1},
                                                        {"512MB", 512'000'000},
                                                        {"512MiB", 536'870'912},
                                                        {"2GiB", 2147483648},
                                                        {"1.5g", 1'610'612'736},
                                                        {"' 64 MiB '", 67'108'864}};
  for (const auto& [text, bytes] : sizes) {
    const auto cache = limits(std::string("WEIR_CACHE_LIMIT=") + text)["cache_limit"];
    EXPECT_EQ(cache["mode"], "bytes") << text;
    EXPECT_EQ(cache["bytes"], bytes) << text;
    EXPECT_EQ(cache["effective_bytes"], bytes) << text;
    EXPECT_EQ(cache["source"], "WEIR_CACHE_LIMIT");
    EXPECT_TRUE(cache["denominator"].is_null());
  }
}

TEST_F(Program, ShowsModesAndPercentages) {
  const auto share = limits("WEIR_CACHE_LIMIT=10%free")["cache_limit"];
  EXPECT_EQ(share["denominator"], "free");
  EXPECT_EQ(share["bytes"], share["denominator_bytes"].get<std::int64_t>() / 10);
  const auto unlimited = limits("WEIR_CACHE_LIMIT=unlimited")["cache_limit"];
  EXPECT_EQ(unlimited["mode"], "unlimited");
  EXPECT_TRUE(unlimited["bytes"].is_null() && unlimited["effective_bytes"].is_null());
  const auto unset = limits("WEIR_CACHE_LIMIT=unset")["cache_limit"];
  EXPECT_EQ(unset["mode"], "unset");
  EXPECT_EQ(unset["source"], "WEIR_CACHE_LIMIT");
  EXPECT_EQ(unset["effective_bytes"], 33'554'432);
  EXPECT_EQ(limits("")["cache_limit"]["source"], "library default");
  EXPECT_EQ(limits("WEIR_MEMORY_LIMIT=8GiB")["memory_limit"]["bytes"], 8'589'934'592);
}

TEST_F(Program, RefusesBadSizesAndDoesNotStart) {
  for (const char* text :
       {"", "8G B", "-1", "\"8GB\"", "1e99", "10%", "abc", "0x10", "99999999999999999999"}) {
    const Outcome outcome = weir("limits", std::string("'WEIR_CACHE_LIMIT=") + text + "'");
    EXPECT_EQ(outcome.code, 64) << text;
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, HasSubstr("[WEIR_CACHE_LIMIT]"));
    const std::string shown =
        std::string(text) == "\"8GB\"" ? R"("\"8GB\"")" : "\"" + std::string(text) + "\"";
    EXPECT_THAT(outcome.err, HasSubstr(shown));
    EXPECT_THAT(outcome.err, HasSubstr("write a size such as 512MiB"));
    EXPECT_EQ(weir("limits --cache-limit '" + std::string(text) + "'").code, 64) << text;
    EXPECT_EQ(weir("limits '--cache-limit=" + std::string(text) + "'").code, 64) << text;
  }
  const Outcome zero = weir("limits", "WEIR_MEMORY_LIMIT=0");
  EXPECT_EQ(zero.code, 64);
  EXPECT_THAT(zero.err, HasSubstr("[WEIR_MEMORY_LIMIT]"));
  EXPECT_THAT(zero.err, HasSubstr("8GiB"));
}

TEST_F(Program, ReadsCompatibilityNamesWithTheirHomesZero) {
  const auto ollama = limits("OLLAMA_MLX_CACHE_LIMIT=0")["cache_limit"];
  EXPECT_EQ(ollama["bytes"], 0);
  EXPECT_EQ(ollama["source"], "OLLAMA_MLX_CACHE_LIMIT");
  EXPECT_EQ(limits("QWISP_PREFILL_MLX_CACHE_MB=0")["cache_limit"]["source"], "library default");
  EXPECT_EQ(limits("QWISP_PREFILL_MLX_CACHE_MB=512")["cache_limit"]["bytes"], 536'870'912);
  EXPECT_EQ(weir("limits", "OLLAMA_MLX_CACHE_LIMIT=1 QWISP_LANE_MLX_CACHE_MB=1").code, 64);
}

TEST_F(Program, WarnsOfUnreadNamesOnStderrAndInJson) {
  const Outcome outcome = weir("limits --json", "MLX_METAL_CACHE_LIMIT=4GB");
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["warnings"][0]["name"], "MLX_METAL_CACHE_LIMIT");
  EXPECT_THAT(outcome.err, HasSubstr("warning: MLX_METAL_CACHE_LIMIT"));
  EXPECT_THAT(weir("limits --quiet", "MLX_METAL_CACHE_LIMIT=4GB").err, IsEmpty());
}

TEST_F(Program, ReadsTheConfigFileAndNamesItsLines) {
  const auto path = folder_ / "config/weir/config.toml";
  std::ofstream(path) << "cache_limit = \"64MiB\"\n";
  EXPECT_EQ(limits("")["cache_limit"]["source"], path.string());
  EXPECT_EQ(limits("WEIR_CACHE_LIMIT=1")["cache_limit"]["bytes"], 1);
  std::ofstream(path) << "\nlimit = 1\n";
  const Outcome outcome = weir("limits");
  EXPECT_EQ(outcome.code, 64);
  EXPECT_THAT(outcome.err, HasSubstr(path.string() + ":2] unknown key \"limit\""));
}

TEST_F(Program, PrintsATableForPeople) {
  const Outcome outcome = weir("limits --cache-limit 64MiB");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("64MiB = 67,108,864 bytes"));
  EXPECT_THAT(outcome.out, HasSubstr("refuses nothing: it only makes eval wait"));
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST_F(Program, KeepsToTheExitCodesOfTheContract) {
  EXPECT_EQ(weir("").code, 64);
  EXPECT_EQ(weir("--help").code, 0);
  EXPECT_EQ(weir("--version").code, 0);
  EXPECT_EQ(weir("limts").code, 64);
  EXPECT_EQ(weir("limits no-such-model.gguf").code, 69);
  EXPECT_EQ(weir("completion tcsh").code, 64);
  const Outcome doctor = weir("doctor --json", "WEIR_CACHE_LIMIT=abc");
  EXPECT_EQ(doctor.code, 0);
  EXPECT_THAT(doctor.out, HasSubstr("bad-limit"));
}

TEST_F(Program, DiesQuietlyWhenItsReaderLeaves) {
  const std::string pipe = "bash -c 'set -o pipefail; trap \"\" PIPE; " WEIR_BINARY_DIR
                           "/bin/weir completion zsh 2>" +
                           (folder_ / "pipe_err").string() + " | true; exit ${PIPESTATUS[0]}'";
  const int status = std::system(pipe.c_str());
  EXPECT_THAT(contents(folder_ / "pipe_err"), IsEmpty());
  EXPECT_THAT(WEXITSTATUS(status), ::testing::AnyOf(0, 141));
}

TEST_F(Program, SaysWhenItsResultCannotBeWritten) {
  const std::string command =
      WEIR_BINARY_DIR "/bin/weir --version >/dev/full 2>" + (folder_ / "full").string();
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 75);
  EXPECT_THAT(contents(folder_ / "full"), HasSubstr("stdout"));
}

}  // namespace
}  // namespace weir::cli
