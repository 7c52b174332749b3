"""Two threads import two modules that import each other, each beginning with another one."""

import importlib
import sys
import threading
import types


class Loader:
    def __init__(self):
        self._locks = {name: threading.RLock() for name in ("shapes", "colours")}
        self._modules = {}
        self._needs = {"shapes": "colours", "colours": "shapes"}

    def load(self, name, depth=0):
        with self._locks[name]:
            if name not in self._modules:
                module = self._modules[name] = types.ModuleType(name)
                if depth == 0:
                    module.needed = self.load(self._needs[name], depth + 1)
            return self._modules[name]


loader = Loader()


def use(name):
    module = loader.load(name)
    print(module.__name__, importlib.__name__ in sys.modules)


threads = [threading.Thread(target=use, args=(name,)) for name in ("shapes", "colours")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
