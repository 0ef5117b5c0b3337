/* Preloaded into a server: each write to a log of its storage engine takes longer, by the milliseconds in the file
   SLOW_WRITES. Asks for no memory. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static int is_log(int file) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = file > 2 ? readlink(link, path, sizeof path) : 0;
    return length > 4 && memcmp(path + length - 4, ".log", 4) == 0;
}
static void wait_for(int file) {
    const char *path = getenv("SLOW_WRITES");
    if (path == NULL || !is_log(file)) return;
    int settings = open(path, O_RDONLY);
    if (settings < 0) return;
    char text[32] = {0};
    long millis = read(settings, text, sizeof text - 1) > 0 ? strtol(text, NULL, 10) : 0;
    close(settings);
    struct timespec time = {millis / 1000, millis % 1000 * 1000000};
    nanosleep(&time, NULL);
}
ssize_t write(int file, const void *bytes, size_t count) {
    wait_for(file);
    return syscall(SYS_write, file, bytes, count);
}
