// The parsers that the `head` benchmark is measured against, as a library to load: each function parses the head at
// `bytes` `rounds` times and returns the number of its fields. Which are there is decided by parse.sh.
#include <stddef.h>
#include <stdint.h>

// The bytes may be others each time, as far as the compiler knows.
#define FORGET(bytes) __asm__ volatile("" : "+r"(bytes) : : "memory")

#ifdef WITH_PICO
#include "picohttpparser.h"

int pico_head(const uint8_t *bytes, size_t count, long rounds) {
  static struct phr_header fields[128];
  size_t found = 0;
  for (long round = 0; round < rounds; round++) {
    int minor, status;
    const char *reason;
    size_t length;
    found = 128;
    FORGET(bytes);
    int result =
        phr_parse_response((const char *)bytes, count, &minor, &status, &reason, &length, fields, &found, 0);
    if (result <= 0) return -1;
  }
  return (int)found;
}
#endif

#ifdef WITH_LLHTTP
#include "llhttp.h"

static int found;
static const char *name, *value;

static int on_name(llhttp_t *parser, const char *start, size_t length) {
  (void)parser, (void)length;
  name = start;
  found++;
  return 0;
}

static int on_value(llhttp_t *parser, const char *start, size_t length) {
  (void)parser, (void)length;
  value = start;
  return 0;
}

// Its body is not asked for.
static int on_end(llhttp_t *parser) {
  (void)parser;
  return HPE_PAUSED;
}

int llhttp_head(const uint8_t *bytes, size_t count, long rounds) {
  llhttp_settings_t settings;
  llhttp_settings_init(&settings);
  settings.on_header_field = on_name;
  settings.on_header_value = on_value;
  settings.on_headers_complete = on_end;
  for (long round = 0; round < rounds; round++) {
    llhttp_t parser;
    llhttp_init(&parser, HTTP_RESPONSE, &settings);
    found = 0;
    FORGET(bytes);
    if (llhttp_execute(&parser, (const char *)bytes, count) != HPE_PAUSED) return -1;
  }
  return found;
}
#endif
