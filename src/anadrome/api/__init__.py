"""What a user holds: compiled functions, the transforms of functions, and what looks into them."""
