#include "recording/record_counter.h"

#include <fcntl.h>

#include <algorithm>
#include <optional>

#include "longpole/raw_record.h"
#include "recording/children.h"
#include "recording/run_files.h"

namespace longpole::recording {
namespace {

constexpr std::uint64_t slots_of_a_page =
    (LONGPOLE_PAGE_BYTES - LONGPOLE_FIRST_SLOT) / sizeof(longpole_record);

// Where the slot is in its chunk.
std::uint64_t place_of(std::uint64_t slot) {
  return slot / slots_of_a_page * LONGPOLE_PAGE_BYTES + LONGPOLE_FIRST_SLOT +
         slot % slots_of_a_page * sizeof(longpole_record);
}

std::uint64_t slots_before(std::uint64_t place) {
  const std::uint64_t in_page = place % LONGPOLE_PAGE_BYTES;
  return place / LONGPOLE_PAGE_BYTES * slots_of_a_page +
         (in_page > LONGPOLE_FIRST_SLOT ? (in_page - LONGPOLE_FIRST_SLOT) / sizeof(longpole_record)
                                        : 0);
}

std::uint64_t records_in(int fd, std::uint64_t at, const longpole_chunk& chunk) {
  if (chunk.form == LONGPOLE_FORM_NOTHING)
    return 0;
  if (chunk.form == LONGPOLE_FORM_ENCODED)
    return chunk.used > sizeof chunk ? (chunk.used - sizeof chunk) / sizeof(longpole_record) : 0;
  if (chunk.used != 0)
    return slots_before(chunk.used);
  // It is still being filled: the first empty slot, by bisection.
  std::uint64_t low = 0;
  std::uint64_t high = slots_before(chunk.bytes);
  while (low < high) {
    const std::uint64_t middle = (low + high) / 2;
    const auto kind = read_at<std::uint8_t>(
        fd, at + place_of(middle) + offsetof(longpole_record, kind_and_flags));
    if (kind.value_or(0) != 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

bool is_chunk(const longpole_chunk& header) {
  return header.bytes != 0 && header.bytes % LONGPOLE_UNIT_BYTES == 0;
}

}  // namespace

std::uint64_t RecordCounter::count() {
  const Descriptor file(::open((run_directory_ / control_file).c_str(), O_RDONLY | O_CLOEXEC));
  const auto control = read_at<longpole_control>(file.get(), 0);
  if (!control)
    return 0;
  std::uint64_t records = count_own(std::uint64_t{control->next_unit} * LONGPOLE_UNIT_BYTES);
  for (std::uint32_t child = std::min(control->next_child, LONGPOLE_MOST_CHILDREN); child > 0;
       --child)
    records +=
        children_.try_emplace(child, run_directory_ / child_directory(child)).first->second.count();
  return records;
}

std::uint64_t RecordCounter::count_own(std::uint64_t end) {
  if (!events_)
    events_ = Descriptor(::open((run_directory_ / events_file).c_str(), O_RDONLY | O_CLOEXEC));
  if (!events_)
    return 0;
  std::uint64_t records = settled_;
  std::erase_if(changing_, [&](std::uint64_t at) {
    const auto header = read_at<longpole_chunk>(events_.get(), at);
    if (!header || !is_chunk(*header))
      return false;
    const std::uint64_t in_it = records_in(events_.get(), at, *header);
    const bool is_settled = header->form == LONGPOLE_FORM_ENCODED;
    records += in_it;
    settled_ += is_settled ? in_it : 0;
    return is_settled;
  });
  bool is_settling = true;  // up to a unit that somebody has claimed and not begun to write
  for (std::uint64_t at = looked_at_; at < end;) {
    const auto header = read_at<longpole_chunk>(events_.get(), at);
    if (!header)
      break;
    is_settling = is_settling && is_chunk(*header);
    const std::uint64_t in_it = is_chunk(*header) ? records_in(events_.get(), at, *header) : 0;
    records += in_it;
    const std::uint64_t next = at + (is_chunk(*header) ? header->bytes : LONGPOLE_UNIT_BYTES);
    if (is_settling) {
      if (header->form == LONGPOLE_FORM_ENCODED)
        settled_ += in_it;
      else
        changing_.push_back(at);
      looked_at_ = next;
    }
    at = next;
  }
  return records;
}

}  // namespace longpole::recording
