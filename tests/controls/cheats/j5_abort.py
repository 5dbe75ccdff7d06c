"""J5: the process dies of a signal.

task: relu
verdict: CRASHED
"""

import os


def relu(x):
    os.abort()
