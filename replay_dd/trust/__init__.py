"""What a log from a stranger may do: nothing but be read, until the user agrees to more."""
