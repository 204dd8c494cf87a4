"""A VoxCAD scene and object that use every tag, and how tests write and read them."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from supple.files.voxcad.load import (
    VoxcadFile,
    load_voxcad,
    save_voxcad,
)

QUICK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


OBJECT = """
<VXC Version="0.94">
  <Lattice><Lattice_Dim>0.01</Lattice_Dim><X_Dim_Adj>1</X_Dim_Adj></Lattice>
  <Voxel><Vox_Name>BOX</Vox_Name></Voxel>
  <Palette>
    <Material ID="1">
      <MatType>0</MatType><Name>soft &amp; blue</Name>
      <Display><Red>0</Red><Green>0.5</Green><Blue>1</Blue><Alpha>0.75</Alpha></Display>
      <Mechanical>
        <MatModel>0</MatModel><Elastic_Mod>5e+006</Elastic_Mod><Density>1e+006</Density>
        <Poissons_Ratio>0.35</Poissons_Ratio><CTE>0.01</CTE><uStatic>1</uStatic><uDynamic>0.5</uDynamic>
      </Mechanical>
    </Material>
    <Material ID="2">
      <Name>hard</Name>
      <Mechanical>
        <MatModel>2</MatModel><Elastic_Mod>5e7</Elastic_Mod><Density>1000</Density>
        <MaterialTempPhase>3.141592653589793</MaterialTempPhase><CTE>-0.01</CTE><Yield_Stress>10</Yield_Stress>
      </Mechanical>
    </Material>
  </Palette>
  <Structure Compression="ASCII_READABLE">
    <X_Voxels>3</X_Voxels><Y_Voxels>2</Y_Voxels><Z_Voxels>2</Z_Voxels>
    <Data>
      <Layer><![CDATA[112001]]></Layer>
      <Layer><![CDATA[000120]]></Layer>
    </Data>
    <PhaseOffset>
      <Layer><![CDATA[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, ]]></Layer>
      <Layer><![CDATA[1.1,1.2,1.3,1.4,1.5,1.6]]></Layer>
    </PhaseOffset>
  </Structure>
</VXC>
"""


SCENE = f"""<?xml version="1.0" encoding="ISO-8859-1"?>
<VXA Version="1.0">
  <Simulator>
    <Integration><Integrator>0</Integrator><DtFrac>0.8</DtFrac></Integration>
    <Damping><BondDampingZ>0.9</BondDampingZ><ColDampingZ>0.7</ColDampingZ><SlowDampingZ>0.02</SlowDampingZ></Damping>
    <Collisions><SelfColEnabled>1</SelfColEnabled></Collisions>
    <StopCondition>
      <StopConditionType>3</StopConditionType><StopConditionValue>5</StopConditionValue><InitCmTime>0.2</InitCmTime>
    </StopCondition>
    <GA><!-- a comment --><FitnessFileName>a &lt; b.xml</FitnessFileName></GA>
  </Simulator>
  <Environment>
    <Fixed_Regions>
      <NumFixed>1</NumFixed>
      <FRegion>
        <PrimType>0</PrimType><X>0</X><Y>0</Y><Z>0</Z><dX>0.01</dX><dY>1</dY><dZ>1</dZ><Fixed>1</Fixed>
      </FRegion>
    </Fixed_Regions>
    <Forced_Regions>
      <NumForced>1</NumForced>
      <FRegion>
        <PrimType>0</PrimType><X>0.9</X><dX>0.1</dX><dY>1</dY><dZ>1</dZ><Fixed>0</Fixed><ForceZ>6</ForceZ>
        <TorqueX>3</TorqueX><Note>shared</Note>
      </FRegion>
    </Forced_Regions>
    <Gravity>
      <GravEnabled>1</GravEnabled><GravAcc>-3.7</GravAcc><FloorEnabled>1</FloorEnabled><FloorSlope>0</FloorSlope>
    </Gravity>
    <Thermal>
      <TempEnabled>1</TempEnabled><TempAmp>39</TempAmp><TempBase>25</TempBase>
      <VaryTempEnabled>1</VaryTempEnabled><TempPeriod>0.25</TempPeriod>
    </Thermal>
  </Environment>
  {OBJECT}
</VXA>
"""


def put(folder: Path, text: str | bytes, name: str = "scene.vxa") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode("latin-1"))
    return path


def read(folder: Path, text: str | bytes, name: str = "scene.vxa") -> VoxcadFile:
    return load_voxcad(put(folder, text, name))


def again(folder: Path, file: VoxcadFile, compression="ascii") -> VoxcadFile:
    save_voxcad(file, folder / "again.vxa", compression=compression)
    return load_voxcad(folder / "again.vxa")


finite = st.floats(allow_nan=False, allow_infinity=False)


names = st.text(min_size=1, max_size=20).map(lambda s: " ".join(s.split())).filter(bool)
