"""Kinds reduced in several processes are those of one; scripts without a guard, failures and progress."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

from supple.bodies.tree import Domain, DomainInterface, DomainTemplate, DomainTree, TreeModel
from supple.bodies.tree.domains import reduction_pool as pool
from supple.bodies.tree.domains.reduction_pool import choose_processes, work_of
from supple.errors import InputError
from supple.geometry import box_hexes, box_tets
from supple.material import Material

RUBBER = Material(1e7, 0.3, 1000)


def chain(modes: int = 5) -> DomainTree:
    """Three beams of different lengths, one of voxels, in a chain."""
    kinds, domains = {}, []
    for k, make in enumerate((box_tets, box_hexes, box_tets)):
        mesh = make(size=(1, 0.2, 0.2), cells=(4 + 2 * k, 2, 2))
        tip = mesh.node_region("x_max")
        interfaces = {"tip": DomainInterface(tip, np.ones(len(tip)))}
        kinds[f"part {k}"] = DomainTemplate(
            f"part {k}", mesh, RUBBER, modes, held=mesh.node_region("x_min"), interfaces=interfaces
        )
        domains.append(Domain(f"part {k}", k - 1, "tip" if k else ""))
    return DomainTree(kinds, domains)


def test_processes_give_the_same_bits_and_tell_of_each_kind() -> None:
    told: list[tuple[str, int, int]] = []
    one = TreeModel.of(chain(), keep=False, processes=1)
    two = TreeModel.of(chain(), keep=False, processes=2, progress=lambda *part: told.append(part))
    assert [part[1:] for part in told] == [(1, 3), (2, 3), (3, 3)]
    assert {part[0] for part in told} == {"part 0", "part 1", "part 2"}
    for a, b in zip(one.classes, two.classes):
        assert a.name == b.name
        assert np.array_equal(a.U, b.U)
        assert a.force is not None
        assert b.force is not None
        assert np.array_equal(a.force.cubic, b.force.cubic)


def test_a_helper_knows_the_package_alone() -> None:
    """Its program imports neither the caller's script nor anything of it; a failure is an answer, not its end."""
    program = pool.START.format(pool.__name__)
    process = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    pool.send(process.stdin, sys.path)
    assert pickle.load(process.stdout) == "ready"
    pool.send(process.stdin, (divmod, (7, 2)))
    assert pickle.load(process.stdout) == (True, (3, 1))
    pool.send(process.stdin, (divmod, (7, 0)))
    assert pickle.load(process.stdout) == (False, None)
    process.stdin.close()
    assert process.wait(20) == 0
    process.stdout.close()


def test_errors_are_raised_here() -> None:
    with pytest.raises(InputError, match=r"too small for its modes"):
        TreeModel.of(chain(10_000), keep=False, processes=2)
    with pytest.raises(InputError, match="processes"):
        TreeModel.of(chain(), processes=0)


def test_helpers_are_used_where_they_pay() -> None:
    assert choose_processes(None, [1e3] * 12) == 1
    assert choose_processes(None, [1e6]) == 1
    assert choose_processes(4, [1.0, 1.0]) == 2
    kinds = list(chain().kinds.values())
    assert work_of(kinds[1]) > work_of(kinds[2]) > work_of(kinds[0])


def test_a_bar_is_drawn_where_it_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    TreeModel.of(chain(), processes=1, progress=True)
    assert "3 of 3 kinds" in capsys.readouterr().err
    TreeModel.of(chain(), processes=1)
    assert capsys.readouterr().err == ""
