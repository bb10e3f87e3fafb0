// A worker who found a task done that it would have waited for.
#pragma once

namespace longpole {

// On one CPU it had not come to wait for its second task when that was given, at 10.
inline constexpr const char* worker_that_finds_its_task = R"(
0  main create W
0  W    lock M
0  W    cwait C M took=2 from main
2  main lock M cpu=2
2  main signal C woke=1
2  main unlock M
2  W    unlock M cpu=0
10 main lock M cpu=8
10 main signal C woke=0
10 main unlock M
11 W    lock M cpu=1
11 W    unlock M
15 W    end cpu=4
15 main end
)";

}  // namespace longpole
