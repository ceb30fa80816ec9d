// RegentPlatform: what touches Linux beyond files of text. It owns descriptors, system calls and why they failed,
// waiting in epoll, socket addresses, threads, durable atomic files and locks, clocks, signals, terminal modes and
// keys, readiness notification and socket activation, process hardening, and users and groups. It does not own: sockets
// of HTTP (HTTPServer, RegentHTTPClient), random bytes and hashes (RegentCryptography), what is drawn on a terminal
// (CommandKit and the programs).
