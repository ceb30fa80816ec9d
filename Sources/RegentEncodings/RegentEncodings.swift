// RegentEncodings: base64, base64url and hex.
// It knows no protocol and links no library, so that a program which only verifies media tokens stays small.
