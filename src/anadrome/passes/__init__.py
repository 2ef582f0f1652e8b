"""Array IR to array IR: one file for each pass, named as the pass is."""
