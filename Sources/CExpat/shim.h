// libexpat: reading XML.
#pragma once
#if !__has_include(<expat.h>)
#error "Regent needs the Debian package libexpat1-dev: run deploy/bootstrap (or `make build`) first."
#else
#include <expat.h>
#endif
