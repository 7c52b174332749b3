"""Two threads that render a template with Jinja2: much code of a library that is run anew in each test."""

import threading

import jinja2

PAGE = "{% for name, price in goods %}{{ name|title }}: {{ '%.2f'|format(price) }}\n{% endfor %}"
pages = []


def render(number):
    goods = [(f"thing {index}", index * number) for index in range(5)]
    pages.append(jinja2.Environment().from_string(PAGE).render(goods=goods))


threads = [threading.Thread(target=render, args=(number,)) for number in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(pages) == 2
