// Models found by name.
#include "trine/model_files.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "trine/error.hpp"

namespace trine::test {
namespace {

namespace fs = std::filesystem;

class ModelFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("trine_model_files_" + std::to_string(::getpid()));
    for (const char* place : {"own", "data/trine/models", "shared/trine/models"}) {
      fs::create_directories(folder_ / place);
    }
    fs::current_path(folder_);  // which has no folder models
    ::setenv("TRINE_MODEL_DIR", in("own").c_str(), 1);
    ::setenv("XDG_DATA_HOME", in("data").c_str(), 1);
    ::setenv("XDG_DATA_DIRS", (in("absent") + ":" + in("shared")).c_str(), 1);
  }
  void TearDown() override {
    for (const char* name : {"TRINE_MODEL_DIR", "XDG_DATA_HOME", "XDG_DATA_DIRS"}) ::unsetenv(name);
    fs::current_path(before_);
    fs::remove_all(folder_);
  }

  std::string in(const std::string& path) const { return folder_ / path; }
  std::string write(const std::string& path) const {
    std::ofstream(in(path)) << "weights";
    return in(path);
  }

  const fs::path before_ = fs::current_path();
  fs::path folder_;
};

TEST_F(ModelFiles, TheFirstFolderThatHasTheNameCounts) {
  const std::string shared = write("shared/trine/models/a.ckpt");
  EXPECT_EQ(find_model("a"), shared);
  const std::string home = write("data/trine/models/a.ckpt");
  EXPECT_EQ(find_model("a"), home);
  EXPECT_EQ(find_model("a.ckpt"), home);
  const std::string own = write("own/a.ckpt");
  EXPECT_EQ(find_model("a"), own);
  EXPECT_EQ(find_model(shared), shared);
}

TEST_F(ModelFiles, WhatNamesNoFileStaysAsItIs) {
  EXPECT_EQ(find_model("synthetic:xs"), "synthetic:xs");
}

TEST_F(ModelFiles, AnErrorListsPlacesAndKnownNames) {
  write("own/b.ckpt"), write("shared/trine/models/a.ckpt"), write("shared/trine/models/b.ckpt");
  write("own/notes.txt");
  fs::create_directories(in("own/missing.ckpt"));  // a folder is no model
  try {
    find_model("missing");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    const std::string text = error.what();
    for (const char* part :
         {"no model 'missing'", "/own, models, ", "/shared/trine/models", "; known are a, b)"}) {
      EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
    }
  }
}

TEST_F(ModelFiles, TheInstallationComesBetweenTheUserAndTheSystem) {
  const auto folders = model_folders();
  const auto place = [&](const std::string& folder) {
    return std::find(folders.begin(), folders.end(), folder) - folders.begin();
  };
  const auto size = static_cast<std::ptrdiff_t>(folders.size());
  EXPECT_EQ(size, 6);  // own, ./models, the user's, the installation's, and two of the system
  EXPECT_EQ(place(in("data/trine/models")), 2);
  EXPECT_TRUE(folders[3].ends_with("/share/trine/models")) << folders[3];
  EXPECT_TRUE(fs::path(folders[3]).is_absolute()) << folders[3];
  EXPECT_EQ(place(in("shared/trine/models")), 5);
}

}  // namespace
}  // namespace trine::test
