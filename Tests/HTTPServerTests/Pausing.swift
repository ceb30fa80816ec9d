import Glibc

/// Lets time pass in loops that wait for something.
func pause(milliseconds: UInt32) { usleep(milliseconds * 1000) }
