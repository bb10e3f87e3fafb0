// SymbolTable over programs compiled in the ways that programs come. What is expected of an address
// is what the specimen itself says of it.
#include "symbols/symbols.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "specimen.h"
#include "symbols/names.h"
#include "symbols/source_file.h"

namespace longpole::symbols {
namespace {

using ::testing::ElementsAre;

struct Frame {
  std::string function;
  std::string file;  // without its folders
  std::uint32_t line = 0;
  bool inlined = false;
  bool operator==(const Frame&) const = default;
};
void PrintTo(const Frame& frame, std::ostream* out) {
  *out << frame.function << " at " << frame.file << ":" << frame.line
       << (frame.inlined ? " (inlined)" : "");
}

// A table with what it filled in, for looking at.
class Resolved {
 public:
  explicit Resolved(const Specimen& specimen, const std::string& debug_directory = "/nonexistent")
      : symbols(specimen.table(debug_directory)) {}

  StackId add(std::vector<std::uint64_t> addresses, Addresses are = Addresses::returns) {
    return symbols.stack(addresses, are);
  }
  void finish() { symbols.move_into(recording); }

  [[nodiscard]] std::vector<Frame> frames(StackId stack) const {
    std::vector<Frame> out;
    for (; stack.known(); stack = recording.stacks[stack.index()].caller) {
      const Stack& node = recording.stacks[stack.index()];
      out.push_back({function(node).name, name_of(node.file), node.line, node.inlined});
    }
    return out;
  }
  [[nodiscard]] const Function& function(const Stack& node) const {
    return recording.functions[node.function.index()];
  }
  [[nodiscard]] const Function& innermost(StackId stack) const {
    return function(recording.stacks[stack.index()]);
  }
  [[nodiscard]] std::string name_of(FileId file) const {
    return file.known()
               ? std::filesystem::path(recording.files[file.index()].path).filename().string()
               : std::string();
  }

