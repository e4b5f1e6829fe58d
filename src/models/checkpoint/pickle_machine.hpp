// The stack, the memo and the containers of the pickle machine; pickle.cpp maps instructions to
// them.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>

#include "models/checkpoint/pickle_value.hpp"

namespace trine::checkpoint {

/// Every member throws `Error(bad_input)` where the pickle breaks the machine's rules or a bound.
class Machine {
 public:
  explicit Machine(PickleDocument& document)
      : document_(document), input_(as_text(document.bytes())) {}

  // Input, little-endian.
  std::string_view take(std::uint64_t length);
  std::string_view take_line();
  template <class Unsigned>
  Unsigned take_unsigned() {
    Unsigned value = 0;
    std::memcpy(&value, take(sizeof(Unsigned)).data(), sizeof(Unsigned));
    return value;
  }

  // Stack.
  void push(Node* node);
  void push_constant(NodeKind kind, std::int64_t value);
  void push_integer(std::int64_t value);
  void push_real();
  void push_text(std::string_view text);
  void push_bytes(std::string_view bytes);
  void push_old_string(std::string_view text);
  void push_wide_integer(std::string_view little_endian);
  Node* push_new(NodeKind kind);
  Node* pop();
  void pop_or_unmark();
  void duplicate() { push(top()); }
  void mark();
  std::size_t pop_mark();
  void pop_to_mark() { stack_.resize(pop_mark()); }

  // Memo.
  void memo_put(std::uint64_t index);
  void memo_get(std::uint64_t index);
  void memoize() { memo_put(memo_.size()); }

  // Containers, names, objects.
  void collect(NodeKind kind);
  void tuple_of(std::size_t count);
  void append(std::size_t first, NodeKind kind);
  void append_one() {
    append(stack_.size() - std::min<std::size_t>(1, stack_.size()), NodeKind::list);
  }
  void set_items(std::size_t first);
  void set_one_item() { set_items(stack_.size() - std::min<std::size_t>(2, stack_.size())); }
  void name(std::string_view module, std::string_view attribute);
  void name_from_stack();
  void call();
  void call_with_keywords();
  void build();
  void persistent();

  void check_protocol();
  void stop() { running_ = false; }
  bool running() const { return running_; }
  std::size_t position() const { return position_; }
  /// Makes the value that is left the document's root.
  void finish();

 private:
  Node* top() const;
  Node* container_below(std::size_t first);
  void refer(std::size_t count);
  void fill_container(Node& node, const Node& arguments);

  PickleDocument& document_;
  std::string_view input_;
  std::size_t position_ = 0;
  bool running_ = true;
  std::vector<Node*> stack_;
  std::vector<std::size_t> marks_;
  std::vector<Node*> memo_;
  std::array<Node*, 3> constants_{};
  std::size_t nodes_ = 0;
  std::size_t references_ = 0;
};

}  // namespace trine::checkpoint
