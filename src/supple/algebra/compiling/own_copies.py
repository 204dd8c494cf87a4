"""`LibraryOfOwn`: the machine code of a kernel, which runs its own copies of what it calls.

Numba links what a kernel calls into it and optimises all again. What LLVM does not take in stays beside the kernel as a
copy, under the name of the original. LLVM's engine gives a name to the first code that comes with it, so that a kernel
would call its copy or the original, whichever was loaded first; the two may be optimised differently and differ in the
last bit. A process that compiles has the originals, one that loads from the cache has not. Here copies are private to
the machine code they lie in, so that a kernel runs the same instructions in every process.

Callers get the kernel as the cache would give it to them: through LLVM's bitcode.
"""

# mypy: ignore-errors
from __future__ import annotations

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary


class LibraryOfOwn(JITCodeLibrary):
    """The machine code of one kernel with private copies of what it calls, and its LLVM code for callers."""

    def _optimize_final_module(self):
        super()._optimize_final_module()
        callable_by_others = llvm.parse_bitcode(self._final_module.as_bitcode())
        for function in callable_by_others.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = llvm.Linkage.linkonce_odr
        self.linked_into_callers = callable_by_others
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.linkonce_odr:
                function.linkage = llvm.Linkage.internal

    def _get_module_for_linking(self):
        self._ensure_finalized()
        if self._shared_module is None:
            self._shared_module = self.linked_into_callers
        return self._shared_module
