// libexpat: reading XML.
#pragma once
#include <expat.h>
