// Administration: the admin interface as types: what travels over the admin socket, and the client that `regentctl`
// uses. Owns names and shapes. What a call does is decided by PairingService, how it looks by regentctl.
