import numpy as np


def _smallest(gap, count):
    return [i for i in np.argsort(gap) if gap[i] > 0][:count]


def _straight_jump(L, gap, count=3):
    L, gap = np.asarray(L, float), np.asarray(gap, float)
    chosen = _smallest(gap, count)
    slope, offset = np.polyfit(L[chosen], gap[chosen], 1)
    return -offset / slope


def _zeros_too(L, gap, count=3):
    L, gap = np.asarray(L, float), np.asarray(gap, float)
    chosen = np.argsort(gap)[: count + 2]
    slope, offset = np.polyfit(L[chosen], gap[chosen] ** 2, 1)
    return -offset / slope


def _all_jumps(L, gap, count=3):
    L, gap = np.asarray(L, float), np.asarray(gap, float)
    chosen = gap > 0
    slope, offset = np.polyfit(L[chosen], gap[chosen] ** 2, 1)
    return -offset / slope


def _offset_returned(L, gap, count=3):
    L, gap = np.asarray(L, float), np.asarray(gap, float)
    chosen = _smallest(gap, count)
    return np.polyfit(L[chosen], gap[chosen] ** 2, 1)[1]


def _first_in_line(L, gap, count=3):
    L, gap = np.asarray(L, float), np.asarray(gap, float)
    chosen = np.flatnonzero(gap > 0)[:count]
    slope, offset = np.polyfit(L[chosen], gap[chosen] ** 2, 1)
    return -offset / slope


ANSWERS = [_straight_jump, _zeros_too, _all_jumps, _offset_returned, _first_in_line]
