# The package holds an installation of trine, with the folders of one: bin, lib and share/trine/models below
# the package. Sets library_folder, where its libraries lie.
if(trine_DIR)
  file(RELATIVE_PATH library_folder ${trine_PREFIX} ${trine_LIBRARY_FOLDER})
  file(RELATIVE_PATH model_folder ${trine_PREFIX} ${trine_MODEL_FOLDER})
  # Named as they are looked for: a wheel has no symbolic links and would hold each library twice.
  foreach(library trine::trine trine::gemm)
    install(PROGRAMS $<TARGET_FILE:${library}> RENAME $<TARGET_SONAME_FILE_NAME:${library}>
      DESTINATION trine/${library_folder} COMPONENT python)
  endforeach()
  install(PROGRAMS ${trine_PROGRAM} DESTINATION trine/bin COMPONENT python)
  set(model ${trine_MODEL_FOLDER}/trine-mini.ckpt)
else()
  set(library_folder ${CMAKE_INSTALL_LIBDIR})
  set(model_folder ${CMAKE_INSTALL_DATADIR}/trine/models)
  foreach(library trine trine_gemm)
    get_target_property(name_looked_for ${library} SOVERSION)
    set_target_properties(${library} PROPERTIES VERSION ${name_looked_for})
  endforeach()
  install(TARGETS trine trine_gemm trine_cli COMPONENT python
    LIBRARY DESTINATION trine/${library_folder} NAMELINK_SKIP RUNTIME DESTINATION trine/bin)
  set(model ../models/trine-mini.ckpt)
endif()
install(FILES ${model} DESTINATION trine/${model_folder} COMPONENT python)
