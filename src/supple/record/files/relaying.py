"""A record whose bodies break in two, or are whole again where a run goes back: its surfaces are shared out anew.

A part of a body has its share of the points of the whole in all frames, those before the break too: it is seen as the
part it was. So every block has all frames, and a record that is cut back before a break can be put together again.

/supple/shares/<block>    numbers (n,) of the block's points among those of the body at the start (attribute `body`)
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np

from supple.record.files import vtkhdf
from supple.record.files.carried import drop_carried, is_thin, read_carried_points, read_carriers
from supple.record.files.layout import RecordedBody
from supple.record.files.rows import GrowingGroup
from supple.record.files.trust import Group, check_dataset, check_group, read_all
from supple.record.files.volumes import drop_volume
from supple.record.surfaces import Surface
from supple.scene.changing.whole import Share
from supple.scene.system import System

Array = np.ndarray
SHARES = "shares"


class Shared(NamedTuple):
    """A block of a record with its share of a body. is_carried: it shows some of the share's points only."""

    block: Any
    share: Share
    is_carried: bool = False


def share_of(system: System, surface: Surface) -> Share:
    """Which body of the start a surface is a part of."""
    known = {} if system.whole is None else system.whole.shares
    return known.get(surface.name, Share(surface.name, np.arange(surface.whole_count)))


def read_shares(own: Group, bodies: list[RecordedBody], blocks: list[Group]) -> list[Shared]:
    """The blocks of a record with their shares."""
    kept = check_group(own, SHARES) if SHARES in own else {}
    out = []
    for body, block in zip(bodies, blocks):
        if is_thin(own, body.block):
            whole = read_carriers(own, body.block).count
            out.append(Shared(block, Share(body.name, np.arange(whole)), is_carried=True))
            continue
        count = vtkhdf.point_count(block)
        if body.block not in kept:
            out.append(Shared(block, Share(body.name, np.arange(count))))
            continue
        numbers = check_dataset(kept, body.block, "i8", ())
        name, values = numbers.attrs.get("body"), read_all(numbers)
        if not isinstance(name, str) or values.shape != (count,) or values.min(initial=0) < 0:
            raise ValueError("the share of a body in another is not understood")
        out.append(Shared(block, Share(name, values)))
    return out


def fits(kept: list[Shared], surfaces: list[Surface], system: System) -> bool:
    """Whether the blocks of a record hold the same bodies, however they are broken."""
    now = [share_of(system, surface) for surface in surfaces]
    return _sizes([shared.share for shared in kept]) == _sizes(now)


def is_same(kept: list[Shared], surfaces: list[Surface], system: System) -> bool:
    """Whether they are broken alike."""
    return len(surfaces) == len(kept) and all(
        _shows(one, two, share_of(system, two)) for one, two in zip(kept, surfaces)
    )


def _sizes(shares: list[Share]) -> dict[str, int]:
    out: dict[str, int] = {}
    for share in shares:
        out[share.body] = out.get(share.body, 0) + len(share.shown)
    return out


def relay(file: Group, kept: list[Shared], surfaces: list[Surface], system: System, frames: int) -> list[Group]:
    """Give the bodies of a record the surfaces they have now, in all frames; returns their blocks."""
    root, own, blocks = file["VTKHDF"], file["supple"], []
    shares = own.require_group(SHARES)
    for surface in surfaces:
        share = share_of(system, surface)
        old = next((s.block for s in kept if _shows(s, surface, share)), None)
        block = old if old is not None else _new_block(file, surface, share, kept, frames)
        name = block.name.rsplit("/", 1)[-1]
        if surface.name in ({} if system.whole is None else system.whole.shares) and name not in shares:
            shares.create_dataset(name, data=share.shown.astype(np.int64)).attrs["body"] = share.body
        blocks.append(block)
    names = [block.name.rsplit("/", 1)[-1] for block in blocks]
    bodies = [RecordedBody(s.name, s.kind, name)._asdict() for s, name in zip(surfaces, names)]
    file.flush()
    own.attrs["bodies"] = json.dumps(bodies)
    _order(root, names)
    for name in [s.block.name.rsplit("/", 1)[-1] for s in kept]:
        if name not in names:
            del root[name]
            if name in shares:
                del shares[name]
            drop_carried(own, name)
            drop_volume(own, name)
    file.flush()
    return blocks


def _shows(kept: Shared, surface: Surface, share: Share) -> bool:
    one, is_carried = kept.share, surface.whole is not None
    return kept.is_carried == is_carried and one.body == share.body and np.array_equal(one.shown, share.shown)


def _new_block(file: Group, surface: Surface, share: Share, kept: list[Shared], frames: int) -> Group:
    """A block of a surface, with its points in all frames taken from those blocks that had them."""
    sources, own = [s for s in kept if s.share.body == share.body], file["supple"]
    block = vtkhdf.add_block(file["VTKHDF"], surface)
    growing, size = GrowingGroup(block), 1 + max(int(s.share.shown.max()) for s in sources)
    for frame in range(frames):
        whole = np.zeros((size, 3), dtype=np.float32)
        for source in sources:
            name = source.block.name.rsplit("/", 1)[-1]
            whole[source.share.shown] = (
                read_carried_points(own, name, frame) if source.is_carried else vtkhdf.read_points(source.block, frame)
            )
        time = sources[0].block["Steps/Values"][frame : frame + 1]
        vtkhdf.append_points(growing, frame, whole[share.shown][None])
        vtkhdf.append_steps([growing], [len(share.shown)], frame, time)
    return block


def _order(root: Group, names: list[str]) -> None:
    """Blocks in the order of the bodies, and the tree that ParaView shows."""
    import h5py

    for index, name in enumerate(names):
        root[name].attrs["Index"] = np.int64(index)
    del root["Assembly"]
    assembly = root.create_group("Assembly", track_order=True)
    for name in names:
        assembly[name] = h5py.SoftLink(f"/VTKHDF/{name}")
