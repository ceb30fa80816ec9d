import sys

from regent import program

program.main(sys.argv[1:])
