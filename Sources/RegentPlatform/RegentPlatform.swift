// RegentPlatform: everything that uses Linux beyond reading text files. It owns descriptors, system calls and their
// errors, waiting with epoll, socket addresses, threads, durable and atomic files, locks, clocks, signals, terminal
// modes and keys, readiness notification, socket activation, process hardening, users and groups. It does not own HTTP
// sockets (HTTPServer, RegentHTTPClient), random bytes and hashes (RegentCryptography), or what is drawn on a terminal
// (CommandKit and the programs).
