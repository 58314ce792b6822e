"""Sends five records as the tag app.x; with `precise`, at nanoseconds. Usage: fluent_sender.py PORT [precise]"""
import sys

from fluent import sender

precise = len(sys.argv) > 2
logger = sender.FluentSender("app", host="127.0.0.1", port=int(sys.argv[1]), nanosecond_precision=precise)
for n in range(1, 6):
    if not logger.emit_with_time("x", 1700000000.5 + n if precise else 1700000000 + n, {"n": n}):
        sys.exit(str(logger.last_error))
logger.close()
