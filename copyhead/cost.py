"""What one Adam step of the full network costs, by counting, and how long that takes on a device one does not have.

Only V + L embedding vectors exist, so a step touches the weights W_G, a matrix of d^2 numbers, a few times, and does
everything else in matrices of V + L.  In single precision, 4 bytes a number:

    forward   W E (read W), the prior ||W||^2 (read W)                                    8 d^2 bytes
    backward  gradient = E dT E^T / d + W / g_W (read W, write the gradient)              8 d^2
    Adam      read weight, gradient and two running means, write all but the gradient    28 d^2

and 4 (V + L) d^2 floating-point operations in the two products.  With every position of every sequence embedded, the same
two products take 4 P L d^2.
"""

from __future__ import annotations

from dataclasses import dataclass

from copyhead.setup import Setup
from copyhead.validation import whole_number

BYTES = {"forward": 8, "backward": 8, "Adam": 28}          # of one weight in one step
KEPT = 16                                                  # weight, gradient and two running means


@dataclass(frozen=True)
class Device:
    """Data-sheet numbers: bytes and single-precision operations a second, bytes of memory."""

    bandwidth: float
    operations: float
    memory: float


# From NVIDIA's data sheets: T4, H100 SXM.
DEVICES = {"T4": Device(320e9, 8.1e12, 16e9), "H100": Device(3.35e12, 67e12, 80e9)}


@dataclass(frozen=True)
class StepCost:
    """Traffic to memory in bytes, floating-point operations, and bytes that must be kept, for one step."""

    traffic: float
    operations: float
    memory: float

    def seconds(self, device: Device, share: float = 0.75) -> float:
        """Estimated time if the device does ``share`` of what its data sheet says, and traffic and arithmetic overlap
        not at all."""
        return self.traffic / (share * device.bandwidth) + self.operations / (share * device.operations)


def adam_step(setup: Setup, d: int) -> StepCost:
    """One Adam step of ``CopyNetwork`` with frozen embeddings of dimension d.  Terms without d^2 are left out.

    Raises
    ------
    ValueError
        Unless d is a positive integer.
    """
    weights = whole_number("d", d, minimum=1) ** 2
    return StepCost(sum(BYTES.values()) * weights, 4 * (setup.V + setup.L) * weights, KEPT * weights)


def naive_operations(setup: Setup, P: int, d: int) -> int:
    """Operations of the product with W_G and of its gradient when all P L positions are embedded."""
    return 4 * whole_number("P", P, minimum=1) * setup.L * whole_number("d", d, minimum=1) ** 2
