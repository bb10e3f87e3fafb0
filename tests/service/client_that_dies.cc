// A client that records the specimen and is killed while it runs:
//   service_client_that_dies SOCKET OUTPUT
#include <csignal>

#include "client.h"

int main(int argc, char** argv) {
  if (argc != 3)
    return 2;
  const longpole::testing::Client client{std::string(argv[1])};
  longpole::v1::RecordRequest request;
  request.set_program(SPECIMEN);
  request.add_arguments("wait");
  request.set_output_path(argv[2]);
  longpole::testing::RecordConversation conversation(client, request);
  conversation.await_output("waiting\n");
  std::raise(SIGKILL);
}
