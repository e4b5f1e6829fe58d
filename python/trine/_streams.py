"""Streams of other libraries as numbers."""

from ._errors import UsageError


def stream_handle(stream):
    """The cudaStream_t of `stream`: a number, None for the default, or an object that has one."""
    if stream is None:
        return 0
    if isinstance(stream, int) and stream >= 0:
        return stream
    if hasattr(stream, "__cuda_stream__"):  # the CUDA stream protocol: (version, handle)
        return int(stream.__cuda_stream__()[1])
    for name in ("cuda_stream", "ptr"):  # PyTorch, CuPy
        if hasattr(stream, name):
            return int(getattr(stream, name))
    raise UsageError(f"stream is {stream!r} (a stream of PyTorch or CuPy, the number of a cudaStream_t, or None are "
                     "possible), give one of these")
