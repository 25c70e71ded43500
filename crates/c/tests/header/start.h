#include <stddef.h>
#include <stdint.h>

/* Makes the compiler warn if a program ignores a status. */
#if defined(__GNUC__)
#define TRESS_CHECKED __attribute__((warn_unused_result))
#elif (defined(__cplusplus) && __cplusplus >= 201703L) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
#define TRESS_CHECKED [[nodiscard]]
#else
#define TRESS_CHECKED
#endif
