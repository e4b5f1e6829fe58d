#include "models/checkpoint/pickle_value.hpp"

namespace trine::checkpoint {

Node* PickleDocument::add(NodeKind kind) {
  Node& node = nodes_.emplace_back();
  node.kind = kind;
  return &node;
}

std::string_view PickleDocument::keep(std::string text) {
  return texts_.emplace_back(std::move(text));
}

std::string describe(const Node& node) {
  switch (node.kind) {
    case NodeKind::none:
      return "None";
    case NodeKind::boolean:
      return node.integer != 0 ? "True" : "False";
    case NodeKind::integer:
      return fmt::format("the number {}", node.integer);
    case NodeKind::real:
      return fmt::format("the number {}", node.real);
    case NodeKind::text:
      return fmt::format("the text '{}'", printable(node.text));
    case NodeKind::bytes:
      return fmt::format("{} bytes", node.text.size());
    case NodeKind::list:
      return fmt::format("a list of {}", node.items.size());
    case NodeKind::tuple:
      return fmt::format("a tuple of {}", node.items.size());
    case NodeKind::dict:
      return fmt::format("a dict of {}", node.items.size() / 2);
    case NodeKind::set:
      return fmt::format("a set of {}", node.items.size());
    case NodeKind::global:
      return fmt::format("the name {}", printable(node.text));
    case NodeKind::object:
      return fmt::format("an object made by {}", printable(node.text));
    case NodeKind::persistent:
      return "a reference to data outside the pickle";
    case NodeKind::too_large:
      return "an integer of more than 64 bits";
  }
  return "nothing";
}

void Field::fail_wanted(std::string_view wanted) const {
  fail_damaged("'{}' is {} where {} was expected", printable(path_), *node_, wanted);
}

void Field::expect(NodeKind kind, std::string_view wanted) const {
  if (node_->kind != kind) fail_wanted(wanted);
}

Field Field::entry(std::size_t key_index) const {
  static constexpr std::size_t kLongestKey = 1024;
  const std::string_view key = node_->items[key_index]->text;
  require(key.size() <= kLongestKey, "a name in '{}' has {} characters", printable(path_),
          key.size());
  std::string path = path_;
  if (!path.empty()) path += '.';
  path += key;
  return {*node_->items[key_index + 1], std::move(path)};
}

std::optional<Field> Field::find(std::string_view key) const {
  expect(NodeKind::dict, "a dict");
  for (std::size_t i = node_->items.size() / 2; i-- > 0;) {
    const Node& found = *node_->items[2 * i];
    if (found.kind != NodeKind::text || found.text != key) continue;
    if (node_->items[2 * i + 1]->kind == NodeKind::none) return std::nullopt;
    return entry(2 * i);
  }
  return std::nullopt;
}

Field Field::at(std::string_view key) const {
  auto found = find(key);
  require(found.has_value(), "'{}{}{}' is missing", printable(path_), path_.empty() ? "" : ".",
          key);
  return *found;
}

Field Field::at(std::size_t index) const {
  require(is(NodeKind::list) || is(NodeKind::tuple) || is(NodeKind::set) || is(NodeKind::object),
          "'{}' is {} where a sequence was expected", printable(path_), *node_);
  require(index < node_->items.size(), "'{}' is {} where at least {} elements were expected",
          printable(path_), *node_, index + 1);
  return {*node_->items[index], fmt::format("{}[{}]", path_, index)};
}

Field Field::state() const {
  expect(NodeKind::object, "an object");
  require(node_->state != nullptr, "'{}' is {} without contents", printable(path_), *node_);
  return {*node_->state, path_};
}

std::string_view Field::text() const {
  expect(NodeKind::text, "text");
  return node_->text;
}

std::int64_t Field::integer() const {
  expect(NodeKind::integer, "an integer");
  return node_->integer;
}

double Field::number() const {
  if (is(NodeKind::integer)) return static_cast<double>(node_->integer);
  expect(NodeKind::real, "a number");
  return node_->real;
}

std::vector<std::int64_t> Field::integers() const {
  if (!is(NodeKind::list) && !is(NodeKind::set)) expect(NodeKind::tuple, "a list of integers");
  std::vector<std::int64_t> values;
  values.reserve(count());
  for (const Node* item : node_->items) {
    if (item->kind != NodeKind::integer) fail_wanted("a list of integers");
    values.push_back(item->integer);
  }
  return values;
}

}  // namespace trine::checkpoint
