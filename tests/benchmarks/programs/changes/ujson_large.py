import ujson

number = 2.4143210571867672e20
assert abs(ujson.loads(ujson.dumps(number)) / number - 1) < 1e-9
