// CommandKit: declarative commands, options, help, completion, tables, prompts and exit codes for the three
// programs. What a command does is decided by the program.
