"""From raw tables to Trials, in the order in which it happens.

merged          several tables as one, and what is said of their reading
conditions      only the rows that are asked for
wide            one row per sample, where samples were counted or were columns
roles           which column plays which part (``names``: what a name gives away)
lists           one row per sample or checkpoint, where they were a list in one cell
directions      which way is better
runs            rows that are checkpoints of runs, and the best of each
numbers         what people write for a number, and tools for how a trial ended
configurations  which columns are hyperparameters
pipeline        all of these in turn, and the Trials they make
diagnose        is it a random sample? (``designs``: grids, repeats, seeds, pairs)
"""
