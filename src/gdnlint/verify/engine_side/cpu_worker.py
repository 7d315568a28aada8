"""vLLM's CPU worker with the state copy kernels that vLLM has for GPUs alone, run by Triton's interpreter.

Speculative decoding with prefix caching on a recurrent model copies state with fused Triton kernels. vLLM's CPU builds
(seen in 0.27.1 and 0.32.0) have no replacement for them and stop with "'function' object is not subscriptable". With
``TRITON_INTERPRET=1`` in the environment before Python starts, Triton runs the same source on the host's memory.

Used as ``worker_cls="cpu_worker.InterpretedWorker"``, in a process of the environment that has vLLM.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from typing import Any

from vllm.v1.worker.cpu_worker import CPUWorker

KERNELS = (
    "postprocess_mamba_fused_kernel",
    "precopy_mamba_align_fused_kernel",
    "preprocess_mamba_align_fused_kernel",
    "get_aligned_state_indices_multi_group_kernel",
)


class _Needed:
    """A kernel that is launched only if it would copy something. A launch costs the interpreter about 150 ms."""

    def __init__(self, kernel: Any, needed: Callable[[tuple[Any, ...], dict[str, Any], int], bool]) -> None:
        self.kernel, self.needed = kernel, needed

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        def launch(*arguments: Any, **named: Any) -> None:
            if self.needed(arguments, named, grid[0]):
                self.kernel[grid](*arguments, **named)

        return launch


def _before(arguments: tuple[Any, ...], named: dict[str, Any], requests: int) -> bool:
    """Whether some request's state moves to another column."""
    if named.get("HAS_IDX_MAPPING"):
        return True
    to, come_from = arguments[0][:requests], arguments[1][:requests]
    return bool(((come_from >= 0) & (come_from != to)).any())


def _after(arguments: tuple[Any, ...], named: dict[str, Any], requests: int) -> bool:
    """Whether some request crosses a block boundary."""
    if named.get("HAS_IDX_MAPPING") or named.get("PRECOMPUTED_NEW_COMPUTED"):
        return True
    accepted, _, scheduled, computed, drafts = (argument[:requests] for argument in arguments[:5])
    running = computed + scheduled - drafts
    new = running + accepted - 1
    block = named["block_size"]
    return bool(((new // block) * block >= running).any())


def install() -> None:
    """Puts interpreted kernels in the place of those that the CPU build lacks. A second call does nothing."""
    import triton
    import triton.language
    import vllm.triton_utils as used
    import vllm.v1.worker.mamba_utils as module

    if getattr(module, "_interpreted", False):
        return
    if os.environ.get("TRITON_INTERPRET") != "1":
        raise RuntimeError("TRITON_INTERPRET=1 must stand in the environment before Python starts")
    saved = used.triton, used.tl
    used.triton, used.tl = triton, triton.language
    try:
        # A second copy of the module, decorated by the real triton.jit instead of vLLM's placeholder.
        spec = importlib.util.spec_from_file_location("_interpreted_mamba_utils", module.__file__)
        assert spec is not None
        assert spec.loader is not None
        interpreted = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = interpreted
        spec.loader.exec_module(interpreted)
    finally:
        used.triton, used.tl = saved
    for name in KERNELS:
        if not hasattr(module, name):
            continue
        kernel = getattr(interpreted, name)
        if name.startswith("post"):
            kernel = _Needed(kernel, _after)
        elif name.startswith("precopy"):
            kernel = _Needed(kernel, _before)
        setattr(module, name, kernel)
    for name in ("cdiv", "next_power_of_2"):
        if not hasattr(module.triton, name):
            setattr(module.triton, name, getattr(triton, name))
    if hasattr(module, "_TEMPORAL_TILES"):
        module._TEMPORAL_TILES = 1  # tunes how a GPU is filled, nothing else
    module._interpreted = True


class InterpretedWorker(CPUWorker):
    def __init__(self, *arguments: Any, **named: Any) -> None:
        install()
        super().__init__(*arguments, **named)
