"""Generated C++ functions beside other ways to permute the same arrays: figures 5 to 9 of GenTT.

`ttlg.generate` writes the functions; ``python -m ttlg.benchmarks.generated`` compiles and measures
them.
"""
