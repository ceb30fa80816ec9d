// libcurl: types and constants only. Nothing is linked: the library is loaded at run time, when the first
// https URL is used, because linking it costs every program 8.6 MiB and 4 ms.
#pragma once
#include <curl/curl.h>
