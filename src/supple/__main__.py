"""`python -m supple`: the command line."""

from supple.cli import main

if __name__ == "__main__":
    main()
