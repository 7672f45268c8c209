/* SPDX-License-Identifier: Apache-2.0 */
#include "app/exit.h"

#include <parallax/error.h>

int plx_exit_code(int error)
{
    static const int code[] = {
        [-PLX_OK] = PLX_EXIT_OK,
        [-PLX_ERR_ARG] = PLX_EXIT_FAILURE,
        [-PLX_ERR_NOMEM] = PLX_EXIT_OS,
        [-PLX_ERR_IO] = PLX_EXIT_IO,
        [-PLX_ERR_NOT_FOUND] = PLX_EXIT_NO_INPUT,
        [-PLX_ERR_FORMAT] = PLX_EXIT_DATA,
        [-PLX_ERR_RANGE] = PLX_EXIT_CONFIG,
        [-PLX_ERR_UNSUPPORTED] = PLX_EXIT_CONFIG,
        [-PLX_ERR_PERMISSION] = PLX_EXIT_PERMISSION,
        [-PLX_ERR_BUSY] = PLX_EXIT_BUSY,
        [-PLX_ERR_TIMEOUT] = PLX_EXIT_UNAVAILABLE,
        [-PLX_ERR_END] = PLX_EXIT_OK,
        [-PLX_ERR_LOST] = PLX_EXIT_UNAVAILABLE,
        [-PLX_ERR_VERSION] = PLX_EXIT_UNAVAILABLE,
        [-PLX_ERR_OVERWRITTEN] = PLX_EXIT_FAILURE,
    };
    if (error > 0 || error < PLX_ERR_OVERWRITTEN)
        return PLX_EXIT_FAILURE;
    return code[-error];
}
