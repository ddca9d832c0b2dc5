"""Runs statements in the DuckDB of one folder: JSON in, the rows of each statement as texts out.

Arguments: the folder of the package, and perhaps a database file, which is only read.
"""

import json
import sys

sys.path.insert(0, sys.argv[1])
import duckdb  # noqa: E402

connection = duckdb.connect(sys.argv[2], read_only=True) if len(sys.argv) > 2 else duckdb.connect()


def rows(statement):
    result = connection.execute(statement)
    return [] if result.description is None else result.fetchall()


answer = [[[None if value is None else str(value) for value in row] for row in rows(each)] for each in json.load(sys.stdin)]
json.dump(answer, sys.stdout)
