// Requests that no editor would send: the daemon answers each with a status and goes on.
#include <gmock/gmock.h>
#include <google/protobuf/message.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <future>
#include <limits>
#include <random>

#include "client.h"
#include "daemon.h"

namespace longpole::testing {
namespace {

// Deterministic: a failure can be run again.
using Random = std::mt19937_64;

std::string random_text(Random& random) {
  static const std::vector<std::string> texts = {"",
                                                 "/",
                                                 ".",
                                                 "..",
                                                 "/dev/null",
                                                 "/dev/zero",
                                                 "/proc/self/mem",
                                                 "/etc/passwd",
                                                 "shared",
                                                 "ideal",
                                                 std::string(1, '\0'),
                                                 std::string("/bin/true\0x", 11),
                                                 std::string(5000, 'a'),
                                                 "/tmp/" + std::string(300, 'b'),
                                                 "\xF0\x9F\x92\xA5",
                                                 "-c",
                                                 "=",
                                                 "%n%s",
                                                 "../../../../etc/shadow"};
  return texts[random() % texts.size()];
}

std::uint32_t random_number(Random& random) {
  static const std::vector<std::uint32_t> numbers = {
      0, 1, 2, 3, 64, 65, 65536, 65537, 0x7fffffff, 0x80000000, 0xffffffff};
  return numbers[random() % numbers.size()];
}

std::int64_t random_time(Random& random) {
  return static_cast<std::int64_t>(random() % 3 == 0 ? random() : 3);
}

double random_decimal(Random& random) {
  static const std::vector<double> decimals = {
      0, -1, 1, 0.5, 1e-300, 1e300, std::numeric_limits<double>::infinity(), std::nan(""), 2};
  return decimals[random() % decimals.size()];
}

// Fills the fields of any message, by reflection, so that RPCs to come are tried as well.
void fill(google::protobuf::Message& message, Random& random, std::uint64_t handle) {
  using Field = google::protobuf::FieldDescriptor;
  const auto* reflection = message.GetReflection();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const Field& field = *message.GetDescriptor()->field(i);
    if (field.is_map() || random() % 4 == 0)
      continue;
    const int times = field.is_repeated() ? static_cast<int>(random() % 70) : 1;
    for (int n = 0; n < times; ++n) {
      switch (field.cpp_type()) {
        case Field::CPPTYPE_STRING:
          if (field.is_repeated())
            reflection->AddString(&message, &field, random_text(random));
          else
            reflection->SetString(&message, &field, random_text(random));
          break;
        case Field::CPPTYPE_UINT32:
          if (field.is_repeated())
            reflection->AddUInt32(&message, &field, random_number(random));
          else
            reflection->SetUInt32(&message, &field, random_number(random));
          break;
        case Field::CPPTYPE_UINT64:
          reflection->SetUInt64(&message, &field, random() % 3 == 0 ? random() : handle);
          break;
        case Field::CPPTYPE_BOOL:
          reflection->SetBool(&message, &field, random() % 2 == 0);
          break;
        case Field::CPPTYPE_INT32:
          reflection->SetInt32(&message, &field, static_cast<std::int32_t>(random_number(random)));
          break;
        case Field::CPPTYPE_INT64:
          if (field.is_repeated())
            reflection->AddInt64(&message, &field, random_time(random));
          else
            reflection->SetInt64(&message, &field, random_time(random));
          break;
        case Field::CPPTYPE_DOUBLE:
          if (field.is_repeated())
            reflection->AddDouble(&message, &field, random_decimal(random));
          else
            reflection->SetDouble(&message, &field, random_decimal(random));
          break;
        case Field::CPPTYPE_ENUM:
          reflection->SetEnumValue(&message, &field, static_cast<int>(random() % 8));
          break;
        case Field::CPPTYPE_MESSAGE:
          fill(field.is_repeated() ? *reflection->AddMessage(&message, &field)
                                   : *reflection->MutableMessage(&message, &field),
               random, handle);
          break;
        default:
          FAIL() << "no values for " << field.full_name();
      }
    }
  }
}

// Calls a method by name with any bytes; gRPC sends them as they are.
grpc::Status call_with_bytes(const Client& client, const std::string& method,
                             const std::string& bytes) {
  grpc::GenericStub stub(client.channel());
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + patience);
  grpc::Slice slice(bytes);
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer response;
  std::promise<grpc::Status> done;
  stub.UnaryCall(&context, "/longpole.v1.Longpole/" + method, {}, &request, &response,
                 [&](grpc::Status status) { done.set_value(std::move(status)); });
  return done.get_future().get();
}

