# fuzz_structures: the structure readers and the writer. With TRINE_FUZZ a libFuzzer program that
# compiles the readers itself, with the fuzzer's instruments; otherwise a replay of the sample files.
set(samples ${PROJECT_SOURCE_DIR}/tests/data/structures)
set(fuzz_dir ${PROJECT_SOURCE_DIR}/tests/fuzz)
if(TRINE_FUZZ)
  get_target_property(atoms_sources trine_atoms SOURCES)
  list(TRANSFORM atoms_sources PREPEND ${PROJECT_SOURCE_DIR}/src/atoms/)
  add_executable(fuzz_structures ${fuzz_dir}/fuzz_structures.cpp ${atoms_sources})
  target_compile_options(fuzz_structures PRIVATE -g -O1 -fno-omit-frame-pointer
    -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all)
  target_link_options(fuzz_structures PRIVATE -fsanitize=fuzzer,address,undefined)
  target_link_libraries(fuzz_structures PRIVATE ZLIB::ZLIB)
else()
  add_executable(fuzz_structures ${fuzz_dir}/fuzz_structures.cpp ${fuzz_dir}/replay.cpp)
  target_link_libraries(fuzz_structures PRIVATE trine)
  add_test(NAME fuzz/structures COMMAND fuzz_structures ${samples})
  set_tests_properties(fuzz/structures PROPERTIES TIMEOUT 300)
endif()
target_include_directories(fuzz_structures PRIVATE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(fuzz_structures PRIVATE trine_warnings fmt::fmt)
