"""Forms are checked by two threads; each seems to collect its own errors."""

import threading


class Form:
    errors = []  # noqa: RUF012

    def __init__(self, name, values):
        self.name = name
        self.values = values

    def check(self):
        self.errors.clear()
        for field, value in self.values.items():
            if not value:
                self.errors.append(field)
        return not self.errors


def submit(form, accepted):
    if form.check():
        accepted.append(form.name)


def main():
    forms = Form("good", {"city": "Rome"}), Form("bad", {"city": "", "street": ""})
    accepted = []
    threads = [threading.Thread(target=submit, args=(form, accepted)) for form in forms]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert accepted == ["good"], accepted


main()
