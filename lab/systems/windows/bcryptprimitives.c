/* Wine 8 lacks bcryptprimitives.dll, which every program with Rust's standard library loads for its hash tables. This file
 * replaces it, for the measured programs only; none of them calls the function. Newer Wine and Windows have the library. */
#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T length)
{
    while (length > 0) {
        ULONG piece = length > 0x10000 ? 0x10000 : (ULONG)length;
        if (!RtlGenRandom(bytes, piece))
            return FALSE;
        bytes += piece;
        length -= piece;
    }
    return TRUE;
}
