import tomlkit

part = tomlkit.parse("[a.b]\nx = 1\n[a.c]\ny = 2\n")["a"]
text = tomlkit.dumps(part)
assert "[a.b]" not in text, text.splitlines()
