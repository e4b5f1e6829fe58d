# What `cmake --install` puts where: program, library, public headers, package files, the model, documents.
#
# The library is shared by default: a program that uses it then needs libtrine alone to compile and
# link, and LAMMPS or Python can load it. With -DBUILD_SHARED_LIBS=OFF the package asks for the
# libraries that trine uses as well, because a static library does not carry them.
include(CMakePackageConfigHelpers)

set_target_properties(trine trine_gemm PROPERTIES VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set_target_properties(trine_gemm PROPERTIES EXPORT_NAME gemm)
# libtrine finds libtrine_gemm beside it, wherever both are.
set_target_properties(trine PROPERTIES INSTALL_RPATH "$ORIGIN")
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/trine)

install(TARGETS trine trine_gemm EXPORT trineTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
# Named as programs preload it: nothing links to it.
install(TARGETS trine_blas LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/trine DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.hpp PATTERN *.h)
install(EXPORT trineTargets NAMESPACE trine:: DESTINATION ${package_folder})
configure_package_config_file(cmake/trineConfig.cmake.in trineConfig.cmake
  INSTALL_DESTINATION ${package_folder}
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_BINDIR CMAKE_INSTALL_DATADIR)
write_basic_package_version_file(trineConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/trineConfig.cmake ${PROJECT_BINARY_DIR}/trineConfigVersion.cmake
  DESTINATION ${package_folder})

if(TARGET trine_cli)
  install(TARGETS trine_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(FILES models/trine-mini.ckpt DESTINATION ${CMAKE_INSTALL_DATADIR}/trine/models)
# The library finds the models of its installation wherever that is moved to.
if(BUILD_SHARED_LIBS)
  set(folder_of_code ${CMAKE_INSTALL_FULL_LIBDIR})
else()
  set(folder_of_code ${CMAKE_INSTALL_FULL_BINDIR})
endif()
file(RELATIVE_PATH models ${folder_of_code} ${CMAKE_INSTALL_FULL_DATADIR}/trine/models)
target_compile_definitions(trine PRIVATE TRINE_INSTALLED_MODELS="${models}")
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
