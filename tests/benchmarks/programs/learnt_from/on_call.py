"""Doctors who may leave when another one stays; each looks with a lock of their own."""

import threading


class Doctor:
    def __init__(self, name):
        self.name = name
        self.on_call = True
        self.lock = threading.Lock()


class Ward:
    def __init__(self):
        self.doctors = {name: Doctor(name) for name in ("ann", "bob", "cid")}
        self.doctors["cid"].on_call = False

    def others(self, name):
        return sum(doctor.on_call for doctor in self.doctors.values() if doctor.name != name)

    def leave(self, name):
        doctor = self.doctors[name]
        with doctor.lock:
            if self.others(name) == 0:
                return False
            doctor.on_call = False
            return True


def make():
    return Ward()


def leaves(name):
    def run(ward):
        ward.leave(name)

    return run


WORKERS = (leaves("ann"), leaves("bob"))


def holds(ward):
    return any(doctor.on_call for doctor in ward.doctors.values())


def tell(ward):
    return "nobody is on call"


def main():
    shared = make()
    threads = [threading.Thread(target=worker, args=(shared,)) for worker in WORKERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()
