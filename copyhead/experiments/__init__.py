"""What the experiments of the book compute: one module an experiment, run by a chapter or by ``make stored``."""
