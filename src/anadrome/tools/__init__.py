"""What looks at programs from outside: gradient checks, the demonstration, the state of an installation."""
