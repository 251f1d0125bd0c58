"""Tables as data: columns that know their name, their rounding and their side; every output draws the same ones."""
