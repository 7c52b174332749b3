"""Two couriers take a parcel, and each signs for it at the door."""

import threading


class Parcel:
    def __init__(self):
        self.courier = None
        self.signed = []


class Depot:
    def __init__(self):
        self.parcels = {"p1": Parcel(), "p2": Parcel()}

    def take(self, courier):
        for number, parcel in self.parcels.items():
            if parcel.courier is None:
                parcel.courier = courier
                return number
        return ""

    def deliver(self, number, courier):
        parcel = self.parcels[number]
        parcel.signed.append(parcel.courier)
        if parcel.signed[-1] != courier:
            raise RuntimeError(f"{courier} signs as {parcel.signed[-1]}")


def tour(depot, courier):
    number = depot.take(courier)
    depot.deliver(number, courier)


def main():
    depot = Depot()
    tours = [threading.Thread(target=tour, args=(depot, name)) for name in ("kim", "lou")]
    for one in tours:
        one.start()
    for one in tours:
        one.join()


main()
