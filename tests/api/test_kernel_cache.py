"""Compiled kernels are kept per module, and a change of anything they call makes them anew."""

import importlib.util
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from supple.algebra.compiling import compiled as compiling


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of three modules: `top` calls `middle`, which takes `bottom` in; `other` stands alone."""
    root = tmp_path / "supple"
    root.mkdir()
    (root / "__init__.py").write_text("")
    (root / "bottom.py").write_text("@compiled\ndef f(): ...\n")
    (root / "middle.py").write_text("from supple.bottom import (\n    f,  # used\n)\n")
    (root / "top.py").write_text("from supple import middle\n\n\n@compiled\ndef g(): ...\n")
    (root / "other.py").write_text("@compiled\ndef h(): ...\n")
    monkeypatch.setattr(compiling, "PACKAGE", root)
    compiling._source.cache_clear()
    compiling.kernel_cache.cache_clear()
    yield root
    compiling._source.cache_clear()
    compiling.kernel_cache.cache_clear()


def folders() -> dict[str, Path]:
    compiling._source.cache_clear()
    compiling.kernel_cache.cache_clear()
    return {name: compiling.kernel_cache(f"supple.{name}") for name in ("top", "other")}


def test_a_change_of_what_is_called_through_others_makes_kernels_anew(package: Path) -> None:
    before = folders()
    (package / "bottom.py").write_text("@compiled\ndef f(): return 1\n")
    after = folders()
    assert after["top"] != before["top"]
    assert after["other"] == before["other"]


def test_a_change_without_kernels_keeps_them(package: Path) -> None:
    before = folders()
    (package / "middle.py").write_text("from supple.bottom import f\n# more\n")
    assert folders() == before


def test_kernels_outside_the_package_know_their_own_source_and_what_they_call(package: Path, tmp_path: Path) -> None:
    """Those of tests, for instance, whose modules have names of their own."""
    file = tmp_path / "test_something.py"
    file.write_text("from supple import top\n\n\n@compiled\ndef k(): ...\n")

    def folder() -> Path:
        folders()
        return compiling.kernel_cache("test_something", str(file))

    first = folder()
    (package / "bottom.py").write_text("@compiled\ndef f(): return 1\n")
    second = folder()
    (package / "other.py").write_text("@compiled\ndef h(): return 1\n")
    assert folder() == second
    file.write_text("from supple import top\n\n\n@compiled\ndef k(): return 1\n")
    assert len({first, second, folder()}) == 3


def test_a_kernel_of_this_test_has_a_folder_of_its_own() -> None:
    """It is the one of this file's text, not one for all modules that are found nowhere."""

    @compiling.compiled
    def one() -> int:
        return 1

    stored = Path(one.stats.cache_path)
    assert one() == 1
    assert stored.is_relative_to(compiling.kernel_cache(__name__, __file__))
    assert not stored.is_relative_to(compiling.kernel_cache(__name__))


def test_the_same_sources_in_another_folder_find_the_kernels_compiled(tmp_path: Path) -> None:
    """A module of the same name and text, twice: the second one loads what the first has compiled."""
    name = f"kernels_{abs(hash(str(tmp_path)))}"
    imports = f"# {tmp_path}\nfrom supple.algebra.compiling.compiled import compiled\n"
    text = imports + "\n\n@compiled\ndef two(x):\n    return 2.0 * x\n"
    hits = []
    for folder in ("one", "other"):
        file = tmp_path / folder / f"{name}.py"
        file.parent.mkdir()
        file.write_text(text)
        spec = importlib.util.spec_from_file_location(name, file)
        module = importlib.util.module_from_spec(spec)
        compiling._source.cache_clear()
        compiling.kernel_cache.cache_clear()
        sys.modules[name] = module
        spec.loader.exec_module(module)
        assert module.two(1.5) == 3.0
        hits.append(sum(module.two.stats.cache_hits.values()))
    assert hits[1] == 1


def test_processes_never_write_the_same_file(tmp_path: Path) -> None:
    """Numba numbers the files of a kernel's signatures; two processes would take the same number at the same time."""

    @compiling.compiled
    def three(x: float) -> float:
        return 3.0 * x

    assert three(1.0) == 3.0
    names = [path.name for path in Path(three.stats.cache_path).glob("*three*.nbc")]
    assert any(compiling.OWN in name for name in names) or sum(three.stats.cache_hits.values()) == 1


