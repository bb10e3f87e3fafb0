// Connections of which the program has both ends: what it writes to one of its own sockets another of them reads.
#pragma once

namespace longpole::recorder {

// After a call that made `descriptor` one end of a connection, if it did. errno is left alone.
void record_connection(int descriptor, const void* site);

}  // namespace longpole::recorder
