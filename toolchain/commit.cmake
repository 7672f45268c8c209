# SPDX-License-Identifier: Apache-2.0
# What is being built: PLX_COMMIT, "unknown" outside of git, with -dirty where files were changed; and PLX_COMMIT_EPOCH, its time,
# which stands for the time of building. The variables of the environment PLX_COMMIT and SOURCE_DATE_EPOCH come first.
# To be included from PLX_SOURCE_DIR's CMakeLists.txt, or by a script with that variable.
set(PLX_COMMIT "$ENV{PLX_COMMIT}")
set(PLX_COMMIT_EPOCH "$ENV{SOURCE_DATE_EPOCH}")
if(NOT PLX_COMMIT AND EXISTS ${PLX_SOURCE_DIR}/.git)
    execute_process(COMMAND git describe --always --dirty --abbrev=12 --exclude=* WORKING_DIRECTORY ${PLX_SOURCE_DIR}
                    OUTPUT_VARIABLE PLX_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT PLX_COMMIT)
    set(PLX_COMMIT unknown)
endif()
if(NOT PLX_COMMIT_EPOCH AND EXISTS ${PLX_SOURCE_DIR}/.git)
    execute_process(COMMAND git log -1 --format=%ct WORKING_DIRECTORY ${PLX_SOURCE_DIR}
                    OUTPUT_VARIABLE PLX_COMMIT_EPOCH OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT PLX_COMMIT_EPOCH)
    set(PLX_COMMIT_EPOCH 0)
endif()
