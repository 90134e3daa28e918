ANSWERS = [
    296.76,  # the upper spinodal of the theory
    295,  # the same, rounded down to the list
    290,  # the first at which it is lost
    275,  # where both wells are equally deep in the theory
    265,  # the lower spinodal
]
