"""A registry of plug-ins that is made when somebody first asks for it."""

import threading


class Registry:
    def __init__(self, defaults):
        self.handlers = {}
        for name in defaults:
            self.register(name, str.upper)

    def register(self, name, handler):
        self.handlers[name] = handler

    def lookup(self, name):
        return self.handlers.get(name)


_registry = None


def get_registry():
    global _registry
    if _registry is None:
        _registry = Registry(["shout"])
    return _registry


def plugin(name):
    def decorate(function):
        get_registry().register(name, function)
        return function

    return decorate


def load_text_plugins():
    @plugin("title")
    def title(text):
        return text.title()


def load_number_plugins():
    @plugin("double")
    def double(number):
        return 2 * number


def main():
    loaders = [load_text_plugins, load_number_plugins]
    threads = [threading.Thread(target=loader) for loader in loaders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    missing = [name for name in ("shout", "title", "double") if get_registry().lookup(name) is None]
    assert not missing, missing


if __name__ == "__main__":
    main()
