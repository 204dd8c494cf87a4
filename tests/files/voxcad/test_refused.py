"""VoxCAD files that are wrong are refused in one sentence, before anything large is made."""

from __future__ import annotations

import base64
import re
import tracemalloc
import zlib
from pathlib import Path

import pytest
from tests.files.voxcad.samples import OBJECT, SCENE, put, read

from supple.errors import FileFormatError, InputError
from supple.files.voxcad import xml as voxcad_xml
from supple.files.voxcad.load import (
    load_voxcad,
)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("112001", "113001", r"scene\.vxa, VXC/Structure: a voxel has a material that is not in the palette \(got 3"),
        ("112001", "11200", r"Data/Layer\[1\]: the cells of the layer are not X_Voxels times Y_Voxels \(got 5"),
        ("112001", "1120011", r"Layer\[1\]: the cells of the layer .* \(got 7; allowed: 6\)"),
        ("112001", "112/01", r"Layer\[1\]: a character stands for no material"),
        ("112001", "11200é", r"Layer\[1\]: a character stands for no material"),
        ("<X_Voxels>3", "<X_Voxels>0", "X_Voxels, Y_Voxels, Z_Voxels: the number of cells is out of range"),
        ("<X_Voxels>3", "<X_Voxels>3.5", r"VXC/Structure/X_Voxels: not a whole number \(got '3.5'\)"),
        ("<X_Voxels>3", "<X_Voxels>3000000000", "the number of cells is out of range"),
        ("<X_Voxels>3</X_Voxels>", "", r"VXC/Structure: the tag <X_Voxels> is missing"),
        ("<Z_Voxels>2", "<Z_Voxels>3", "VXC/Structure/Data: the number of layers differs from Z_Voxels"),
        ("0.2, 0.3", "nan, 0.3", r"PhaseOffset/Layer\[1\]: a number of the layer is not finite"),
        ("0.2, 0.3", "a, 0.3", r"PhaseOffset/Layer\[1\]: the layer holds more than numbers"),
        ("0.2, 0.3", "0.3", r"PhaseOffset/Layer\[1\]: the numbers of the layer do not fit the voxels"),
        ("0.2, 0.3", "0" * 200 + ", 0.3", r"a number of the layer is too long"),
        ("ASCII_READABLE", "QT_ZLIB", r"attribute Compression: this form of the layers is not read \(got 'QT_ZLIB'"),
        (' Compression="ASCII_READABLE"', "", "this form of the layers is not read"),
        ("ASCII_READABLE", "ZLIB", r"Layer\[1\]: the layer is not ZLIB"),
        ("ASCII_READABLE", "BASE64", r"Layer\[1\]: the layer is not BASE64"),
        ("<Lattice_Dim>0.01", "<Lattice_Dim>0", r"Lattice/Lattice_Dim: the voxel size is not positive"),
        ("<Lattice_Dim>0.01", "<Lattice_Dim>1_0", r"Lattice/Lattice_Dim: not a finite number"),
        ("<X_Dim_Adj>1", "<X_Dim_Adj>2", "VXC/Lattice.*: the lattice is not cubic"),
        ("</Lattice>", "<X_Line_Offset>0.5</X_Line_Offset></Lattice>", "the lattice is not cubic"),
        ("5e+006", "nan", r"Material\[1\]/Mechanical/Elastic_Mod: not a finite number \(got 'nan'\)"),
        ("5e+006", "1e999", r"Elastic_Mod: not a finite number"),
        ("5e+006", "-5", r"Material\[1\]/Mechanical: Young's modulus is not positive"),
        ("5e+006", "9" * 1000, r"Elastic_Mod: not a finite number"),
        ("<Density>1000</Density>", "", r"Material\[2\]/Mechanical: the tag <Density> is missing"),
        ("<MatType>0", "<MatType>3", r"Material\[1\]/MatType: materials made of others are not read"),
        ("<Alpha>0.75", "<Alpha>7", "the colour is not four numbers from 0 to 1"),
        ("uDynamic>0.5", "uDynamic>2", "kinetic friction is larger than static friction"),
        ("<PrimType>0", "<PrimType>3", "Fixed_Regions/FRegion/PrimType: this shape of a region is not read"),
        ("<NumFixed>1", "<NumFixed>2000000000", "Fixed_Regions/NumFixed: the number of regions"),
        ("<Fixed>1", "<DofFixed>64</DofFixed><Fixed>1", "FRegion/DofFixed: not a set of six bits"),
        ("<Fixed>1", "<Fixed>yes", r"FRegion/Fixed: not a flag \(got 'yes'; allowed: 0, 1\)"),
        ("<StopConditionType>3", "<StopConditionType>9", "StopConditionType: an unknown stop condition"),
        ("<DtFrac>0.8", "<DtFrac>0", "Simulator: the fraction of the time step is not positive"),
        ("<TempPeriod>0.25", "<TempPeriod>-1", "Thermal: the period is negative"),
        ("<VXA Version", "<VXB Version", "damaged, cut short or not XML"),
        ("</VXA>", "", r"scene\.vxa: damaged, cut short or not XML"),
        ("ISO-8859-1", "made-up", "damaged|encoding is not read"),
        ("<VXA Version", '<VXA xmlns="a" Version', "XML namespaces are not read"),
    ],
)
def test_what_is_wrong_is_one_sentence(tmp_path, old, new, says):
    assert old in SCENE
    with pytest.raises(FileFormatError, match=says) as caught:
        read(tmp_path, SCENE.replace(old, new, 1))
    assert "\n" not in str(caught.value)