  SymbolTable symbols;
  Recording recording;
};

class WithDebugInformation : public testing::TestWithParam<const char*> {
 protected:
  // Where distributions put it; the other specimens have theirs elsewhere.
  static constexpr const char* debug_directory = LONGPOLE_SPECIMENS "/debug";
  const Specimen specimen = run_specimen(GetParam());
};

TEST_P(WithDebugInformation, CallSitesHaveFunctionFileAndLine) {
  Resolved resolved(specimen, debug_directory);
  const StackId after = resolved.add({specimen.marks.at("after_inlined").address});
  const StackId c = resolved.add({specimen.marks.at("c_function").address});
  const StackId instances[] = {resolved.add({specimen.all_marks.at("template")[0].address}),
                               resolved.add({specimen.all_marks.at("template")[1].address})};
  resolved.finish();

  EXPECT_THAT(resolved.frames(after), ElementsAre(Frame{"work::outer()", "specimen.cc",
                                                        specimen.marks.at("after_inlined").line}));
  EXPECT_THAT(resolved.frames(c), ElementsAre(Frame{"plain_c_function", "specimen.cc",
                                                    specimen.marks.at("c_function").line}));
  const std::uint32_t line = specimen.marks.at("template").line;
  EXPECT_THAT(resolved.frames(instances[0]),
              ElementsAre(Frame{"int work::twice<int>(int)", "specimen.cc", line}));
  EXPECT_THAT(resolved.frames(instances[1]),
              ElementsAre(Frame{"double work::twice<double>(double)", "specimen.cc", line}));
}

TEST_P(WithDebugInformation, InlinedFramesAreExpandedInnermostFirst) {
  Resolved resolved(specimen, debug_directory);
  const StackId stack =
      resolved.add({specimen.marks.at("inlined").address, specimen.marks.at("main").address});
  resolved.finish();

  EXPECT_THAT(
      resolved.frames(stack),
      ElementsAre(Frame{"work::innermost()", "specimen.cc", line_of("innermost mark"), true},
                  Frame{"work::middle()", "specimen.cc", line_of("middle calls"), true},
                  Frame{"work::outer()", "specimen.cc", line_of("outer calls")},
                  Frame{"main", "specimen.cc", specimen.marks.at("main").line}));
}

TEST_P(WithDebugInformation, FunctionsSayWhereTheyBeginAndEnd) {
  Resolved resolved(specimen, debug_directory);
  const StackId outer = resolved.add({specimen.marks.at("after_inlined").address});
  const StackId twice = resolved.add({specimen.marks.at("template").address});
  const StackId library = resolved.add({specimen.marks.at("library_static").address});
  const FunctionId by_address = resolved.symbols.function(specimen.functions.at("outer"));
  resolved.finish();

  const Function& function = resolved.innermost(outer);
  EXPECT_EQ(function.line, line_of("outer begins"));
  // Its closing brace is the line after.
  EXPECT_EQ(function.last_line, line_of("outer ends") + 1);
  EXPECT_EQ(resolved.recording.functions[by_address.index()], function);
  EXPECT_EQ(resolved.innermost(twice).line, line_of("twice begins"));
  EXPECT_EQ(resolved.name_of(resolved.innermost(library).file), "shape.cc");
  EXPECT_EQ(resolved.innermost(library).name, "shape::round_up");
}

TEST_P(WithDebugInformation, ModulesHaveBuildIdAndLineTable) {
  Resolved resolved(specimen, debug_directory);
  const StackId program = resolved.add({specimen.marks.at("main").address});
  const StackId library = resolved.add({specimen.marks.at("library_static").address});
  resolved.finish();

  const auto& modules = resolved.recording.modules;
  ASSERT_EQ(modules.size(), 2);
  EXPECT_EQ(resolved.innermost(program).module, ModuleId{0});
  EXPECT_EQ(resolved.innermost(library).module, ModuleId{1});
  EXPECT_EQ(modules[0].path, specimen.path);
  EXPECT_TRUE(modules[0].has_line_table);
  EXPECT_EQ(modules[0].build_id.size(), 40);
  EXPECT_EQ(modules[0].build_id.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(modules[0].build_id, modules[1].build_id);
}

TEST_P(WithDebugInformation, ObjectsHaveTheNamesOfTheirVariables) {
  SymbolTable symbols = specimen.table(debug_directory);
  const auto name = [&](const char* label) {
    return symbols.object_name(specimen.objects.at(label));
  };
  EXPECT_EQ(name("initialised"), "initialised");
  EXPECT_EQ(name("zero_initialised"), "zero_initialised+16000");
  EXPECT_EQ(name("file_static"), "file_static+12");
  EXPECT_EQ(name("queue"), "work::queue");
  EXPECT_EQ(name("queue_lock"), "work::queue+4");
  EXPECT_EQ(name("function_static"), "local_static()::counter+4");
  EXPECT_EQ(name("library_global"), "shape::areas_computed");
  EXPECT_EQ(name("library_static_array"), "shape::last_width+8");
  EXPECT_EQ(name("stack"), std::nullopt);
}

TEST_P(WithDebugInformation, CodeOfTheSystemIsChargedToTheUsersLine) {
  Resolved resolved(specimen, debug_directory);
  // std::sort is in a header of the system; the lambda that it calls is the user's own again.
  const StackId lambda =
      resolved.add({specimen.marks.at("lambda").address, specimen.marks.at("main").address});
  const StackId puts_in_main = resolved.add(
      {specimen.functions.at("puts"), specimen.marks.at("main").address}, Addresses::exact);
  const StackId max_in_main = resolved.add(
      {specimen.functions.at("max"), specimen.marks.at("main").address}, Addresses::exact);
  EXPECT_NE(resolved.symbols.user_frame(max_in_main), max_in_main);
  EXPECT_EQ(resolved.symbols.user_frame(max_in_main), resolved.symbols.user_frame(puts_in_main));
  const StackId only_system = resolved.add({specimen.functions.at("puts")}, Addresses::exact);
  const StackId lambda_user = resolved.symbols.user_frame(lambda);
  const StackId main_user = resolved.symbols.user_frame(puts_in_main);
  EXPECT_EQ(resolved.symbols.user_frame(only_system), StackId::none());
  EXPECT_EQ(resolved.symbols.user_frame(StackId::none()), StackId::none());
  resolved.finish();

  EXPECT_EQ(lambda_user, lambda);
  EXPECT_EQ(resolved.recording.stacks[lambda.index()].line, line_of("lambda mark"));
  EXPECT_EQ(resolved.innermost(lambda).line, line_of("lambda begins"));
  EXPECT_THAT(resolved.innermost(lambda).name,
              testing::EndsWith("{lambda:" + std::to_string(line_of("lambda begins")) + "}"));
  EXPECT_EQ(resolved.innermost(main_user).name, "main");
  for (const File& file : resolved.recording.files)
    EXPECT_EQ(file.system, file.path.compare(0, 5, "/usr/") == 0) << file.path;
}

INSTANTIATE_TEST_SUITE_P(All, WithDebugInformation,
                         testing::Values("specimen_debug", "specimen_optimised", "specimen_dwarf4",
                                         "specimen_split", "specimen_fixed", "specimen_separate",
                                         "specimen_linked"),
                         [](const auto& chosen) { return std::string(chosen.param); });

TEST(Symbols, WithoutDebugInformationTheSymbolTableNamesFunctions) {
  for (const char* name : {"specimen_plain", "specimen_exporting"}) {
    const Specimen specimen = run_specimen(name);
    Resolved resolved(specimen);
    const StackId stack = resolved.add({specimen.marks.at("c_function").address});
    const FunctionId by_address = resolved.symbols.function(specimen.functions.at("outer"));
    EXPECT_EQ(resolved.symbols.object_name(specimen.objects.at("queue_lock")), "work::queue+4");
    resolved.finish();
    EXPECT_THAT(resolved.frames(stack), ElementsAre(Frame{"plain_c_function", "", 0}));
    EXPECT_EQ(resolved.recording.functions[by_address.index()].name, "work::outer()");
    EXPECT_FALSE(resolved.recording.modules[0].has_line_table);
  }
}

TEST(Symbols, WithoutAnySymbolOneFunctionStandsForTheModule) {
  const Specimen specimen = run_specimen("specimen_stripped");
  Resolved resolved(specimen);
  const StackId program = resolved.add({specimen.marks.at("template").address});
  const StackId elsewhere = resolved.add({specimen.marks.at("c_function").address});
  const StackId exported = resolved.add({specimen.marks.at("library_exported").address});
  const StackId hidden = resolved.add({specimen.marks.at("library_static").address});
  resolved.finish();

  EXPECT_THAT(resolved.frames(program), ElementsAre(Frame{"[specimen_stripped]", "", 0}));
  EXPECT_EQ(elsewhere, program);
  EXPECT_THAT(resolved.frames(exported), ElementsAre(Frame{"shape::area(double, double)", "", 0}));
  EXPECT_THAT(resolved.frames(hidden),
              ElementsAre(Frame{"[libspecimen_shape_stripped.so]", "", 0}));
}

TEST(Symbols, FilesThatAreGoneOrUnreadableGiveTheirName) {
  Specimen specimen;
  specimen.mappings = {{"/tmp/built anew (deleted)", 0x1000, 0x2000, 0},
                       {"/nonexistent/libgone.so.3", 0x2000, 0x3000, 0},
                       {"/proc/self/mem", 0x3000, 0x4000, 0},
                       {LONGPOLE_SPECIMEN_SOURCE, 0x4000, 0x5000, 0},
                       {"[stack]", 0x5000, 0x6000, 0}};
  Resolved resolved(specimen);
  const StackId stack = resolved.add({0x1800, 0x2800, 0x3800, 0x4800, 0x5800});
  EXPECT_EQ(resolved.symbols.object_name(0x2800), std::nullopt);
  resolved.finish();

  EXPECT_THAT(
      resolved.frames(stack),
      ElementsAre(Frame{"[built anew]", "", 0}, Frame{"[libgone.so.3]", "", 0},
                  Frame{"[mem]", "", 0}, Frame{"[specimen.cc]", "", 0}, Frame{"[stack]", "", 0}));
}

TEST(Symbols, TheVdsoHasSymbols) {
  const Specimen specimen = run_specimen("specimen_plain");
  const auto vdso = std::find_if(specimen.mappings.begin(), specimen.mappings.end(),
                                 [](const Mapping& m) { return m.path == "[vdso]"; });
  if (vdso == specimen.mappings.end())
    GTEST_SKIP() << "this kernel gives its processes no vdso";
  Resolved resolved(specimen);
  for (std::uint64_t address = vdso->start; address < vdso->end; address += 16)
    resolved.add({address}, Addresses::exact);
  resolved.finish();

  std::vector<std::string> names;
  for (const Function& function : resolved.recording.functions)
    names.push_back(function.name);
  EXPECT_THAT(names, testing::IsSupersetOf({"[vdso]", "clock_gettime"}));
}

TEST(Symbols, UnmappedMemoryEndsThePath) {
  const Specimen specimen = run_specimen("specimen_debug");
  Resolved resolved(specimen);
  const std::uint64_t inner = specimen.marks.at("template").address;
  const std::uint64_t outer = specimen.marks.at("main").address;
  EXPECT_EQ(resolved.add({}), StackId::none());
  EXPECT_EQ(resolved.add({16, outer}), StackId::none());
  EXPECT_EQ(resolved.add({0}), StackId::none());
  EXPECT_EQ(resolved.symbols.function(16), FunctionId::none());
  EXPECT_EQ(resolved.symbols.object_name(16), std::nullopt);
  EXPECT_EQ(resolved.add({inner, 16, outer}), resolved.add({inner}));
  EXPECT_NE(resolved.add({inner, outer}), resolved.add({inner}));
}

TEST(Symbols, AReturnAddressBelongsToTheCallBeforeIt) {
  const Specimen specimen = run_specimen("specimen_debug");
  Resolved resolved(specimen);
  // The first instruction of a function, as a sample; as a return address it belongs to whatever
  // stands before the function.
  const std::uint64_t outer = specimen.functions.at("outer");
  const StackId sample = resolved.add({outer}, Addresses::exact);
  const StackId call = resolved.add({outer}, Addresses::returns);
  resolved.finish();
  EXPECT_EQ(resolved.innermost(sample).name, "work::outer()");
  EXPECT_EQ(resolved.frames(sample)[0].line, line_of("outer begins"));
  EXPECT_NE(resolved.innermost(call).name, "work::outer()");
}

TEST(Symbols, LaterMappingsReplaceEarlierOnes) {
  SymbolTable symbols("/nonexistent");
  symbols.add_mapping({"/nonexistent/first", 0x1000, 0x9000, 0});
  const auto name_at = [&](std::uint64_t address) {
    const FunctionId function = symbols.function(address);
    return function.known() ? static_cast<int>(function.value) : -1;
  };
  EXPECT_EQ(name_at(0x4000), 0);
  symbols.add_mapping({"/nonexistent/second", 0x3000, 0x5000, 0});
  symbols.add_mapping({"", 0x6000, 0x7000, 0});
  EXPECT_EQ(name_at(0x2fff), 0);
  EXPECT_EQ(name_at(0x3000), 1);
  EXPECT_EQ(name_at(0x4000), 1) << "which was asked for before";
  EXPECT_EQ(name_at(0x4fff), 1);
  EXPECT_EQ(name_at(0x5000), 0);
  EXPECT_EQ(name_at(0x6000), -1);
  EXPECT_EQ(name_at(0x6fff), -1);
  EXPECT_EQ(name_at(0x7000), 0);
  EXPECT_EQ(name_at(0x9000), -1);
  symbols.add_mapping({"/nonexistent/third", 0x800, 0x8000, 0});
  EXPECT_EQ(name_at(0x1000), 2);
  EXPECT_EQ(name_at(0x8000), 0);
  symbols.add_mapping({"/nonexistent/empty", 0x1000, 0x1000, 0});
  EXPECT_EQ(name_at(0x1000), 2);

  const std::array<std::uint64_t, 1> address = {0x4000};
  const StackId third = symbols.stack(address, Addresses::exact);
  symbols.add_mapping({"/nonexistent/fourth", 0x4000, 0x5000, 0});
  EXPECT_NE(symbols.stack(address, Addresses::exact), third);
}

TEST(Symbols, TheSameRequestsGiveTheSameTables) {
  const Specimen specimen = run_specimen("specimen_optimised");
  Recording recordings[2];
  for (Recording& recording : recordings) {
    SymbolTable symbols = specimen.table();
    std::vector<StackId> ids;
    for (int repeat = 0; repeat < 2; ++repeat) {
      for (const auto& [name, mark] : specimen.marks) {
        const std::array addresses = {mark.address, specimen.marks.at("main").address};
        ids.push_back(symbols.stack(addresses, Addresses::returns));
      }
    }
    const auto half = static_cast<std::ptrdiff_t>(ids.size() / 2);
    EXPECT_TRUE(std::equal(ids.begin(), ids.begin() + half, ids.begin() + half));
    symbols.move_into(recording);
    EXPECT_EQ(symbols.function(specimen.functions.at("outer")), FunctionId::none());
  }
  EXPECT_EQ(recordings[0], recordings[1]);
  for (std::size_t i = 0; i < recordings[0].stacks.size(); ++i) {
    const Stack& node = recordings[0].stacks[i];
    EXPECT_TRUE(!node.caller.known() || node.caller.index() < i);
    EXPECT_LT(node.function.index(), recordings[0].functions.size());
  }
}

TEST(Symbols, FilesCarryTheHashOfTheirContent) {
  const Specimen specimen = run_specimen("specimen_debug");
  Resolved resolved(specimen);
  const StackId stack = resolved.add({specimen.marks.at("main").address});
  resolved.finish();

  std::ifstream in(LONGPOLE_SPECIMEN_SOURCE, std::ios::binary);
  const std::string content(std::istreambuf_iterator<char>(in), {});
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned length = 0;
  ASSERT_EQ(
      EVP_Digest(content.data(), content.size(), digest.data(), &length, EVP_sha256(), nullptr), 1);
  std::string expected;
  for (unsigned i = 0; i < length; ++i) {
    constexpr const char* digits = "0123456789abcdef";
    expected += digits[digest[i] >> 4U];
    expected += digits[digest[i] & 15U];
  }
  const File& file =
      resolved.recording.files[resolved.recording.stacks[stack.index()].file.index()];
  EXPECT_EQ(file.path, LONGPOLE_SPECIMEN_SOURCE);
  EXPECT_EQ(file.sha256, expected);
  EXPECT_EQ(sha256_of_file("/dev/zero"), "");
  EXPECT_EQ(sha256_of_file("/nonexistent"), "");
  EXPECT_EQ(sha256_of_file("relative.cc"), "");
}

TEST(SourceFile, SystemIsWhatTheUserDidNotWrite) {
  const std::string own = "/home/someone/project/app";
  EXPECT_FALSE(is_system_source("/home/someone/project/main.cc", own));
  EXPECT_FALSE(is_system_source("./pigz.c", "/usr/bin/pigz"));
  EXPECT_FALSE(is_system_source(LONGPOLE_SPECIMEN_SOURCE, "/usr/lib/libinstalled.so"));
  EXPECT_TRUE(is_system_source("/usr/include/c++/12/bits/stl_algo.h", own));
  EXPECT_TRUE(is_system_source("/opt/gcc-14/include/c++/14.1.0/vector", own));
  EXPECT_TRUE(is_system_source("/opt/gcc-14/lib/gcc/x86_64/14.1.0/include/immintrin.h", own));
  EXPECT_TRUE(is_system_source("/opt/llvm/lib/clang/18/include/avxintrin.h", own));
  EXPECT_TRUE(is_system_source("./nptl/pthread_create.c", "/usr/lib/x86_64-linux-gnu/libc.so.6"));
  EXPECT_TRUE(is_system_source("/build/zlib-1.2.13/inflate.c", "/usr/lib/libz.so.1"));
}

// A generic function, each of whose arguments is a tuple of twice the one before: some hundred bytes that stand
// for a name of a thousand million characters.
std::string endless_rust_symbol() {
  // Numbers to the base 62 and less one, so 0 is "_" and 1 is "0_".
  const auto number = [](std::size_t value) {
    constexpr std::string_view digits =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::string text = "_";
    if (value == 0)
      return text;
    for (--value;; value /= 62) {
      text.insert(text.begin(), digits[value % 62]);
      if (value < 62)
        return text;
    }
  };
  std::string symbol = "_RINvC1a1f";
  std::size_t before = 0;
  for (int i = 0; i < 30; ++i) {
    const std::size_t here = symbol.size() - 2;  // they count from behind the _R
    symbol += i == 0 ? "TuuE" : "TB" + number(before) + "B" + number(before) + "E";
    before = here;
  }
  return symbol + "E";
}

TEST(Names, LibrariesOfOpenMP) {
  for (const char* path : {"/usr/lib/llvm-14/lib/libomp.so.5", "/usr/lib/libomp-14.so.5",
                           "/usr/lib/x86_64-linux-gnu/libgomp.so.1.0.0", "libiomp5.so"})
    EXPECT_TRUE(is_openmp_runtime(path)) << path;
  EXPECT_FALSE(is_openmp_runtime("/opt/libomp/libpthread.so.0"));
}

TEST(Names, AreThoseThatPeopleWrote) {
  EXPECT_EQ(function_name("_ZN5queue4pushEi"), "queue::push(int)");
  EXPECT_EQ(function_name("_ZN5queue4pushEi.constprop.0.isra.0"), "queue::push(int)");
  EXPECT_EQ(function_name("_ZN5queue4pushEi.part.0.cold"), "queue::push(int)");
  EXPECT_EQ(function_name("pthread_create@@GLIBC_2.34"), "pthread_create");
  EXPECT_EQ(function_name("__GI_strtol"), "strtol");
  EXPECT_EQ(function_name("main.worker"), "main.worker");
  EXPECT_EQ(function_name("@GLIBC_2.34"), "@GLIBC_2.34");
  EXPECT_EQ(function_name(".cold"), ".cold");
  EXPECT_EQ(function_name("_Znonsense"), "_Znonsense");
  EXPECT_EQ(function_name("_RNvMs0_NtCs6_5alloc6stringNtB5_6String3new"),
            "<alloc::string::String>::new");
  EXPECT_EQ(function_name("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE"),
            "core::fmt::Formatter::pad");
  EXPECT_EQ(function_name("_Rnonsense"), "_Rnonsense");
  EXPECT_EQ(function_name(endless_rust_symbol().c_str()), endless_rust_symbol());
  EXPECT_EQ(variable_name("count.0"), "count");
  EXPECT_EQ(variable_name("_ZZ4mainE4lock"), "main::lock");
  EXPECT_EQ(unknown_name("/usr/lib/libz.so.1.2.13"), "[libz.so.1.2.13]");
  EXPECT_EQ(unknown_name("[vdso]"), "[vdso]");
  EXPECT_EQ(unknown_name("/tmp/a.out (deleted)"), "[a.out]");
}

}  // namespace
}  // namespace longpole::symbols
