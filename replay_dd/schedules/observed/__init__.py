"""What a run told of its threads: instructions, accesses, and how values flowed."""
