#include "base/check.hpp"

#include <gtest/gtest.h>

#include "base/enum_names.hpp"

namespace trine {

enum class Fruit { apple, pear, size_ };
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<Fruit> = {"apple", "pear"};

namespace {

TEST(Check, ThrowsCodeAndMessageOnlyWhenTheConditionFails) {
  EXPECT_NO_THROW(check(true, ErrorCode::usage, "never {}", 1));
  try {
    check(false, ErrorCode::not_supported, "{} is {} (why), do that", "this", 7);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_supported);
    EXPECT_STREQ(error.what(), "this is 7 (why), do that");
  }
}

TEST(Check, AnErrorIsARuntimeError) {
  EXPECT_THROW(fail(ErrorCode::bad_input, "text"), std::runtime_error);
}

TEST(EnumNames, NamesAndParsingAreInverse) {
  for (const Fruit fruit : {Fruit::apple, Fruit::pear}) {
    EXPECT_EQ(parse_enum<Fruit>(name_of(fruit)), fruit);
  }
  EXPECT_EQ(name_of(Fruit::pear), "pear");
}

TEST(EnumNames, UnknownNamesGiveNothing) {
  for (const std::string_view name : {"", "Apple", "apples", "size_"}) {
    EXPECT_FALSE(parse_enum<Fruit>(name)) << name;
  }
}

TEST(EnumNames, ListIsForMessages) {
  EXPECT_EQ(list_names<Fruit>(), "apple, pear");
}

}  // namespace
}  // namespace trine
