from django.utils.timezone import utc

assert str(utc) == "UTC"
