"""Lets a CPU build of PyTorch import the torchvision that package indexes offer, which is a CUDA build.

Python imports this module at start, in the engine's process and in those that it starts, when this folder is on its
path: only for vLLM's CPU packages. Some models import torchvision for their pictures alone. Its import fails for two
operators that the CUDA build would register ("operator torchvision::nms does not exist"), so they are declared just
before.
"""

import importlib.abc
import sys


class _BeforeTorchvision(importlib.abc.MetaPathFinder):
    library = None

    def find_spec(self, name, path=None, target=None):  # type: ignore[no-untyped-def]  # noqa: ARG002
        if name != "torchvision":
            return
        sys.meta_path.remove(self)
        try:
            import torch

            library = torch.library.Library("torchvision", "DEF")
            for operator in ("nms", "qnms"):
                library.define(operator + "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
            _BeforeTorchvision.library = library
        except Exception as error:  # the import that follows says what is wrong
            print(f"gdnlint: torchvision's operators were not declared: {error}", file=sys.stderr)
        return


sys.meta_path.insert(0, _BeforeTorchvision())
