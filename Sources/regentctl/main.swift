// regentctl: reads the command line and talks to the admin socket. No logic of the service.
// What travels is decided by Administration, how commands look by CommandKit.
