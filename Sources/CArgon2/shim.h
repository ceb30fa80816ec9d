// libargon2: password hashing.
#pragma once
#include <argon2.h>
