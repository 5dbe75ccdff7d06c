"""J7: writes without end, as if somebody had to read it all.

task: relu
verdict: TIMEOUT
"""

import sys


def relu(x):
    while True:
        sys.stdout.write("x" * 65536)
