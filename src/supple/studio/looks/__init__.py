"""Looks: what watchers see beside the frames, such as colours of fields, contacts and the body that is selected."""
