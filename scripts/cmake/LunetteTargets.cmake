# The few verbs that the lists of sources are written with.

# Debian's libev has no pkg-config file; elsewhere it has one. Makes the target lunette_libev.
function(ln_find_libev)
    add_library(lunette_libev INTERFACE)
    pkg_search_module(LIBEV QUIET IMPORTED_TARGET libev ev)
    if(LIBEV_FOUND)
        target_link_libraries(lunette_libev INTERFACE PkgConfig::LIBEV)
        return()
    endif()
    find_path(LIBEV_INCLUDE_DIR ev.h PATH_SUFFIXES libev REQUIRED)
    find_library(LIBEV_LIBRARY ev REQUIRED)
    target_include_directories(lunette_libev SYSTEM INTERFACE ${LIBEV_INCLUDE_DIR})
    target_link_libraries(lunette_libev INTERFACE ${LIBEV_LIBRARY})
endfunction()

# libcsv has a pkg-config file nowhere. Makes the target lunette_libcsv.
function(ln_find_libcsv)
    add_library(lunette_libcsv INTERFACE)
    find_path(LIBCSV_INCLUDE_DIR csv.h REQUIRED)
    find_library(LIBCSV_LIBRARY csv REQUIRED)
    target_include_directories(lunette_libcsv SYSTEM INTERFACE ${LIBCSV_INCLUDE_DIR})
    target_link_libraries(lunette_libcsv INTERFACE ${LIBCSV_LIBRARY})
endfunction()

# ln_library(TARGET OUTPUT EXPORTS REQUIRES): the shared library lib<OUTPUT> of the objects in <TARGET>_objects, whose
# exported names fit the pattern EXPORTS, and its pkg-config file, which names the files REQUIRES and links what the
# variable <OUTPUT>_links says besides. Installed, it looks
# for other libraries beside itself first.
function(ln_library target output exports requires)
    set(map ${CMAKE_CURRENT_BINARY_DIR}/${output}.map)
    file(CONFIGURE OUTPUT ${map} CONTENT "LUNETTE_1 { global: @exports@; local: *; };\n" @ONLY)
    add_library(${target} SHARED)
    target_link_libraries(${target} PRIVATE ${target}_objects)
    target_link_options(${target} PRIVATE -Wl,--version-script=${map})
    set_target_properties(${target} PROPERTIES
        OUTPUT_NAME ${output}
        LINKER_LANGUAGE CXX
        LINK_DEPENDS ${map}
        INSTALL_RPATH "$ORIGIN")
    if(NOT LUNETTE_CORE_ONLY) # a rock is one file: LuaRocks takes no links
        set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
    endif()
    install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${target}
        NAMELINK_COMPONENT ${target})

    # The file finds its prefix from where it lies, so that an installed tree can be moved.
    file(RELATIVE_PATH prefix /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
    set(pc ${CMAKE_CURRENT_BINARY_DIR}/${output}.pc)
    set(links ${${output}_links})
    configure_file(${CMAKE_SOURCE_DIR}/scripts/cmake/library.pc.in ${pc} @ONLY)
    install(FILES ${pc} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# ln_test(NAME SOURCE... [LIBRARIES TARGET...]): a test in C. It is linked with the archive of the core, not with the
# shared library, so that it reaches what is hidden there.
function(ln_test name)
    if(NOT LUNETTE_TESTS)
        return()
    endif()
    cmake_parse_arguments(PARSE_ARGV 1 T "" "" LIBRARIES)
    add_executable(${name} ${T_UNPARSED_ARGUMENTS})
    target_link_libraries(${name} PRIVATE lunette_core_archive ${T_LIBRARIES})
    target_compile_options(${name} PRIVATE -UNDEBUG)
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES TIMEOUT 300)
endfunction()

# ln_host_test(NAME SOURCE... [LIBRARIES TARGET...]): a test in C that sees the libraries as a host does.
function(ln_host_test name)
    if(NOT LUNETTE_TESTS)
        return()
    endif()
    cmake_parse_arguments(PARSE_ARGV 1 T "" "" LIBRARIES)
    add_executable(${name} ${T_UNPARSED_ARGUMENTS} base/mem.c)
    target_link_libraries(${name} PRIVATE lunette_flags lunette_host lunette_core ${T_LIBRARIES})
    target_compile_options(${name} PRIVATE -UNDEBUG)
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX INSTALL_RPATH "$ORIGIN/.."
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES TIMEOUT 300)
endfunction()

# ln_figures(NAME SOURCE...): a program that measures, linked like a test; as a test it runs briefly, with --quick.
function(ln_figures name)
    if(NOT LUNETTE_TESTS)
        return()
    endif()
    add_executable(${name} ${ARGN})
    target_link_libraries(${name} PRIVATE lunette_core_archive)
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    add_test(NAME ${name} COMMAND ${name} --quick)
    set_tests_properties(${name} PROPERTIES TIMEOUT 300)
endfunction()

# ln_fuzz(NAME SOURCE... [LIBRARIES TARGET...]): a libFuzzer target, for scripts/fuzz.
function(ln_fuzz name)
    if(NOT LUNETTE_FUZZ)
        return()
    endif()
    cmake_parse_arguments(PARSE_ARGV 1 F "" "" LIBRARIES)
    add_executable(${name} ${F_UNPARSED_ARGUMENTS})
    target_link_libraries(${name} PRIVATE lunette_core_archive ${F_LIBRARIES})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
endfunction()
