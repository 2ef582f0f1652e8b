"""What a program will hold of memory, said before it runs."""
