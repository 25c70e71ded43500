/* Wine 8 has no bcryptprimitives.dll, which every program with Rust's standard library loads for its hash tables. This one
 * function stands in for it, beside the programs that are measured and for nothing else; none of them asks it anything.
 * Newer Wine and Windows have their own. */
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
