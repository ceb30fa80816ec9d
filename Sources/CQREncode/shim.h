// libqrencode: encodes text as QR modules.
#pragma once
#if !__has_include(<qrencode.h>)
#error "Regent needs the Debian package libqrencode-dev: run deploy/bootstrap (or `make build`) first."
#else
#include <qrencode.h>
#endif
