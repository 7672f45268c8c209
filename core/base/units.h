/* SPDX-License-Identifier: Apache-2.0 */
/* Units of numbers that people read. */
#ifndef PLX_CORE_BASE_UNITS_H
#define PLX_CORE_BASE_UNITS_H

#define PLX_DEGREES_PER_RAD 57.29577951308232

#endif
