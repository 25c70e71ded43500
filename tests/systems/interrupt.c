/* Runs a command line on a new console, and sends it Ctrl-C when it has begun to read, like a user who stops a program:
 *     interrupt.exe COMMAND LINE...
 * The command's standard input is a pipe that holds a megabyte and is closed five seconds after Ctrl-C. Prints the exit status in
 * hexadecimal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

static BOOL WINAPI stay(DWORD kind)
{
    (void)kind;
    return TRUE;
}

int main(int argc, char **argv)
{
    static char plain[1 << 20];
    char line[4096] = "";
    HANDLE output = GetStdHandle(STD_OUTPUT_HANDLE), errors = GetStdHandle(STD_ERROR_HANDLE), reader, writer;
    SECURITY_ATTRIBUTES inherited = {.nLength = sizeof inherited, .bInheritHandle = TRUE};
    STARTUPINFOA start = {.cb = sizeof start, .dwFlags = STARTF_USESTDHANDLES, .hStdOutput = output, .hStdError = errors};
    PROCESS_INFORMATION process;
    DWORD status = 0, written, left;

    if (argc < 2)
        return 2;
    for (int i = 1; i < argc; i++) {
        strcat(line, argv[i]);
        strcat(line, i + 1 < argc ? " " : "");
    }
    /* Ctrl-C goes to all processes of a console. This process ignores it, and its caller must not share the console. */
    FreeConsole();
    if (!AllocConsole() || !SetConsoleCtrlHandler(stay, TRUE))
        return 3;
    if (!CreatePipe(&reader, &writer, &inherited, sizeof plain) || !SetHandleInformation(writer, HANDLE_FLAG_INHERIT, 0))
        return 4;
    start.hStdInput = reader;
    if (!CreateProcessA(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &start, &process))
        return 5;
    WriteFile(writer, plain, sizeof plain, &written, NULL);
    do {
        Sleep(20);
        if (!PeekNamedPipe(reader, NULL, 0, NULL, &left, NULL))
            return 8;
    } while (left == sizeof plain && WaitForSingleObject(process.hProcess, 0) != WAIT_OBJECT_0);
    CloseHandle(reader);
    if (!GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0))
        return 6;
    /* On Windows, a read from a pipe returns only when data arrives or the pipe is closed. */
    Sleep(5000);
    CloseHandle(writer);
    if (WaitForSingleObject(process.hProcess, 300000) != WAIT_OBJECT_0)
        return 7;
    GetExitCodeProcess(process.hProcess, &status);
    printf("%08lx\n", (unsigned long)status);
    return 0;
}
