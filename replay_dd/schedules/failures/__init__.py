"""How runs fail: what makes two failures the same, and the messages that they come with."""
