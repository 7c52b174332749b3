"""Code: which instructions are yield points, what they touch, and how places are named."""
