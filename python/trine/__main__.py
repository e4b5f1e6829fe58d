"""`python -m trine`: the program."""

from trine_program import main

if __name__ == "__main__":
    main()
