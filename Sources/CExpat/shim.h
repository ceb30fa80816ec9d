// libexpat: parses XML.
#pragma once
#if !__has_include(<expat.h>)
#error "Regent needs the Debian package libexpat1-dev: run deploy/bootstrap (or `make build`) first."
#else
#include <expat.h>

// libexpat 2.9 deprecates these two functions in favour of 64-bit variants, which libexpat 2.5 (Debian 12) does not
// have. Documents are limited to far less than 2^31 lines.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static inline long cexpat_line(XML_Parser parser) { return (long)XML_GetCurrentLineNumber(parser); }
static inline long cexpat_column(XML_Parser parser) { return (long)XML_GetCurrentColumnNumber(parser); }
#pragma GCC diagnostic pop
#endif
