"""Contractions that others have published.

Those of the TCCG benchmark (github.com/HPAC/tccg, ``benchmark/benchmark.py``; P. Springer and
P. Bientinesi, Design of a High-Performance GEMM-like Tensor-Tensor Multiplication, ACM TOMS 2018),
with the extents that follow from its rule for tensors of about 200 MiB in double precision.
"""

# Extents of the labels in alphabetical order. Names are result-first-second, and the first label of
# a term varies fastest.
TCCG: dict[str, tuple[int, ...]] = {
    "abc-bda-dc": (312, 312, 24, 312),
    "abc-dca-bd": (312, 24, 296, 312),
    "abcd-dbea-ec": (72, 72, 24, 72, 72),
    "abcd-deca-be": (72, 24, 72, 72, 72),
    "abcd-ebad-ce": (72, 72, 24, 72, 72),
    "abcde-efbad-cf": (48, 32, 24, 32, 48, 32),
    "abcde-ecbfa-fd": (48, 32, 32, 24, 48, 48),
    "abcde-efcad-bf": (48, 24, 32, 32, 48, 32),
    "abcd-ea-ebcd": (72, 72, 72, 72, 72),
    "abcd-eb-aecd": (72, 72, 72, 72, 72),
    "abcd-ec-abed": (72, 72, 72, 72, 72),
    "ab-ac-cb": (5136, 5120, 5136),
    "ab-acd-dbc": (312, 296, 296, 312),
    "ab-cad-dcb": (312, 296, 312, 312),
    "abc-acd-db": (312, 296, 296, 312),
    "abc-adc-bd": (312, 312, 296, 296),
    "abc-adec-ebd": (72, 72, 72, 72, 72),
    "abcd-aebf-dfce": (72, 72, 72, 72, 72, 72),
    "abcd-aebf-fdec": (72, 72, 72, 72, 72, 72),
    "abcd-eafd-fbec": (72, 72, 72, 72, 72, 72),
    "abcdef-dega-gfbc": (24, 16, 16, 24, 16, 16, 24),
    "abcdef-degb-gfac": (24, 16, 16, 24, 16, 16, 24),
    "abcdef-degc-gfab": (24, 16, 16, 24, 16, 16, 24),
    "abcdef-dfgb-geac": (24, 16, 16, 24, 16, 16, 24),
}

# What its full list has besides.
TCCG_MORE: dict[str, tuple[int, ...]] = {
    "abc-ad-bdc": (312, 312, 296, 296),
    "abc-adc-db": (312, 296, 296, 312),
    **dict.fromkeys(
        (
            *("abcd-aecf-bfde", "abcd-aecf-fbed", "abcd-aedf-bfce", "abcd-aedf-fbec"),
            *("abcd-aefb-fdce", "abcd-aefc-fbed", "abcd-eafb-fdec", "abcd-eafc-bfde"),
        ),
        (72, 72, 72, 72, 72, 72),
    ),
    **dict.fromkeys(
        (
            *("abcdef-dfga-gebc", "abcdef-dfgc-geab", "abcdef-geab-dfgc", "abcdef-geac-dfgb"),
            *("abcdef-gebc-dfga", "abcdef-gfab-degc", "abcdef-gfac-degb", "abcdef-gfbc-dega"),
        ),
        (24, 16, 16, 24, 16, 16, 24),
    ),
    **dict.fromkeys(
        (
            *("abcdef-efga-gdbc", "abcdef-efgb-gdac", "abcdef-efgc-gdab"),
            *("abcdef-gdab-efgc", "abcdef-gdac-efgb", "abcdef-gdbc-efga"),
        ),
        (24, 16, 16, 16, 24, 16, 24),
    ),
}

# Contractions after the names of TCCG, some shortened, in the order of NumPy: the last label varies
# fastest. The first five contract TCCG's result with its first operand.
NINE: dict[str, dict[str, int]] = {
    "abcd,dbea->ec": dict.fromkeys("abcde", 72) | {"c": 24},
    "abcde,efbad->cf": dict.fromkeys("abcdef", 24) | {"c": 48, "f": 48},
    "abcde,ecbfa->fd": dict.fromkeys("abcdef", 24) | {"d": 48, "f": 48},
    "abcd,ea->ebcd": dict.fromkeys("abcde", 72),
    "abcd,be->aecd": dict.fromkeys("abcde", 72),
    "dega,gfbc->abcdef": dict.fromkeys("abcdef", 16) | {"g": 24},
    "gdab,efgc->abcdef": dict.fromkeys("abcdef", 16) | {"g": 24},
    "aebf,dfce->abcd": dict.fromkeys("abcd", 72) | {"e": 36, "f": 36},
    "acd,db->abc": {"a": 312, "b": 296, "c": 24, "d": 312},
}
