/* Preloaded into a server: shifts the time of day by the seconds written in the file CLOCK_SHIFT. Asks for no memory. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *now) {
    int result = syscall(SYS_clock_gettime, id, now);
    const char *path = getenv("CLOCK_SHIFT");
    if (id != CLOCK_REALTIME || result != 0 || path == NULL) return result;
    int file = open(path, O_RDONLY);
    if (file < 0) return result;
    char text[32] = {0};
    if (read(file, text, sizeof text - 1) > 0) now->tv_sec += strtoll(text, NULL, 10);
    close(file);
    return result;
}
