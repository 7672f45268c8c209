# SPDX-License-Identifier: Apache-2.0
# Run by cpack on the staged files of every package, before they are packed: compresses what Debian wants compressed, finds the
# libraries that they depend on, and gives every file the time of the commit.
foreach(package ${CPACK_COMPONENTS_ALL})
    set(stage ${CPACK_TEMPORARY_DIRECTORY}/${package})
    file(GLOB_RECURSE texts ${stage}/usr/share/man/* ${stage}/usr/share/doc/*/changelog)
    execute_process(COMMAND gzip -9n ${texts} COMMAND_ERROR_IS_FATAL ANY)

    execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/depends.sh ${stage} ${CPACK_PLX_TARGET}
                    OUTPUT_VARIABLE depends OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    string(TOUPPER ${package} upper)
    list(APPEND depends ${CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS})
    string(JOIN ", " CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS ${depends})

    execute_process(COMMAND find ${stage} -exec touch --no-dereference --date=@$ENV{SOURCE_DATE_EPOCH} {} +
                    COMMAND_ERROR_IS_FATAL ANY)
endforeach()
