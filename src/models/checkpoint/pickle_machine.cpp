#include "models/checkpoint/pickle_machine.hpp"

#include <bit>

#include "models/checkpoint/pickle.hpp"
#include "models/checkpoint/pickle_names.hpp"

namespace trine::checkpoint {

std::string_view Machine::take(std::uint64_t length) {
  require(length <= input_.size() - position_, "the pickle ends early, at byte {}", input_.size());
  const std::string_view taken = input_.substr(position_, static_cast<std::size_t>(length));
  position_ += taken.size();
  return taken;
}

std::string_view Machine::take_line() {
  const std::size_t end = input_.find('\n', position_);
  require(end != std::string_view::npos && end - position_ < 1024,
          "a name at byte {} of the pickle does not end", position_);
  std::string_view line = take(end + 1 - position_);
  line.remove_suffix(1);
  return line;
}

void Machine::check_protocol() {
  const int protocol = take_unsigned<std::uint8_t>();
  require(protocol <= 5, "the pickle's protocol is {}, newer than 5", protocol);
}

void Machine::push(Node* node) {
  require(stack_.size() < kDeepestStack, "the pickle's stack holds more than {} values",
          kDeepestStack);
  stack_.push_back(node);
}

Node* Machine::push_new(NodeKind kind) {
  require(++nodes_ <= kMostNodes, "the pickle has more than {} values", kMostNodes);
  Node* node = document_.add(kind);
  push(node);
  return node;
}

void Machine::push_constant(NodeKind kind, std::int64_t value) {
  const std::size_t index = kind == NodeKind::none ? 2 : static_cast<std::size_t>(value);
  if (constants_[index] != nullptr) return push(constants_[index]);
  Node* node = push_new(kind);
  node->integer = value;
  constants_[index] = node;
}

void Machine::push_integer(std::int64_t value) {
  push_new(NodeKind::integer)->integer = value;
}

void Machine::push_real() {
  std::uint64_t bits = 0;
  for (const char c : take(8)) bits = bits << 8 | static_cast<unsigned char>(c);
  push_new(NodeKind::real)->real = std::bit_cast<double>(bits);
}

void Machine::push_text(std::string_view text) {
  require(is_utf8(text), "a text that ends at byte {} of the pickle is not UTF-8", position_);
  push_new(NodeKind::text)->text = text;
}

void Machine::push_bytes(std::string_view bytes) {
  push_new(NodeKind::bytes)->text = bytes;
}

/// Strings of Python 2 are text or bytes, which only their contents tell.
void Machine::push_old_string(std::string_view text) {
  push_new(is_utf8(text) ? NodeKind::text : NodeKind::bytes)->text = text;
}

void Machine::push_wide_integer(std::string_view little_endian) {
  if (little_endian.size() > 8) {
    push_new(NodeKind::too_large);
    return;
  }
  std::uint64_t value = 0;
  const bool negative = !little_endian.empty() && (little_endian.back() & 0x80) != 0;
  if (negative) value = ~std::uint64_t{0};
  for (std::size_t i = little_endian.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(little_endian[i]);
  }
  push_integer(static_cast<std::int64_t>(value));
}

Node* Machine::top() const {
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  require(stack_.size() > floor, "the pickle takes more than it has, at byte {}", position_);
  return stack_.back();
}

Node* Machine::pop() {
  Node* node = top();
  stack_.pop_back();
  return node;
}

void Machine::pop_or_unmark() {
  if (!marks_.empty() && marks_.back() == stack_.size()) {
    marks_.pop_back();
  } else {
    pop();
  }
}

void Machine::mark() {
  require(marks_.size() < kDeepestMarks, "the pickle is nested more than {} deep", kDeepestMarks);
  marks_.push_back(stack_.size());
}

std::size_t Machine::pop_mark() {
  require(!marks_.empty(), "the pickle closes what it did not open, at byte {}", position_);
  const std::size_t first = marks_.back();
  marks_.pop_back();
  return first;
}

/// An index is at most the number of bytes, since every entry takes some: a bound for the table.
void Machine::memo_put(std::uint64_t index) {
  require(index < input_.size(), "the pickle remembers a value under the number {}", index);
  Node* node = top();
  if (index >= memo_.size()) memo_.resize(static_cast<std::size_t>(index) + 1);
  memo_[static_cast<std::size_t>(index)] = node;
}

void Machine::memo_get(std::uint64_t index) {
  const bool known = index < memo_.size() && memo_[static_cast<std::size_t>(index)] != nullptr;
  require(known, "the pickle recalls value {}, which it did not remember", index);
  push(memo_[static_cast<std::size_t>(index)]);
}

void Machine::refer(std::size_t count) {
  references_ += count;
  require(references_ <= kMostReferences, "the pickle has more than {} references",
          kMostReferences);
}

void Machine::collect(NodeKind kind) {
  const std::size_t first = pop_mark();
  const std::size_t count = stack_.size() - first;
  require(kind != NodeKind::dict || count % 2 == 0, "a dict has a key without a value");
  refer(count);
  std::vector<const Node*> items(stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end());
  stack_.resize(first);
  push_new(kind)->items = std::move(items);
}

void Machine::tuple_of(std::size_t count) {
  refer(count);
  std::vector<const Node*> items(count);
  for (std::size_t i = count; i-- > 0;) items[i] = pop();
  push_new(NodeKind::tuple)->items = std::move(items);
}

Node* Machine::container_below(std::size_t first) {
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  require(first > floor && first <= stack_.size(), "the pickle fills nothing, at byte {}",
          position_);
  return stack_[first - 1];
}

void Machine::append(std::size_t first, NodeKind kind) {
  Node* container = container_below(first);
  const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(first);
  if (container->kind == kind) {
    refer(stack_.size() - first);
    container->items.insert(container->items.end(), begin, stack_.end());
  } else {
    require(container->kind == NodeKind::object, "the pickle appends to {}", *container);
  }
  stack_.resize(first);
}

void Machine::set_items(std::size_t first) {
  Node* container = container_below(first);
  const std::size_t count = stack_.size() - first;
  require(count % 2 == 0, "a dict has a key without a value, at byte {}", position_);
  if (container->kind == NodeKind::dict) {
    refer(count);
    container->items.insert(container->items.end(),
                            stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end());
  } else {
    require(container->kind == NodeKind::object, "the pickle sets items of {}", *container);
  }
  stack_.resize(first);
}

void Machine::name(std::string_view module, std::string_view attribute) {
  const std::string full = fmt::format("{}.{}", module, attribute);
  require(is_utf8(full) && full.size() < 1024, "a name in the pickle is not text");
  check(!is_dangerous(module, attribute), ErrorCode::bad_input,
        "the file wants to run {} (nothing of it was run), do not use it and do not open it with "
        "Python",
        printable(full));
  push_new(NodeKind::global)->text = document_.keep(full);
}

void Machine::name_from_stack() {
  const Node* attribute = pop();
  const Node* module = pop();
  require(attribute->kind == NodeKind::text && module->kind == NodeKind::text,
          "a name in the pickle is not text");
  name(module->text, attribute->text);
}

/// The container that a call of its class makes; items come from the first argument, if any.
void Machine::fill_container(Node& node, const Node& arguments) {
  if (arguments.items.empty()) return;
  const Node& source = *arguments.items.front();
  if (source.kind != NodeKind::list && source.kind != NodeKind::tuple) return;
  refer(source.items.size() * 2);
  if (node.kind == NodeKind::set) {
    node.items = source.items;
    return;
  }
  for (const Node* pair : source.items) {
    require(pair->items.size() == 2, "an OrderedDict is made from {}", *pair);
    node.items.insert(node.items.end(), pair->items.begin(), pair->items.end());
  }
}

void Machine::call() {
  const Node* arguments = pop();
  const Node* callee = pop();
  require(arguments->kind == NodeKind::tuple, "a call has {} for arguments", *arguments);
  require(callee->kind == NodeKind::global || callee->kind == NodeKind::object,
          "the pickle calls {}", *callee);
  const std::string_view name = callee->text;
  const std::string_view unqualified = name.substr(name.rfind('.') + 1);
  const bool builtin = is_builtin_module(name.substr(0, name.rfind('.')));
  if (builtin && (unqualified == "set" || unqualified == "frozenset")) {
    fill_container(*push_new(NodeKind::set), *arguments);
  } else if (name == "collections.OrderedDict" || name == "collections.defaultdict") {
    fill_container(*push_new(NodeKind::dict), *arguments);
  } else {
    refer(arguments->items.size());
    Node* object = push_new(NodeKind::object);
    object->text = name;
    object->items = arguments->items;
  }
}

void Machine::call_with_keywords() {
  pop();
  call();
}

/// A dict's own attributes (`_metadata` of a state dict) are not needed.
void Machine::build() {
  const Node* state = pop();
  Node* target = top();
  if (target->kind == NodeKind::object) {
    target->state = state;
  } else {
    require(target->kind == NodeKind::dict, "the pickle sets attributes of {}", *target);
  }
}

void Machine::persistent() {
  const Node* id = pop();
  push_new(NodeKind::persistent)->state = id;
}

void Machine::finish() {
  require(stack_.size() == 1 && marks_.empty(), "the pickle ends with {} values", stack_.size());
  document_.set_root(stack_.back());
}

}  // namespace trine::checkpoint
