"""Runs a command on a pseudo-terminal and copies what it writes to standard output.

pseudo-terminal.py COLUMNS COMMAND...

Each line of standard input is a new number of columns, "interrupt", which presses Ctrl-C, or "type:" and what is typed,
in hexadecimal digits.
"""

import fcntl
import os
import pty
import select
import struct
import sys
import termios


def set_columns(terminal, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


def main():
    columns, *command = sys.argv[1:]
    process, terminal = pty.fork()
    if process == 0:
        set_columns(0, int(columns))
        os.execvp(command[0], command)
    inputs = [terminal, 0]
    while True:
        ready, _, _ = select.select(inputs, [], [])
        if 0 in ready:
            text = os.read(0, 1000).decode()
            if not text:
                inputs.remove(0)
            for line in text.split():
                if line == "interrupt":
                    os.write(terminal, b"\x03")
                elif line.startswith("type:"):
                    os.write(terminal, bytes.fromhex(line[5:]))
                else:
                    set_columns(terminal, int(line))
        if terminal in ready:
            try:
                written = os.read(terminal, 65536)
            except OSError:  # so Linux says that the command has ended
                written = b""
            if not written:
                break
            os.write(1, written)
    _, status = os.waitpid(process, 0)
    sys.exit(os.waitstatus_to_exitcode(status))


main()