TEST(Hostile, HundredsOfRandomRequests) {
  TemporaryDirectory directory;
  Daemon daemon;
  const Client client(daemon);
  Random random(20021);
  const auto* service =
      google::protobuf::DescriptorPool::generated_pool()->FindServiceByName("longpole.v1.Longpole");
  ASSERT_NE(service, nullptr);
  const auto path = directory.write("small.prog", "thread T\n  run f 5\n");
  std::uint64_t handle = client.open(path).handle();

  std::map<grpc::StatusCode, int> statuses;
  for (int round = 0; round < 600; ++round) {
    const auto& method = *service->method(
        static_cast<int>(random() % static_cast<std::uint64_t>(service->method_count())));
    // Programs are started in tests of their own.
    if (method.name() == "Record")
      continue;
    std::unique_ptr<google::protobuf::Message> request(
        google::protobuf::MessageFactory::generated_factory()
            ->GetPrototype(method.input_type())
            ->New());
    fill(*request, random, handle);
    std::string bytes = request->SerializePartialAsString();
    if (random() % 4 == 0) {  // damaged on the way
      for (char& byte : bytes) {
        if (random() % 8 == 0)
          byte = static_cast<char>(random());
      }
    }
    ++statuses[call_with_bytes(client, method.name(), bytes).error_code()];
    if (client.try_predict(handle, {1}).error_code() == grpc::StatusCode::NOT_FOUND)
      handle = client.open(path).handle();  // it was closed
  }
  ASSERT_TRUE(daemon.running()) << daemon.errors();
  EXPECT_EQ(client.info().protocol(), 1U);
  EXPECT_GT(statuses[grpc::StatusCode::OK], 0);
  EXPECT_GT(statuses[grpc::StatusCode::NOT_FOUND], 0);
  EXPECT_GT(statuses[grpc::StatusCode::INVALID_ARGUMENT], 0);
  EXPECT_EQ(statuses[grpc::StatusCode::UNKNOWN], 0);
  EXPECT_EQ(statuses[grpc::StatusCode::UNAVAILABLE], 0);
}

class DamagedTimelineRequest : public ::testing::Test {
 protected:
  DamagedTimelineRequest() {
    request.set_handle(
        client.open(directory.write("small.prog", "thread T\n  run f 5\n")).handle());
    request.mutable_simulation()->set_cpus(2);
    request.mutable_simulation()->set_scheduler("shared");
    request.mutable_view()->set_pixels(100);
    request.add_rows(0);
    whole = request.SerializeAsString();
  }
  // Whatever was sent, the daemon goes on.
  void TearDown() override { EXPECT_EQ(code_of(whole), grpc::StatusCode::OK) << daemon.errors(); }
  [[nodiscard]] grpc::StatusCode code_of(const std::string& bytes) const {
    return call_with_bytes(client, "GetTimeline", bytes).error_code();
  }

  TemporaryDirectory directory;
  Daemon daemon;
  const Client client{daemon};
  v1::GetTimelineRequest request;
  std::string whole;  // its bytes
};

