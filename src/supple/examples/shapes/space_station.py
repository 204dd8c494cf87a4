"""space_station: modules, trusses and solar panels of voxels, 48 domains, flying freely [BZ11, figure 6].

The hub is the root; modules are docked along z, trusses grow along x, panels along y. All panels are copies of
one kind, and so are radiators, ships, their panels, and dishes; the trusses of both sides are copies of each other.
"""

from __future__ import annotations

from dataclasses import replace

from supple.bodies.tree.domains.domain_tree import Domain, DomainTemplate, DomainTree
from supple.examples.shapes.station_parts import Dock, capsule, dish, module, panel, parts_kind, radiator, truss
from supple.material import Material

HULL = Material(young=2e9, poisson=0.3, density=300, stiffness_damping=0.001, name="hull", colour="#cfd5dc")
FRAME = Material(young=1e9, poisson=0.3, density=200, stiffness_damping=0.001, name="truss", colour="#9aa3ad")
CELLS = Material(young=1e9, poisson=0.3, density=60, stiffness_damping=0.001, name="panel", colour="#3a66b0")

BAY = 14  # [voxels], and the other numbers here too
INNER, OUTER = 5 * BAY, 8 * BAY
HUB_RADIUS, HUB_LENGTH = 10, 42
LAB = (9, 62)
PANEL = (80, 11)


def space_station() -> DomainTree:
    """The station.

    >>> station = space_station()
    >>> len(station.domains), station.coordinate_count
    (48, 921)
    """
    kinds = {kind.name: kind for kind in (*_modules(), *_trusses(), *_appendages())}
    domains = [Domain("hub", name="hub")]

    def hang(kind: str, parent: int, interface: str, name: str) -> int:
        domains.append(Domain(kind, parent, interface, name=name))
        return len(domains) - 1

    lab, habitat = hang("laboratory", 0, "fore", "laboratory"), hang("habitat", 0, "aft", "habitat")
    hang("airlock", 0, "top", "airlock")
    hang("store", 0, "bottom", "store")
    hang("service", habitat, "aft", "service")
    for parent, interface in ((lab, "fore"), (habitat, "top")):
        ship = hang("ship", parent, interface, f"ship {interface}")
        for side in ("left", "right"):
            hang("small panel", ship, side, f"small panel {interface} {side}")
    for side in ("left", "right"):
        inner = hang("inner truss", 0, side, f"inner truss {side}")
        outer = hang("outer truss", inner, "end", f"outer truss {side}")
        for parent, where in ((inner, "inner"), (outer, "outer")):
            for interface in kinds[domains[parent].kind].interfaces:
                for word, kind in (("panel", "panel"), ("radiator", "radiator"), ("dish", "dish")):
                    if interface.startswith(word):
                        hang(kind, parent, interface, f"{where} {interface} {side}")
    return DomainTree(kinds, domains)


def _modules() -> list[DomainTemplate]:
    middle = HUB_LENGTH / 2 + 3
    stubs = {
        "left": Dock("+x", (0, 0, middle), 6, "+y"),
        "right": Dock("-x", (0, 0, middle), 6, "-y"),
        "top": Dock("+y", (0, 0, middle), 4, "+x"),
        "bottom": Dock("-y", (0, 0, middle), 4, "+x"),
    }
    ends = {
        "fore": Dock("+z", (0, 0, 0), 4, "+x"),
        "aft": Dock("-z", (0, 0, 0), 4, "+x"),
    }
    end = {"fore": ends["fore"], "aft": ends["fore"]}
    ship = {"top": Dock("+y", (0, 0, LAB[1] / 2 + 3), 4, "+x")}
    hub = parts_kind("hub", module(HUB_RADIUS, HUB_LENGTH, stubs=stubs), HULL, 20, stubs | ends)
    return [
        replace(hub, held=hub.held[:0]),
        parts_kind("laboratory", module(*LAB), HULL, 20, end),
        parts_kind("habitat", module(*LAB, stubs=ship), HULL, 20, end | ship),
        parts_kind("service", module(8, 60), HULL, 20, {}),
        parts_kind("airlock", module(6, 26), HULL, 18, {}),
        parts_kind("store", module(8, 34), HULL, 19, {}),
        parts_kind(
            "ship",
            capsule(7, 26),
            HULL,
            12,
            {"left": Dock("+x", (0, 0, 13), 2, "+z"), "right": Dock("-x", (0, 0, 13), 2, "+z")},
        ),
    ]


def _trusses() -> list[DomainTemplate]:
    end = {"end": Dock("+z", (0, 0, INNER), 6, "+x")}
    found = []
    for name, length, stations, docks in (
        ("inner truss", INNER, (2, 4), end),
        ("outer truss", OUTER, (1, 3, 5, 7), {}),
    ):
        for k in stations:
            for side, label in (("+x", "up"), ("-x", "down")):
                docks = docks | {f"panel {k} {label}": Dock(side, (0, 0, k * BAY), 2, "+z")}
        if name == "inner truss":
            for k in (2, 3, 4):
                docks = docks | {f"radiator {k}": Dock("+y", (0, 0, k * BAY), 2, "+z")}
            docks = docks | {"dish": Dock("-y", (0, 0, 3 * BAY), 2, "+z")}
        found.append(parts_kind(name, truss(length, BAY), FRAME, 28, docks))
    return found


def _appendages() -> list[DomainTemplate]:
    return [
        parts_kind("panel", panel(*PANEL), CELLS, 20, {}),
        parts_kind("small panel", panel(36, 6, root=4), CELLS, 16, {}),
        parts_kind("radiator", radiator(40, 12), CELLS, 16, {}),
        parts_kind("dish", dish(9, 12), CELLS, 14, {}),
    ]
