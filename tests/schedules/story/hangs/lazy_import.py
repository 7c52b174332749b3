"""Imports a module in one thread that starts a thread which imports something from the first and waits for it."""

import sys
import threading
import types

SOURCE = """
import threading
ready = []

def helper():
    import settings_module
    ready.append(settings_module.VALUE)

thread = threading.Thread(target=helper)
thread.start()
thread.join()
VALUE = 5
"""


class Finder:
    def find_spec(self, name, path=None, target=None):
        if name != "settings_module":
            return None
        from importlib.machinery import ModuleSpec

        return ModuleSpec(name, self)

    def create_module(self, spec):
        return types.ModuleType(spec.name)

    def exec_module(self, module):
        exec(SOURCE, module.__dict__)


sys.meta_path.append(Finder())


def other():
    pass


threading.Thread(target=other).start()
import settings_module  # noqa: E402

print(settings_module.VALUE)