CALLER = """
import numba
import numpy as np
from supple.algebra.compiling.compiled import compiled


@compiled(parallel=True)
def add_one(a):
    for i in numba.prange(a.size):
        a[i] += 1.0


@compiled
def add_two(a):
    add_one(a)
    add_one(a)
"""


def test_a_caller_from_the_cache_starts_the_threads_of_what_it_calls(tmp_path: Path) -> None:
    """Compiled by one process where its callee came from the cache of another, it runs in a third."""
    (tmp_path / "caller.py").write_text(CALLER)
    environment = {**os.environ, "SUPPLE_CACHE": str(tmp_path / "cache")}
    for kernel, sum_after in (("add_one", 8.0), ("add_two", 16.0), ("add_two", 16.0)):
        code = f"import caller, numpy as np; a = np.zeros(8); caller.{kernel}(a); assert a.sum() == {sum_after}"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr.decode()


TERMS = " + ".join(f"np.sin({k}.0 * x)" for k in range(1, 400))
LARGE = f"""
import numpy as np
from supple.algebra.compiling.compiled import compiled


@compiled
def large(x):
    return {TERMS}


@compiled
def twice(x):
    return 2.0 * large(x)


@compiled
def thrice(x):
    return 3.0 * large(x)
"""


def run_in_a_process(folder: Path, code: str) -> str:
    environment = {**os.environ, "SUPPLE_CACHE": str(folder / "cache")}
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def test_a_large_kernel_is_compiled_once_and_found_by_its_callers(tmp_path: Path) -> None:
    """Callers compiled by different processes, from the cache and not, and where the kernel itself is gone from it."""
    (tmp_path / "kernels.py").write_text(LARGE)
    value = sum(math.sin(k * 0.3) for k in range(1, 400))
    misses = "sum(kernels.large.called.stats.cache_misses.values())"
    by_name = (
        "not any(True for _ in next(iter(kernels.large.called.overloads.values())).library._shared_module.functions)"
    )

    def call(*names: str) -> tuple[str, ...]:
        values = ", ".join(f"kernels.{name}(0.3)" for name in names)
        return tuple(run_in_a_process(tmp_path, f"import kernels; print({values}, {misses}, {by_name})").split())

    (two, first, named), (three, second, _) = call("twice"), call("thrice")
    assert (first, second, named) == ("1", "0", "True")
    assert float(two) == pytest.approx(2.0 * value, rel=1e-12)
    assert float(three) == pytest.approx(3.0 * value, rel=1e-12)
    assert call("thrice", "twice") == (three, two, "0", "True")
    for file in (tmp_path / "cache").rglob("*large*.nb?"):
        file.unlink()
    assert call("twice", "thrice") == (two, three, "1", "True")


def test_processes_that_need_a_kernel_at_once_compile_it_once(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(LARGE)
    environment = {**os.environ, "SUPPLE_CACHE": str(tmp_path / "cache")}
    code = "import kernels; kernels.twice(0.3); print(sum(kernels.large.called.stats.cache_misses.values()))"
    both = [
        subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, env=environment, stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    assert sum(int(process.communicate()[0]) for process in both) <= 1


def test_kernels_of_one_name_with_values_of_their_own_are_kept_apart() -> None:
    def multiplier(n: int) -> Callable[[float], float]:
        @compiling.compiled
        def times(x: float) -> float:
            return n * x

        return times

    two, three = multiplier(2), multiplier(3)

    @compiling.compiled
    def both(x: float) -> float:
        return two(x) + three(x)

    assert (two(1.0), three(1.0), both(1.0)) == (2.0, 3.0, 5.0)


TWICE = """
from supple.algebra.compiling.compiled import compiled


@compiled
def twice(x):
    return 2.0 * x
"""
ASK = "from twice import twice; print(twice(1.5), sum(twice.stats.cache_hits.values()))"
DAMAGE = {
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "other": lambda content: b"no pickle" * 9,
    "end": lambda content: content[:-3] + b"abc",
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_a_damaged_file_of_the_cache_counts_as_absent(suffix: str, damage: str, tmp_path: Path) -> None:
    """It is compiled anew once, and found from then on."""
    (tmp_path / "twice.py").write_text(TWICE)
    environment = {**os.environ, "SUPPLE_CACHE": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}

    def ask() -> str:
        command = [sys.executable, "-c", ASK]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    first, found = ask(), ask()
    assert first != found
    files = sorted((tmp_path / "cache").rglob(f"*.{suffix}"))
    assert files
    for file in files:
        file.write_bytes(DAMAGE[damage](file.read_bytes()))
    assert ask() == first
    assert ask() == found
