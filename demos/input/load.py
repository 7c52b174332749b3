"""Loads a file of services, as a program that starts them would."""

import sys

import yaml

with open(sys.argv[1], encoding="utf-8") as file:
    services = yaml.safe_load(file)["services"]
print(f"{len(services)} services")
