"""Benchmarks on a GPU: ttlg beside its peers and the copy ceiling, and the fit of the time model.

``python -m ttlg.benchmarks.gpu`` measures, ``python -m ttlg.benchmarks.gpu.calibrate`` fits, and
``python -m ttlg.benchmarks.gpu.draw`` draws what they have found; ``structures`` and ``conversion``
measure arrays of structures. All need PyTorch, whose memory, streams and events they use.
"""
