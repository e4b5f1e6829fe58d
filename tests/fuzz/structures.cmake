# fuzz_structures: the structure readers and the writer under libFuzzer (clang only).
# Included by tests/fuzz/CMakeLists.txt; compiles the readers itself, with the fuzzer's instruments.
get_target_property(atoms_sources trine_atoms SOURCES)
list(TRANSFORM atoms_sources PREPEND ${PROJECT_SOURCE_DIR}/src/atoms/)
add_executable(fuzz_structures ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_structures.cpp ${atoms_sources})
target_include_directories(fuzz_structures PRIVATE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
target_compile_options(fuzz_structures PRIVATE -g -O1 -fno-omit-frame-pointer
  -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all)
target_link_options(fuzz_structures PRIVATE -fsanitize=fuzzer,address,undefined)
target_link_libraries(fuzz_structures PRIVATE trine_warnings fmt::fmt ZLIB::ZLIB)
