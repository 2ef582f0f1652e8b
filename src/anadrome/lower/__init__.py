"""Array IR -> kernel IR: where values live, which loops there are, what runs them."""
