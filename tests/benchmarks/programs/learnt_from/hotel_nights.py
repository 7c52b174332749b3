"""A hotel with two rooms, booked for some nights at a time."""

import threading


class Hotel:
    def __init__(self):
        self.left = dict.fromkeys(range(1, 9), 2)
        self.locks = {night: threading.Lock() for night in self.left}
        self.guests = []

    def is_free(self, night):
        with self.locks[night]:
            return self.left[night] > 0

    def take(self, night):
        with self.locks[night]:
            self.left[night] -= 1

    def book(self, guest, first, last):
        nights = range(first, last + 1)
        for night in nights:
            if not self.is_free(night):
                return False
        for night in nights:
            self.take(night)
        self.guests.append(guest)
        return True


def make():
    return Hotel()


def by_phone(hotel):
    hotel.book("ann", 1, 4)


def on_site(hotel):
    hotel.book("bob", 4, 5)


def by_agency(hotel):
    hotel.book("cleo", 3, 4)
    hotel.book("dan", 6, 8)


WORKERS = (by_phone, on_site, by_agency)


def holds(hotel):
    return min(hotel.left.values()) >= 0


def tell(hotel):
    return f"left {hotel.left}, guests {hotel.guests}"


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
