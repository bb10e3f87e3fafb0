// Loops as compilers make them (gcc 12 -O2, by hand where it says so), and what is taken for one and what not.
#include "recording/waiting_loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace longpole::recording {
namespace {

struct Code {
  const char* name;
  const char* bytes;  // in hexadecimal; what stands in […] is where samples fall
  bool waits;
};

void PrintTo(const Code& code, std::ostream* out) {
  *out << code.name;
}

struct Parsed {
  std::vector<std::uint8_t> bytes;
  std::vector<std::size_t> sampled;
};

Parsed parsed(std::string_view text) {
  Parsed out;
  const auto digit = [](char c) {
    return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[')
      out.sampled.push_back(out.bytes.size());
    if (text[i] == '[' || text[i] == ']' || text[i] == ' ')
      continue;
    out.bytes.push_back(static_cast<std::uint8_t>(digit(text[i]) << 4U | digit(text[i + 1])));
    ++i;
  }
  return out;
}

std::string name_of(const testing::TestParamInfo<Code>& code) {
  std::string name = code.param.name;
  std::ranges::replace_if(
      name, [](char c) { return std::isalpha(c) == 0; }, '_');
  return name;
}

class WaitingLoop : public testing::TestWithParam<Code> {};

TEST_P(WaitingLoop, IsToldFromOneThatComputes) {
  const Parsed code = parsed(GetParam().bytes);
  ASSERT_FALSE(code.sampled.empty());
  for (const std::size_t at : code.sampled)
    EXPECT_EQ(is_in_waiting_loop(code.bytes, at), GetParam().waits) << "at " << at;
}

INSTANTIATE_TEST_SUITE_P(
    Waits, WaitingLoop,
    testing::Values(
        // mov eax,[rip+0x100]; test eax,eax; je
        Code{"until a flag is set", "[8b05 00010000] [85c0] [74f6] c3", true},
        // cmp dword [rdi],0; jne
        Code{"until a flag is cleared", "[833f 00] [75fb] c3", true},
        // mov eax,[rdx]; cmp eax,ecx; jl
        Code{"until a number is reached", "[8b02] [39c8] [7cfa] c3", true},
        // mov rax,[rdi+rsi*8]; cmp rax,rdx; jne
        Code{"on an element of an array", "[488b04f7] [4839d0] [75f7] c3", true},
        // mov eax,1; xchg eax,[rdi]; test eax,eax; jne
        Code{"test and set", "[b801000000] [8707] [85c0] [75f5] c3", true},
        // mov rax,[rdi]; test rax,rax; jne out; sub edx,1; jne
        Code{"so many times", "[488b07] [4885c0] [7505] [83ea01] [75f3] c3", true},
        // pause; mov eax,[rdi]; test eax,eax; je
        Code{"with a pause", "[f390] [8b07] [85c0] [74f8] c3", true},
        // lock cmpxchg [rdi],ecx; je out; pause; xor eax,eax; jmp
        Code{"compare and exchange with a pause", "[f00fb10f] [7406] [f390] [31c0] [ebf4] c3",
             true},
        // movzx eax,byte [rip+0x100]; test al,al; je
        Code{"on a byte", "[0fb605 00010000] [84c0] [74f5] c3", true}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Computes, WaitingLoop,
    testing::Values(
        // add eax,[rdi]; add rdi,4; cmp rdi,rsi; jne
        Code{"a sum over an array", "[0307] [4883c704] [4839f7] [75f5] c3", false},
        // cmp byte [rdi],0; lea rdi,[rdi+1]; jne
        Code{"the end of a string", "[803f00] [488d7f01] [75f7] c3", false},
        // mov rdi,[rdi]; test rdi,rdi; jne
        Code{"the end of a list", "[488b3f] [4885ff] [75f8] c3", false},
        // mulsd xmm0,[rip+0x100]; sub eax,1; jne
        Code{"a power, its constant in memory", "[f20f5905 00010000] [83e801] [75f3] c3", false},
        // imul rax,rcx; add rax,rdx; sub esi,1; jne
        Code{"random numbers", "[480fafc1] [4801d0] [83ee01] [75f4] c3", false},
        // add [rdi],1; sub esi,1; jne
        Code{"counting in memory", "[830701] [83ee01] [75f8] c3", false},
        // movups [rdi],xmm0; mov eax,[rsi]; test eax,eax; je
        Code{"writing", "[0f1107] [8b06] [85c0] [74f7] c3", false},
        // mov eax,[rdi]; lea ecx,[rax+1]; lock cmpxchg [rdi],ecx; jne
        Code{"a counter that threads share", "[8b07] [8d4801] [f00fb10f] [75f5] c3", false},
        // rdtsc; cmp eax,[rdi]; jb
        Code{"until it is time", "[0f31] [3b07] [72fa] c3", false},
        // add eax,[rdi]; sub edx,1; jne
        Code{"a sum of what may change", "[0307] [83ea01] [75f9] c3", false},
        // call; mov eax,[rdi]; test eax,eax; je
        Code{"with a call", "[e800010000] [8b07] [85c0] [74f5] c3", false},
        // jmp to itself: by hand
        Code{"for ever", "[ebfe]", false},
        // mov eax,[rdi]; add eax,1; ret
        Code{"no loop", "[8b07] [83c001] [c3]", false},
        // what is no instruction in 64-bit code
        Code{"no code", "[06] 0606", false}),
    name_of);

TEST(WaitingLoopAtTheEdge, IsNotLookedForBeyondTheCode) {
  const Parsed code = parsed("8b05 00010000 85c0 74f6");
  EXPECT_TRUE(is_in_waiting_loop(code.bytes, 0));
  EXPECT_FALSE(is_in_waiting_loop(code.bytes, code.bytes.size()));
  EXPECT_FALSE(is_in_waiting_loop(std::span(code.bytes).first(9), 0)) << "half of the jump";
  EXPECT_FALSE(is_in_waiting_loop(std::span(code.bytes).subspan(6), 0)) << "the target before it";
}

}  // namespace
}  // namespace longpole::recording
