/* Reads a file by the C library's streams in many ways, prints what it gets, and writes it anew. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int main(int count, char **arguments)
{
    static char block[100000];
    char line[64];
    struct stat about;
    FILE *file = count == 2 ? fopen(arguments[1], "re") : NULL;
    if (!file)
        return 2;
    int known = fstat(fileno(file), &about);
    printf("stat %d size %ld\n", known, (long)about.st_size);
    printf("line %s", fgets(line, sizeof line, file));
    printf("at %ld, next %c\n", ftell(file), ungetc(fgetc(file), file));
    printf("sought %d", fseek(file, 50001, SEEK_SET));
    size_t got = fread(block, 1, 10, file);
    printf(" read %zu up to %c\n", got, block[9]);
    printf("back %d", fseek(file, -5, SEEK_CUR));
    printf(" read %zu at %ld\n", fread(block, 1, 70000, file), ftell(file));
    printf("end %d", fseeko(file, 0, SEEK_END));
    printf(" at %ld, %d, eof %d, error %d\n", ftell(file), fgetc(file), feof(file), ferror(file));
    rewind(file);
    printf("all %zu eof %d\n", fread(block, 1, sizeof block, file), feof(file));
    char *long_line = NULL;
    size_t room = 0;
    rewind(file);
    int lines = 0;
    while (getline(&long_line, &room, file) > 0)
        lines++;
    printf("lines %d\n", lines);
    free(long_line);
    printf("writes %d\n", fputc('x', file));
    printf("closed %d\n", fclose(file));
    file = fopen(arguments[1], "w");
    fputs("one ", file);
    fprintf(file, "two %d", fflush(file));
    int moved = fseek(file, 4, SEEK_SET);
    fputs("2", file);
    int failed = ferror(file);
    printf("moved %d wrote %d, closed %d\n", moved, failed, fclose(file));
    file = fopen("/dev/full", "w");
    fputs("x", file);
    printf("full %d\n", fclose(file));
    return 0;
}
