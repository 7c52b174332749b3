"""What is known of threads that wait for each other: who has what since where, and what happened to it before."""
