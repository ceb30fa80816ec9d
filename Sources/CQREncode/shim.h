// libqrencode: text to QR modules.
#pragma once
#include <qrencode.h>
