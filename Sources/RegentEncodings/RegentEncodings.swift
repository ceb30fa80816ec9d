// RegentEncodings: base64, base64url, hex, and the limit of combining marks in texts of other programs.
// It knows no protocol and links no library, so that a program which only verifies media tokens stays small.
