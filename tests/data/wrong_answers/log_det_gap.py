import numpy as np


def _log_det(matrices):
    return np.linalg.slogdet(np.eye(matrices.shape[-1]) + matrices)[1]


def _grams(features, lam):
    return np.swapaxes(features, 1, 2) @ features / lam


def _other_sign(features, lam):
    grams = _grams(features, lam)
    return _log_det(grams).mean() - _log_det(grams.mean(axis=0))


def _mean_of_the_features(features, lam):
    mean = features.mean(axis=0, keepdims=True)
    return np.abs(_log_det(_grams(mean, lam))[0] - _log_det(_grams(features, lam)).mean())


def _mean_of_the_kernels(features, lam):
    """Averages Psi Psi^T, whose rows mean something else in every data set."""
    kernels = features @ np.swapaxes(features, 1, 2) / lam
    return _log_det(kernels.mean(axis=0)) - _log_det(kernels).mean()


def _linear(features, lam):
    """The trace, to which ln det reduces for much noise: it averages exactly."""
    traces = np.trace(_grams(features, lam), axis1=1, axis2=2)
    return np.trace(_grams(features, lam).mean(axis=0)) - traces.mean()


def _without_noise_in_one(features, lam):
    grams = _grams(features, 1.0)
    return np.linalg.slogdet(lam * np.eye(3) + grams.mean(axis=0))[1] - _log_det(grams / lam).mean()


ANSWERS = [_other_sign, _mean_of_the_features, _mean_of_the_kernels, _linear, _without_noise_in_one]
