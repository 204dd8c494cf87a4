"""The file of a record: its layout, what is checked when it is read, states, contacts, the lock of its folder."""
