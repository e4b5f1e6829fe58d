#include "models/checkpoint/pickle.hpp"

#include <array>

#include "models/checkpoint/pickle_machine.hpp"

namespace trine::checkpoint {
namespace {

struct Opcode {
  unsigned char code;
  void (*run)(Machine&);
};

using M = Machine;
// clang-format off
constexpr std::array kOpcodes = {
    // control
    Opcode{0x80, [](M& m) { m.check_protocol(); }},                             // PROTO
    Opcode{0x95, [](M& m) { m.take_unsigned<std::uint64_t>(); }},               // FRAME
    Opcode{'.', [](M& m) { m.stop(); }},                                        // STOP
    Opcode{'(', [](M& m) { m.mark(); }},                                        // MARK
    Opcode{'0', [](M& m) { m.pop_or_unmark(); }},                               // POP
    Opcode{'1', [](M& m) { m.pop_to_mark(); }},                                 // POP_MARK
    Opcode{'2', [](M& m) { m.duplicate(); }},                                   // DUP
    // scalars
    Opcode{'N', [](M& m) { m.push_constant(NodeKind::none, 0); }},              // NONE
    Opcode{0x88, [](M& m) { m.push_constant(NodeKind::boolean, 1); }},          // NEWTRUE
    Opcode{0x89, [](M& m) { m.push_constant(NodeKind::boolean, 0); }},          // NEWFALSE
    Opcode{'K', [](M& m) { m.push_integer(m.take_unsigned<std::uint8_t>()); }},   // BININT1
    Opcode{'M', [](M& m) { m.push_integer(m.take_unsigned<std::uint16_t>()); }},  // BININT2
    Opcode{'J', [](M& m) {
      m.push_integer(static_cast<std::int32_t>(m.take_unsigned<std::uint32_t>())); }},  // BININT
    Opcode{0x8a, [](M& m) { m.push_wide_integer(m.take(m.take_unsigned<std::uint8_t>())); }},   // LONG1
    Opcode{0x8b, [](M& m) { m.push_wide_integer(m.take(m.take_unsigned<std::uint32_t>())); }},  // LONG4
    Opcode{'G', [](M& m) { m.push_real(); }},                                   // BINFLOAT
    // text and bytes
    Opcode{0x8c, [](M& m) { m.push_text(m.take(m.take_unsigned<std::uint8_t>())); }},   // SHORT_BINUNICODE
    Opcode{'X', [](M& m) { m.push_text(m.take(m.take_unsigned<std::uint32_t>())); }},   // BINUNICODE
    Opcode{0x8d, [](M& m) { m.push_text(m.take(m.take_unsigned<std::uint64_t>())); }},  // BINUNICODE8
    Opcode{'U', [](M& m) { m.push_old_string(m.take(m.take_unsigned<std::uint8_t>())); }},   // SHORT_BINSTRING
    Opcode{'T', [](M& m) { m.push_old_string(m.take(m.take_unsigned<std::uint32_t>())); }},  // BINSTRING
    Opcode{'C', [](M& m) { m.push_bytes(m.take(m.take_unsigned<std::uint8_t>())); }},    // SHORT_BINBYTES
    Opcode{'B', [](M& m) { m.push_bytes(m.take(m.take_unsigned<std::uint32_t>())); }},   // BINBYTES
    Opcode{0x8e, [](M& m) { m.push_bytes(m.take(m.take_unsigned<std::uint64_t>())); }},  // BINBYTES8
    Opcode{0x96, [](M& m) { m.push_bytes(m.take(m.take_unsigned<std::uint64_t>())); }},  // BYTEARRAY8
    // containers
    Opcode{']', [](M& m) { m.push_new(NodeKind::list); }},                      // EMPTY_LIST
    Opcode{'}', [](M& m) { m.push_new(NodeKind::dict); }},                      // EMPTY_DICT
    Opcode{')', [](M& m) { m.push_new(NodeKind::tuple); }},                     // EMPTY_TUPLE
    Opcode{0x8f, [](M& m) { m.push_new(NodeKind::set); }},                      // EMPTY_SET
    Opcode{'l', [](M& m) { m.collect(NodeKind::list); }},                       // LIST
    Opcode{'d', [](M& m) { m.collect(NodeKind::dict); }},                       // DICT
    Opcode{'t', [](M& m) { m.collect(NodeKind::tuple); }},                      // TUPLE
    Opcode{0x91, [](M& m) { m.collect(NodeKind::set); }},                       // FROZENSET
    Opcode{0x85, [](M& m) { m.tuple_of(1); }},                                  // TUPLE1
    Opcode{0x86, [](M& m) { m.tuple_of(2); }},                                  // TUPLE2
    Opcode{0x87, [](M& m) { m.tuple_of(3); }},                                  // TUPLE3
    Opcode{'a', [](M& m) { m.append_one(); }},                                  // APPEND
    Opcode{'e', [](M& m) { m.append(m.pop_mark(), NodeKind::list); }},          // APPENDS
    Opcode{0x90, [](M& m) { m.append(m.pop_mark(), NodeKind::set); }},          // ADDITEMS
    Opcode{'s', [](M& m) { m.set_one_item(); }},                                // SETITEM
    Opcode{'u', [](M& m) { m.set_items(m.pop_mark()); }},                       // SETITEMS
    // memo
    Opcode{'q', [](M& m) { m.memo_put(m.take_unsigned<std::uint8_t>()); }},     // BINPUT
    Opcode{'r', [](M& m) { m.memo_put(m.take_unsigned<std::uint32_t>()); }},    // LONG_BINPUT
    Opcode{0x94, [](M& m) { m.memoize(); }},                                    // MEMOIZE
    Opcode{'h', [](M& m) { m.memo_get(m.take_unsigned<std::uint8_t>()); }},     // BINGET
    Opcode{'j', [](M& m) { m.memo_get(m.take_unsigned<std::uint32_t>()); }},    // LONG_BINGET
    // names and objects
    Opcode{'c', [](M& m) { const auto module = m.take_line(); m.name(module, m.take_line()); }},  // GLOBAL
    Opcode{0x93, [](M& m) { m.name_from_stack(); }},                            // STACK_GLOBAL
    Opcode{'R', [](M& m) { m.call(); }},                                        // REDUCE
    Opcode{0x81, [](M& m) { m.call(); }},                                       // NEWOBJ
    Opcode{0x92, [](M& m) { m.call_with_keywords(); }},                         // NEWOBJ_EX
    Opcode{'b', [](M& m) { m.build(); }},                                       // BUILD
    Opcode{'Q', [](M& m) { m.persistent(); }},                                  // BINPERSID
};
// clang-format on

constexpr std::array<const Opcode*, 256> kDispatch = [] {
  std::array<const Opcode*, 256> table{};
  for (const Opcode& opcode : kOpcodes) table[opcode.code] = &opcode;
  return table;
}();

}  // namespace

PickleDocument read_pickle(SharedBytes bytes) {
  require(bytes.size <= kLargestPickle, "the pickle has {} bytes, more than {}", bytes.size,
          kLargestPickle);
  PickleDocument document(std::move(bytes));
  Machine machine(document);
  while (machine.running()) {
    const std::size_t at = machine.position();
    const auto code = machine.take_unsigned<std::uint8_t>();
    require(kDispatch[code] != nullptr,
            "byte {} of the pickle is {:#04x}, an instruction that no checkpoint needs", at, code);
    kDispatch[code]->run(machine);
  }
  machine.finish();
  return document;
}

}  // namespace trine::checkpoint
