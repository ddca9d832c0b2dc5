"""Runs blocks of Python: JSON in, the rows of each frame that a block makes or only names, as texts, out.

Argument: the folder of the packages.
"""

import ast
import json
import sys

sys.path.insert(0, sys.argv[1])
import pandas  # noqa: E402


def text(value):
    if isinstance(value, (list, tuple)) or type(value).__name__ == "ndarray":
        return str([text(each) for each in value])
    return None if value is None or value is pandas.NA or value != value else str(value)


def rows(frame):
    found = frame.values.tolist() if isinstance(frame, pandas.DataFrame) else frame.rows()
    return [[text(value) for value in row] for row in found]


def frames(block):
    scope = {}
    for statement in ast.parse(block).body:
        if isinstance(statement, ast.Expr):
            value = eval(compile(ast.Expression(statement.value), "block", "eval"), scope)
        else:
            exec(compile(ast.Module([statement], []), "block", "exec"), scope)
            value = scope.get("frame") if ast.unparse(statement).startswith("frame = ") else None
        if type(value).__name__ == "DataFrame":
            yield [ast.unparse(statement), rows(value)]


json.dump([list(frames(block)) for block in json.load(sys.stdin)], sys.stdout)
