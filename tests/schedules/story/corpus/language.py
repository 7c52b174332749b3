"""Pages are rendered in the language of each visitor."""

import contextlib
import threading

CATALOGUE = {"en": {"hello": "Hello"}, "de": {"hello": "Hallo"}, "fr": {"hello": "Bonjour"}}


class Translator:
    def __init__(self):
        self.language = "en"

    def gettext(self, key):
        return CATALOGUE[self.language][key]


translator = Translator()


@contextlib.contextmanager
def use_language(language):
    previous = translator.language
    translator.language = language
    try:
        yield
    finally:
        translator.language = previous


class Visitor(threading.Thread):
    def __init__(self, name, language):
        super().__init__(name=name)
        self.language = language
        self.page = ""

    def header(self):
        return f"<h1>{self.name}</h1>"

    def run(self):
        with use_language(self.language):
            title = self.header()
            self.page = title + translator.gettext("hello")


def main():
    visitors = [Visitor("ada", "de"), Visitor("bob", "fr")]
    for visitor in visitors:
        visitor.start()
    for visitor in visitors:
        visitor.join()
    for visitor in visitors:
        wanted = CATALOGUE[visitor.language]["hello"]
        assert visitor.page.endswith(wanted), (visitor.name, visitor.page)


if __name__ == "__main__":
    main()
