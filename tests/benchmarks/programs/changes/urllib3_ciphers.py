import urllib3.util.ssl_

assert urllib3.util.ssl_.DEFAULT_CIPHERS
