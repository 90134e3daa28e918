"""Plausible wrong answers to the power of a monitor of the variance."""

from scipy.stats import chi2, norm


def degrees_of_freedom(ratio, draws, false_alarm):
    threshold = chi2.isf(false_alarm, draws)
    return chi2.sf(threshold / ratio, draws)


def ratio_of_deviations(ratio, draws, false_alarm):
    threshold = chi2.isf(false_alarm, draws - 1)
    return chi2.sf(threshold / ratio**0.5, draws - 1)


def gaussian(ratio, draws, false_alarm):
    width = (2 / (draws - 1)) ** 0.5
    return norm.sf((1 + width * norm.isf(false_alarm) - ratio) / (ratio * width))


def two_sided(ratio, draws, false_alarm):
    threshold = chi2.isf(false_alarm / 2, draws - 1)
    return chi2.sf(threshold / ratio, draws - 1)


ANSWERS = [degrees_of_freedom, ratio_of_deviations, gaussian, two_sided]
