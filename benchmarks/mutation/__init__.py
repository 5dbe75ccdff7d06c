"""Faults that people and models put into kernels, as changes of one node of a file's syntax tree.

An operator is a function that takes a copy of a node and returns what stands there in the mutant, or None where it does
not apply. `reading` says what the operators ask of the surroundings, so that they leave alone what would be no fault;
`addressing` holds the operators on what is read and written, `arithmetic` those on what is computed; `mutants` applies
them.
"""
