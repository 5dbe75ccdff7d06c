"""J1: never returns, and takes every exception that would end it.

task: relu
verdict: TIMEOUT
"""


def relu(x):
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue
