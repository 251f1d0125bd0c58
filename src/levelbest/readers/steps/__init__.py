"""From raw tables to Trials, in the order in which it happens.

merged      several tables as one, and what is said of their reading
conditions  only the rows that are asked for
wide        one row per sample, where samples were counted, were columns, or a list in one cell (``lists``)
guesses     roles of columns (``roles``; ``names``: what a name implies; ``kinds``: what a column cannot be)
problems    what families were run on
scores      direction of scores, and doubtful scores that the user is asked about
runs        rows that are checkpoints of runs, and the best of each
cells       what people write for a number, and tools for how a trial ended
pipeline    all of these in turn, and the Trials they make
diagnose    is it a random sample? (``designs``: grids, repeats, seeds, pairs)
"""