def test_zero_voxels(tmp_path):
    with pytest.raises(FileFormatError, match="VXC/Structure: the grid holds no voxel"):
        read(tmp_path, SCENE.replace("112001", "000000").replace("000120", "000000"))


@pytest.mark.parametrize("tag", ["Lattice", "Palette", "Structure", "Data", "Mechanical"])
def test_parts_that_must_be_there(tmp_path, tag):
    text = re.sub(f"<(/?){tag}([ >])", r"<\1Else\2", SCENE)
    with pytest.raises(FileFormatError, match=f"the tag <{tag}> is missing"):
        read(tmp_path, text)


def test_the_root_must_fit_the_suffix(tmp_path):
    with pytest.raises(
        FileFormatError, match=r"scene\.vxa: the file begins with another tag \(got 'VXC'; allowed: <VXA>"
    ):
        read(tmp_path, OBJECT)
    with pytest.raises(FileFormatError, match="the tag <VXC> is missing"):
        read(tmp_path, "<VXA/>")
    with pytest.raises(InputError, match=r"a\.xml: this is not a VoxCAD file"):
        read(tmp_path, SCENE, "a.xml")
    with pytest.raises(FileFormatError, match="the file is empty"):
        read(tmp_path, " \n")
    with pytest.raises(FileFormatError, match="the file cannot be read"):
        load_voxcad(tmp_path / "missing.vxa")
    with pytest.raises(FileFormatError, match="the file cannot be read"):
        load_voxcad(tmp_path / "missing.vxd")


BOMB = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))


@pytest.mark.parametrize(
    "head",
    [
        f'<!DOCTYPE VXA [<!ENTITY e0 "boom">{BOMB}]>',
        '<!DOCTYPE VXA [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE VXA SYSTEM "http://localhost/a.dtd">',
        "<!DOCTYPE VXA>",
    ],
)
def test_entities_and_document_types_are_refused(tmp_path, head):
    text = SCENE.replace("<VXA", head + "<VXA", 1).replace("hard", "&e11;" if "e11" in head else "hard")
    with pytest.raises(FileFormatError, match=r"scene\.vxa: the file defines XML document types or entities"):
        read(tmp_path, text)


def test_deep_and_many_tags_are_refused(tmp_path, monkeypatch):
    for depth in (100, 100_000):
        deep = "<a>" * depth + "</a>" * depth
        with pytest.raises(FileFormatError, match="the tags are nested too deeply"):
            read(tmp_path, SCENE.replace("</VXA>", deep + "</VXA>"))
    monkeypatch.setattr(voxcad_xml, "MAX_TAGS", 200)
    with pytest.raises(FileFormatError, match="the file has too many tags"):
        read(tmp_path, SCENE.replace("</VXA>", "<a/>" * 200 + "</VXA>"))
    monkeypatch.setattr(voxcad_xml, "MAX_BYTES", 100)
    with pytest.raises(FileFormatError, match="the file is too large"):
        read(tmp_path, SCENE)


def peak_of(folder: Path, text: str) -> int:
    """Bytes allocated while a file is refused."""
    path = put(folder, text)
    tracemalloc.start()
    try:
        with pytest.raises(FileFormatError):
            load_voxcad(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_nothing_is_allocated_from_a_claim(tmp_path):
    read(tmp_path, SCENE)  # whatever is imported late
    few = 2**20
    for x, y, z in ((10**9, 10**9, 2), (4000, 4000, 1), (2**23, 1, 2), (1, 1, 2**24)):
        text = SCENE.replace("<X_Voxels>3", f"<X_Voxels>{x}").replace("<Y_Voxels>2", f"<Y_Voxels>{y}")
        assert peak_of(tmp_path, text.replace("<Z_Voxels>2", f"<Z_Voxels>{z}")) < few
    large = base64.b64encode(zlib.compress(bytes(2**26), 9)).decode()
    text = SCENE.replace("ASCII_READABLE", "ZLIB").replace("112001", large)
    assert peak_of(tmp_path, text) < few + 4 * len(large)


def test_compressed_layers_must_end(tmp_path):
    cut = base64.b64encode(zlib.compress(bytes([1] * 6))[:-4]).decode()
    with pytest.raises(FileFormatError, match="the compressed layer is cut short"):
        read(tmp_path, SCENE.replace("ASCII_READABLE", "ZLIB").replace("112001", cut))
