"""Sensors poll in threads of their own; each kind of sensor knows its scale."""

import threading


class Sensor:
    def __init__(self, name):
        self.name = name
        self.readings = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._poll, name=f"poll-{name}")
        self._thread.start()

    def _poll(self):
        for raw in self.raw_values():
            if self._stop.is_set():
                break
            self.readings.append(self.convert(raw))

    def raw_values(self):
        return [100, 200]

    def convert(self, raw):
        raise NotImplementedError

    def close(self):
        self._stop.set()
        self._thread.join()


class Thermometer(Sensor):
    def __init__(self, name, scale):
        super().__init__(name)
        self.scale = scale

    def convert(self, raw):
        return raw * self.scale


def main():
    sensors = [Thermometer("kitchen", 0.5), Thermometer("cellar", 0.1)]
    for sensor in sensors:
        sensor._thread.join()
        sensor.close()
    assert [len(sensor.readings) for sensor in sensors] == [2, 2], [sensor.readings for sensor in sensors]


if __name__ == "__main__":
    main()
