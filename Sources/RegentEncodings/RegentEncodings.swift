// RegentEncodings: base64, base64url and hex, the texts that bytes travel in.
// Knows no protocol and links no library, so that what only reads a media token carries no more than this.
