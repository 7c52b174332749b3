import markdown

md = markdown.Markdown(extensions=["toc"])
md.convert("### see \\[this]\n")
name = md.toc_tokens[0]["name"]
assert name == "see [this]", name
