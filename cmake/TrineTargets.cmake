# Helpers that give every folder of src/ its own target and every test its own program.

# trine_add_folder(NAME <folder> SOURCES ... DEPENDS ... LIBRARIES ... PART_OF trine|trine_gemm)
# One object library per folder of src/; DEPENDS are folders, LIBRARIES third-party targets. PART_OF is
# the library that the objects go to, trine if it is left out.
function(trine_add_folder)
  cmake_parse_arguments(ARG "" "NAME;PART_OF" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  if(NOT ARG_PART_OF)
    set(ARG_PART_OF trine)
  endif()
  string(REPLACE "/" "_" target "trine_${ARG_NAME}")
  add_library(${target} OBJECT ${ARG_SOURCES})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
  target_link_libraries(${target} PRIVATE trine_warnings fmt::fmt ${ARG_LIBRARIES})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  set_property(GLOBAL APPEND PROPERTY ${ARG_PART_OF}_FOLDERS ${target})
endfunction()

# trine_add_test(<path below tests/, without _test.cpp> [NAME ...] [LABELS ...] [LIBRARIES ...])
# One GoogleTest program per file, named after NAME, which is the path if it is left out; it sees the
# internal headers. Callable from any folder: the path always counts from tests/.
function(trine_add_test path)
  cmake_parse_arguments(ARG "" "NAME" "LABELS;LIBRARIES" ${ARGN})
  if(NOT ARG_NAME)
    set(ARG_NAME ${path})
  endif()
  string(REPLACE "/" "_" name "${ARG_NAME}")
  add_executable(${name}_test ${PROJECT_SOURCE_DIR}/tests/${path}_test.cpp)
  target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR}/src
    ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name}_test PRIVATE trine trine_warnings fmt::fmt GTest::gtest_main
    nlohmann_json::nlohmann_json ${ARG_LIBRARIES})
  # A third less time to compile; what is tested is in the library.
  target_compile_options(${name}_test PRIVATE $<$<CONFIG:Release>:-O1>)
  # Where the data are, unless environment variables of these names say otherwise: tests/paths.hpp.
  target_compile_definitions(${name}_test PRIVATE
    TRINE_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data"
    TRINE_REFERENCE="${PROJECT_BINARY_DIR}/reference"
    TRINE_MODELS="${PROJECT_SOURCE_DIR}/models")
  add_test(NAME ${ARG_NAME} COMMAND ${name}_test)
  set_tests_properties(${ARG_NAME} PROPERTIES TIMEOUT 300 LABELS "${ARG_LABELS}")
endfunction()
