def _derivatives(model, a_G, P, step=1e-5):
    along_a = (model.loss(a_G + step, P) - model.loss(a_G - step, P)) / (2 * step)
    along_P = (model.loss(a_G, P * (1 + step)) - model.loss(a_G, P * (1 - step))) / (2 * step * P)
    return along_a, along_P, model.setup.L / (2 * model.setup.sigma2)


def _attention_held_fixed(model, a_G, P):
    _, along_P, _ = _derivatives(model, a_G, P)
    return along_P


def _follows_uphill(model, a_G, P):
    """Sign of da_G/dP."""
    along_a, along_P, rate = _derivatives(model, a_G, P)
    return along_P + rate * along_a**2 / model.curvature(a_G, P)


def _without_the_rate(model, a_G, P):
    along_a, along_P, _ = _derivatives(model, a_G, P)
    return along_P - along_a**2 / model.curvature(a_G, P)


def _only_the_motion(model, a_G, P):
    along_a, _, rate = _derivatives(model, a_G, P)
    return -rate * along_a**2 / model.curvature(a_G, P)


def _curvature_of_the_action(model, a_G, P):
    """The second derivative of the action along the branch, not yet the slope of the loss."""
    along_a, along_P, rate = _derivatives(model, a_G, P)
    return rate * (along_P - rate * along_a**2 / model.curvature(a_G, P))


ANSWERS = [_attention_held_fixed, _follows_uphill, _without_the_rate, _only_the_motion, _curvature_of_the_action]
