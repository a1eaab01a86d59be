"""A trace_view.json by ijson's C parser, as RL-Insight uses it: operators and their call stacks. usage: ijson_trace.py FILE"""
import sys

import ijson.backends.yajl2_c as ijson

operators, stacks = 0, set()
with open(sys.argv[1], "rb") as file:
    for event in ijson.items(file, "item", use_float=True):
        if event.get("cat") == "cpu_op":
            operators += 1
            stack = (event.get("args") or {}).get("Call stack")
            if stack is not None:
                stacks.add(stack)
print(operators, "operators,", len(stacks), "call stacks")
