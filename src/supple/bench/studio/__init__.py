"""The studio in a real browser: how many updates arrive and are drawn, how soon a pull is felt, what watchers cost."""
