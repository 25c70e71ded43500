/*
 * Tress: parallel cryptography. docs/reference/c.md shows how to build, link and use it. tress-cipher.h declares the functions of
 * libtress-cipher; tress.h includes it and declares the rest of libtress.
 *
 * Rules for every function:
 *
 * - A function that can fail returns a tress_status; tress_last_error() returns a message with details. The compiler warns if
 *   a program ignores a status. The library throws no exception and prints nothing, unless it has a defect (TRESS_INTERNAL). It
 *   raises no signal but SIGPIPE, where a call on files writes to a pipe that nobody reads: ignore that signal.
 * - A required pointer that is NULL gives TRESS_NULL. NULL with length 0 is an empty buffer. A length above PTRDIFF_MAX gives
 *   TRESS_LENGTH.
 * - A function that returns a handle through a pointer writes NULL there first. Every _free function accepts NULL.
 * - "Any thread": the function may be called at any time, also while other threads call it with the same arguments, as long as
 *   nobody frees them or writes to the memory in use. "One thread at a time": calls on one handle must not overlap, but may
 *   come from different threads.
 * - Texts are UTF-8 and end with NUL. Lengths are in bytes.
 * - The library wipes its copies of secrets. The caller must wipe the originals.
 *
 * Generated from the library's source (`make -C crates/c header`); do not edit.
 */
