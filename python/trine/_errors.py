"""Exceptions of trine. The text reads "problem (why), what to do"."""


class Error(Exception):
    """What trine raises; `code` says what the caller can do about it.

    The codes are "usage", "bad_input", "not_converged", "out_of_memory", "validation_failed" and
    "not_supported", as in the C++ interface.
    """

    code = ""


class UsageError(Error, ValueError):
    """The call itself is wrong: an option that does not exist or is outside its range."""

    code = "usage"


class InputError(Error, ValueError):
    """A file or a structure cannot be used as it is."""

    code = "bad_input"


class ConvergenceError(Error):
    """An iteration reached its limit."""

    code = "not_converged"


class OutOfMemoryError(Error, MemoryError):
    """The work does not fit on the device."""

    code = "out_of_memory"


class ValidationError(Error):
    """A check of results failed."""

    code = "validation_failed"


class NotSupportedError(Error, NotImplementedError):
    """A legal request that this build, device or model cannot serve."""

    code = "not_supported"


ERRORS = {kind.code: kind for kind in Error.__subclasses__()}
