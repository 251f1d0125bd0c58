"""Write the committed cv_results_: python make_sklearn.py, with ``scikit-learn`` and ``pandas`` installed.

``search`` is also what the tests call to get a fresh one.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import sklearn
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier


def search(scoring=None):
    """Seven candidates of two kinds, two of which cannot be fitted."""
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(90, 4))
    labels = (inputs[:, 0] + 0.5 * rng.normal(size=90) > 0).astype(int)
    grid = [
        {"max_depth": [1, 2, -5], "criterion": ["gini"]},  # -5 is refused by the estimator
        {"min_samples_leaf": [1, 5, 20, 0], "random_state": [0]},  # and so is 0
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn says which fits failed
        found = GridSearchCV(DecisionTreeClassifier(), grid, scoring=scoring, refit=False, cv=3)
        return found.fit(inputs, labels).cv_results_


if __name__ == "__main__":
    folder = Path(__file__).parent / "sklearn"
    results = search()
    pd.DataFrame(results).to_csv(folder / "cv_results.csv")
    plain = {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in results.items()}
    (folder / "cv_results.json").write_text(json.dumps(plain, indent=1))
    versions = f"scikit-learn {sklearn.__version__}\npandas {pd.__version__}\npython {sys.version.split()[0]}\n"
    (folder / "VERSIONS").write_text(versions)
