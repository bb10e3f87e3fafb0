#include "runs.h"

#include <google/protobuf/io/coded_stream.h>
#include <gtest/gtest.h>

#include "analysis/forecast.h"
#include "programs.h"
#include "random_program.h"
#include "trace/recording_text.h"

namespace longpole::exporting {

using google::protobuf::UnknownField;

std::shared_ptr<const Recording> golden(const std::string& name) {
  return std::make_shared<const Recording>(analysis::read_golden(name));
}

std::shared_ptr<const Recording> random_recording(std::uint64_t seed) {
  return std::make_shared<const Recording>(analysis::read_text(analysis::random_program(seed)));
}

std::shared_ptr<const Recording> recording_of(std::string_view text) {
  return std::make_shared<const Recording>(read_recording_text(text, "text").value());
}

std::shared_ptr<const analysis::Execution> execution_of(
    const std::shared_ptr<const Recording>& recording, std::string_view scheduler,
    std::uint32_t cpus) {
  analysis::Computer computer = analysis::computer_named(scheduler).value();
  computer.machine.cpus = cpus;
  return analysis::Forecaster(recording).execute(computer, {}).value().execution;
}

Message::Message(const std::string& bytes) {
  auto fields = std::make_shared<google::protobuf::UnknownFieldSet>();
  EXPECT_TRUE(fields->ParseFromString(bytes));
  fields_ = std::move(fields);
}

bool Message::has(int field) const {
  for (int i = 0; i < fields_->field_count(); ++i) {
    if (fields_->field(i).number() == field)
      return true;
  }
  return false;
}

std::vector<std::int64_t> Message::numbers(int field) const {
  std::vector<std::int64_t> out;
  for (int i = 0; i < fields_->field_count(); ++i) {
    const UnknownField& at = fields_->field(i);
    if (at.number() != field)
      continue;
    if (at.type() == UnknownField::TYPE_VARINT) {
      out.push_back(static_cast<std::int64_t>(at.varint()));
    } else if (at.type() == UnknownField::TYPE_FIXED64) {
      out.push_back(static_cast<std::int64_t>(at.fixed64()));
    }
  }
  return out;
}

std::vector<std::int64_t> Message::packed_numbers(int field) const {
  const std::string packed = text(field);
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(packed.data()),
                                            static_cast<int>(packed.size()));
  std::vector<std::int64_t> out;
  std::uint64_t value = 0;
  while (in.ReadVarint64(&value))
    out.push_back(static_cast<std::int64_t>(value));
  return out;
}

std::int64_t Message::number(int field) const {
  const std::vector<std::int64_t> all = numbers(field);
  return all.empty() ? 0 : all.back();
}

std::vector<std::string> Message::texts(int field) const {
  std::vector<std::string> out;
  for (int i = 0; i < fields_->field_count(); ++i) {
    const UnknownField& at = fields_->field(i);
    if (at.number() == field && at.type() == UnknownField::TYPE_LENGTH_DELIMITED)
      out.push_back(at.length_delimited());
  }
  return out;
}

std::string Message::text(int field) const {
  const std::vector<std::string> all = texts(field);
  return all.empty() ? "" : all.back();
}

std::vector<Message> Message::messages(int field) const {
  std::vector<Message> out;
  for (const std::string& bytes : texts(field))
    out.emplace_back(bytes);
  return out;
}

}  // namespace longpole::exporting
