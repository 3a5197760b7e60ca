"""The tables of the papers' claims beside what committed records say of them.

``python -m claims``, here in docs, writes each to the end of its paper's page, in place of the one
that is there.
"""
