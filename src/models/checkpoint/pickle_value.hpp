// Plain data that a pickle describes, and typed access to it with errors that say where.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/checkpoint/bytes.hpp"

namespace trine::checkpoint {

enum class NodeKind {
  none,
  boolean,
  integer,
  real,
  text,
  bytes,
  list,
  tuple,
  dict,
  set,
  global,      ///< only a name; nothing is looked up
  object,      ///< an instance of a class, or the result of a call; nothing was run
  persistent,  ///< data kept outside the pickle, such as a tensor's storage
  too_large,   ///< an integer that needs more than 64 bits
};

struct Node {
  NodeKind kind = NodeKind::none;
  std::int64_t integer = 0;  ///< integer, boolean
  double real = 0;
  std::string_view text;           ///< text, bytes; name of a global or of an object's class
  std::vector<const Node*> items;  ///< elements; keys and values in turn; arguments of an object
  const Node* state = nullptr;     ///< of an object; what a persistent id says
};

/// All nodes of one pickle. They refer to each other and to the pickle's bytes, and may form
/// cycles.
class PickleDocument {
 public:
  explicit PickleDocument(SharedBytes bytes) : bytes_(std::move(bytes)) {}

  const Node& root() const { return *root_; }
  Bytes bytes() const { return bytes_.span(); }

  void set_root(const Node* root) { root_ = root; }
  Node* add(NodeKind kind);
  std::string_view keep(std::string text);

 private:
  SharedBytes bytes_;
  std::deque<Node> nodes_;
  std::deque<std::string> texts_;
  const Node* root_ = nullptr;
};

/// "a list of 2", "an object made by numpy.dtype", "the number 3": for messages. A `Node` can also
/// be given to fmt, which then describes it.
std::string describe(const Node& node);

}  // namespace trine::checkpoint

template <>
struct fmt::formatter<trine::checkpoint::Node> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(const trine::checkpoint::Node& node, Context& context) const {
    return fmt::formatter<std::string_view>::format(trine::checkpoint::describe(node), context);
  }
};

namespace trine::checkpoint {

/// A node and the path that led to it. Every accessor throws `Error(bad_input)` that names the path
/// if the node is not what is asked for.
class Field {
 public:
  Field(const Node& node, std::string path) : node_(&node), path_(std::move(path)) {}

  const Node& node() const { return *node_; }
  const std::string& path() const { return path_; }
  bool is(NodeKind kind) const { return node_->kind == kind; }
  bool is_object(std::string_view class_name) const {
    return is(NodeKind::object) && node_->text == class_name;
  }

  /// Entry of a dict; the last one if a key is repeated. Absent, or None: nothing.
  std::optional<Field> find(std::string_view key) const;
  /// The same for an entry that must be there.
  Field at(std::string_view key) const;
  /// Element of a list, tuple or set, or argument of an object.
  Field at(std::size_t index) const;
  /// What an object was given to restore itself from.
  Field state() const;

  std::string_view text() const;
  std::int64_t integer() const;
  double number() const;                       ///< an integer or a real
  std::vector<std::int64_t> integers() const;  ///< of a list, tuple or set
  std::size_t count() const { return node_->items.size(); }
  /// Calls `visit(key, Field)` for every entry of a dict whose key is text, in the file's order.
  template <class Visit>
  void for_each_entry(Visit visit) const {
    expect(NodeKind::dict, "a dict");
    for (std::size_t i = 0; i + 1 < node_->items.size(); i += 2) {
      const Node& key = *node_->items[i];
      if (key.kind == NodeKind::text) visit(key.text, entry(i));
    }
  }

  void expect(NodeKind kind, std::string_view wanted) const;

 private:
  Field entry(std::size_t key_index) const;
  [[noreturn]] void fail_wanted(std::string_view wanted) const;

  const Node* node_;
  std::string path_;
};

}  // namespace trine::checkpoint
