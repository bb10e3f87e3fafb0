// A recorded run of two threads whose lines are known from samples: 70 in `slow`, 30 in `fast`.
#pragma once

namespace longpole::exporting {

inline constexpr const char* sampled = R"(source kernel
cpu-time 11.5
samples 100
file 0 /src/work.c
function 0 main file=0 line=1
function 1 slow file=0 line=10
function 2 fast file=0 line=20
stack 0 function=0 file=0 line=5
stack 1 function=1 file=0 line=12 caller=0
stack 2 function=2 file=0 line=22 caller=0 inlined
profile 0 1:70 2:30
mutex M
1  main create T2 cpu=1 profile=0 site=0
2  main lock M cpu=1 profile=0 site=0
3  T2 lock M cpu=0.5 took=6 profile=0 site=1
9  main unlock M cpu=7 profile=0 site=0
9  main end
11 T2 unlock M cpu=2 profile=0 site=1
11 T2 end
)";

}  // namespace longpole::exporting
