/* SPDX-License-Identifier: Apache-2.0 */
#include "client/cuda_driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static struct plx_cuda_driver driver;
static bool is_loaded;

/* Function SYMBOL of LIBRARY to *RET_FUNCTION, a pointer to a function; ISO C has no cast for it. */
static bool find(void *library, const char *symbol, void *ret_function)
{
    void *const found = dlsym(library, symbol);
    memcpy(ret_function, &found, sizeof found);
    return found;
}

static void load(void)
{
    void *const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    bool complete = library;
#define PLX_CU_FIND(name, symbol, arguments) complete = complete && find(library, symbol, &driver.name);
    PLX_CU_TABLE(PLX_CU_FIND)
#undef PLX_CU_FIND
    is_loaded = complete && driver.init(0) == 0;
}

const struct plx_cuda_driver *plx_cuda_driver(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return is_loaded ? &driver : NULL;
}
