"""The terminal: tables and sentences, with colour where the terminal has it and plain where it is piped."""
