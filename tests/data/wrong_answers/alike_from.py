"""Wrong edges of the competitive state."""

from dataclasses import replace

from copyhead import SoftmaxAction


def edge(setup, heads, w, name="lower_spinodal", out=1, back=1):
    changed = replace(setup, g_O=setup.g_O * heads**out, g_W=setup.g_W * w**2 / heads**back)
    found = SoftmaxAction(changed).first_order_transition()
    return found and getattr(found, name)


ANSWERS = [
    lambda setup, heads, w: edge(setup, heads, w, "P"),                      # where it is as good, not where it begins
    lambda setup, heads, w: edge(setup, heads, w, "upper_spinodal"),
    lambda setup, heads, w: edge(setup, heads, w, out=0),                    # the readouts' variances do not add
    lambda setup, heads, w: edge(setup, heads, w, back=0),                   # the prior is paid once
    lambda setup, heads, w: edge(setup, heads, w**0.5),
]
