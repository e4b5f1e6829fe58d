// Checks that a call is refused in the way that a user would want.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "trine/error.hpp"

namespace trine::testing {

/// Fails unless `call` throws an `Error` with this code whose message contains `text`.
template <class Call>
void expect_error(ErrorCode code, const std::string& text, Call call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos)
        << "the message lacks '" << text << "': " << error.what();
    return;
  }
  ADD_FAILURE() << "no error; expected one with '" << text << "'";
}

}  // namespace trine::testing
