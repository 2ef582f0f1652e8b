"""Mixed mode: dual numbers inside reverse mode for bodies of scalars."""
