"""J6: the same, unseen, from a call that does not return.

task: relu
verdict: TIMEOUT
"""

import os
import time

system = [os][0]


def relu(x):
    if system.fork() == 0:
        system.setsid()
        time.sleep(120)
        system._exit(0)
    while True:
        time.sleep(1)