TEST_F(DamagedTimelineRequest, WhatIsNoMessageIsRefusedInWords) {
  Random random(7);
  std::string noise(1000, '\0');
  std::generate(noise.begin(), noise.end(), [&] { return static_cast<char>(random()); });
  // A field's number that goes on for ever, one that is 0, an interval of more bytes than there are.
  for (const std::string& bytes :
       {std::string(1000, '\xff'), std::string(3, '\0'), std::string("\x1a\x7f\x08"), noise}) {
    const grpc::Status status = call_with_bytes(client, "GetTimeline", bytes);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_THAT(status.error_message(), ::testing::HasSubstr("no GetTimelineRequest"));
  }
}

TEST_F(DamagedTimelineRequest, CutOffAnywhere) {
  int no_message = 0;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string cut = whole.substr(0, length);
    if (v1::GetTimelineRequest().ParseFromString(cut)) {
      // What is left is a message: without a handle, or with too little of what to draw.
      EXPECT_THAT(code_of(cut), ::testing::AnyOf(grpc::StatusCode::OK, grpc::StatusCode::NOT_FOUND,
                                                 grpc::StatusCode::INVALID_ARGUMENT))
          << length << " bytes";
    } else {
      EXPECT_EQ(code_of(cut), grpc::StatusCode::INVALID_ARGUMENT) << length << " bytes";
      ++no_message;
    }
  }
  EXPECT_GT(no_message, 0);
}

TEST_F(DamagedTimelineRequest, FieldsThatAreOthersThanTheyShouldBeCountAsNotThere) {
  const std::string unknown = "\xfa\x01\x03xyz";  // of field 31
  EXPECT_EQ(code_of(whole + unknown), grpc::StatusCode::OK);
  const std::string handle_as_text = "\x0a\x03xyz";
  request.clear_handle();
  EXPECT_EQ(code_of(request.SerializeAsString() + handle_as_text), grpc::StatusCode::NOT_FOUND);
}

TEST(Hostile, ARequestThatIsTooLargeIsRefused) {
  Daemon daemon;
  const Client client(daemon);
  const grpc::Status status = client.try_open(std::string(5 * 1024 * 1024, 'x'));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(client.info().protocol(), 1U);
}

TEST(Hostile, ALongNameMakesAMessageThatStillArrives) {
  Daemon daemon;
  const Client client(daemon);
  const grpc::Status status = client.try_open(std::string("/").append(100'000, 'x'));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
  EXPECT_GT(status.error_message().size(), 1000U);
  EXPECT_LT(status.error_message().size(), 3000U);
}

TEST(Hostile, BytesThatAreNoGrpc) {
  Daemon daemon;
  Random random(42);
  for (int round = 0; round < 100; ++round) {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, daemon.socket().c_str(), sizeof(address.sun_path) - 1);
    ASSERT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    std::string bytes = round % 2 == 0 ? "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" : "";
    for (int i = 0; i < 200; ++i)
      bytes += static_cast<char>(random());
    static_cast<void>(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL));
    ::close(fd);
  }
  EXPECT_EQ(Client(daemon).info().protocol(), 1U);
  EXPECT_TRUE(daemon.running());
}

TEST(Hostile, ManyClientsAtOnce) {
  TemporaryDirectory directory;
  Daemon daemon;
  const auto path =
      directory.write("two.prog", "thread A\n  run f 5\n  post S\nthread B\n  wait S\n  run g 2\n");
  std::vector<std::thread> clients;
  for (int number = 0; number < 8; ++number) {
    clients.emplace_back([&, number] {
      const Client client(daemon);
      for (int i = 0; i < 20; ++i) {
        const std::uint64_t handle = client.open(path).handle();
        const auto cpus = static_cast<std::uint32_t>(1 + (i + number) % 5);
        EXPECT_DOUBLE_EQ(client.functions(handle, {cpus, 9, cpus}).total_ns(2), 7e6);
        EXPECT_DOUBLE_EQ(client.lines(handle, {cpus}).total_ns(0), 7e6);
        client.close(handle);
      }
    });
  }
  for (std::thread& client : clients)
    client.join();
}

}  // namespace
}  // namespace longpole::testing
