#!/usr/bin/env python3
"""Manage the password file of a web server, many users at a time.

    htpasswd.py -c users.htpasswd alice:wonderland bob:builder

The file holds one line "user:hash" for each user. The hashes are salted scrypt hashes as crypt(3) writes them ("$7$"),
so that Apache and nginx understand them.
"""

import argparse
import hashlib
import hmac
import os
import sys
import threading

ALPHABET = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
SCHEME = "$7$B6..../...."  # scrypt with the cost N = 2**13, r = 8, p = 1


def encode(data: bytes) -> str:
    """The characters that crypt(3) writes for these bytes: six bits each, the lowest first."""
    number = int.from_bytes(data, "little")
    return "".join(ALPHABET[number >> shift & 63] for shift in range(0, 8 * len(data), 6))


def hash_password(password: str, salt: str) -> str:
    digest = hashlib.scrypt(password.encode(), salt=salt.encode(), n=2**13, r=8, p=1, dklen=32)
    return f"{SCHEME}{salt}${encode(digest)}"


def matches(password: str, hashed: str) -> bool:
    """Whether this is the password that the hash was made from."""
    if not hashed.startswith(SCHEME):
        return False
    salt = hashed.removeprefix(SCHEME).split("$")[0]
    return hmac.compare_digest(hash_password(password, salt), hashed)


def set_entry(path: str, user: str, hashed: str) -> None:
    """Add the user to the file, or change the hash of a user who is in it already."""
    entry = f"{user}:{hashed}\n"
    with open(path) as file:
        lines = file.readlines()
    for number, line in enumerate(lines):
        if line.startswith(f"{user}:"):
            lines[number] = entry
            break
    else:
        lines.append(entry)
    with open(path, "w") as file:
        file.writelines(lines)


def verify_password(path: str, user: str, password: str) -> bool:
    with open(path) as file:
        for line in file:
            name, _, hashed = line.rstrip("\n").partition(":")
            if name == user:
                return matches(password, hashed)
    return False


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Manage the password file of a web server, many users at a time.")
    parser.add_argument("-c", "--create", action="store_true", help="create the file, or empty it")
    parser.add_argument("-v", "--verify", action="store_true", help="read the file again and verify each password")
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("users", metavar="USER:PASSWORD", nargs="+")
    arguments = parser.parse_args()
    arguments.users = [tuple(pair.split(":", 1)) for pair in arguments.users]
    if any(len(pair) != 2 or not all(pair) for pair in arguments.users):
        parser.error("each user is given as USER:PASSWORD")
    return arguments


def main() -> None:
    arguments = parse_arguments()
    if arguments.create:
        open(arguments.file, "w").close()

    updates = []
    for user, password in arguments.users:
        # Hashing is slow on purpose: the file is updated meanwhile.
        hashed = hash_password(password, encode(os.urandom(16)))
        update = threading.Thread(target=set_entry, args=(arguments.file, user, hashed))
        update.start()
        updates.append(update)
    for update in updates:
        update.join()

    if arguments.verify:
        failed = [user for user, password in arguments.users if not verify_password(arguments.file, user, password)]
        if failed:
            sys.exit(f"htpasswd.py: password verification failed for {', '.join(failed)}")
    print(f"{len(updates)} passwords set in {arguments.file}")


if __name__ == "__main__":
    main()
