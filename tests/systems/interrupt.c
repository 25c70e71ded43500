/* Runs a command line on a console of its own and sends it Ctrl-Break after so many milliseconds, as a user does who stops a program:
 *     interrupt.exe MILLISECONDS COMMAND LINE...
 * Standard input of the command is a pipe that nobody closes before. Writes the command's exit status in hexadecimal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

int main(int argc, char **argv)
{
    char line[4096] = "";
    STARTUPINFOA start = {.cb = sizeof start, .dwFlags = STARTF_USESTDHANDLES};
    PROCESS_INFORMATION process;
    SECURITY_ATTRIBUTES inherited = {.nLength = sizeof inherited, .bInheritHandle = TRUE};
    HANDLE reader, writer;
    DWORD status = 0, written;
    static char plain[1 << 20];

    if (argc < 3)
        return 2;
    for (int i = 2; i < argc; i++) {
        strcat(line, argv[i]);
        strcat(line, i + 1 < argc ? " " : "");
    }
    AllocConsole();
    if (!CreatePipe(&reader, &writer, &inherited, 0) || !SetHandleInformation(writer, HANDLE_FLAG_INHERIT, 0))
        return 3;
    start.hStdInput = reader;
    start.hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE);
    start.hStdError = GetStdHandle(STD_ERROR_HANDLE);
    if (!CreateProcessA(NULL, line, NULL, NULL, TRUE, CREATE_NEW_PROCESS_GROUP, NULL, NULL, &start, &process))
        return 4;
    CloseHandle(reader);
    WriteFile(writer, plain, sizeof plain, &written, NULL);
    Sleep(atoi(argv[1]));
    if (!GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, process.dwProcessId))
        return 5;
    /* What reads a pipe on Windows notices when something comes or the pipe is closed. */
    Sleep(500);
    CloseHandle(writer);
    if (WaitForSingleObject(process.hProcess, 20000) != WAIT_OBJECT_0)
        return 6;
    GetExitCodeProcess(process.hProcess, &status);
    printf("%08lx\n", (unsigned long)status);
    return 0;
}
