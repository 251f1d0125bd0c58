"""The live page of a study: reads its ledger, changes nothing, runs none of the study's code."""
