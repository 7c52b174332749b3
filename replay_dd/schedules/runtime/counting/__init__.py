"""What every yield point costs: counting, and the digest."""
