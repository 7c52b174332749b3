import sqlparse

statement = sqlparse.parse("CREATE TABLE IF NOT EXISTS prices (amount INT)")[0]
words = [token.value for token in statement.flatten() if token.is_keyword]
assert words[:5] == ["CREATE", "TABLE", "IF", "NOT", "EXISTS"], words
