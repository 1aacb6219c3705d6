"""An agent that sends every line of its input back, byte for byte, as soon as it has come.

Sent a permission request, it therefore asks for that permission, and then sends back what it was answered.
"""

import os
import sys

for line in sys.stdin.buffer:
    view = memoryview(line)
    while view:
        view = view[os.write(1, view) :]
