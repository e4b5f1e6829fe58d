# Run by ctest: cmake -DBUILD=... -DSOURCE=... -DCXX=... -P package_test.cmake
set(work ${BUILD}/package_test)
file(REMOVE_RECURSE ${work})

function(run)
  cmake_parse_arguments(ARG "" "OUTPUT" "COMMAND" ${ARGN})
  execute_process(COMMAND ${ARG_COMMAND} RESULT_VARIABLE status OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARG_COMMAND}\nended with ${status}:\n${output}")
  endif()
  if(ARG_OUTPUT)
    set(${ARG_OUTPUT} "${output}" PARENT_SCOPE)
  endif()
endfunction()

function(expect text pattern)
  if(NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "expected '${pattern}' in:\n${text}")
  endif()
endfunction()

run(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix)
run(COMMAND ${CMAKE_COMMAND} -S ${SOURCE}/examples -B ${work}/build -G Ninja
  -DCMAKE_PREFIX_PATH=${work}/prefix -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_FLAGS=${FLAGS})
run(COMMAND ${CMAKE_COMMAND} --build ${work}/build)

set(model ${work}/prefix/share/trine/models/trine-mini.ckpt)
run(COMMAND ${work}/build/evaluate ${model} ${SOURCE}/examples/water192.xyz OUTPUT output)
expect("${output}" "3 atoms, energy -[0-9.]+ eV")
expect("${output}" "192 atoms, energy -299[0-9.]+ eV")
expect("${output}" "pressure -?[0-9.]+ eV")

run(COMMAND ${work}/build/device_arrays ${model} ${SOURCE}/examples/water192.xyz OUTPUT output)
expect("${output}" "192 atoms on [a-z0-9:]+, energy -299[0-9.]+ eV")

run(COMMAND ${work}/build/gemm 70 100 200 OUTPUT output)
expect("${output}" "fp16x3 +error +0[.][0-9]+ rms")
expect("${output}" "fp16 +error +[0-9][0-9]+[.][0-9]+ rms")

# The installed program finds its library and, by name, the installed model.
run(COMMAND ${work}/prefix/bin/trine info trine-mini OUTPUT output)
expect("${output}" "${model}")
expect("${output}" "architecture +pet")
