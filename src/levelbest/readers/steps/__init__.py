"""From raw tables to Trials, in the order in which it happens.

merged      several tables as one, and what is said of their reading
conditions  only the rows that are asked for
wide        one row per sample, where samples were counted, were columns, or a list in one cell (``lists``)
guesses     which column plays which part (``roles``; ``names``: what a name gives away; ``kinds``: what it cannot be)
problems    what families were run on
scores      which way is better, and scores that are asked about
runs        rows that are checkpoints of runs, and the best of each
cells       what people write for a number, and tools for how a trial ended
pipeline    all of these in turn, and the Trials they make
diagnose    is it a random sample? (``designs``: grids, repeats, seeds, pairs)
"""
