"""Searches: methods that are asked for designs and told their results, and the driver that evaluates between."""

from supple.design.search.age_fitness import AgeFitness
from supple.design.search.cma_es import CmaEs
from supple.design.search.cma_me import CmaMe
from supple.design.search.driver import Search
from supple.design.search.elites import Descriptor
from supple.design.search.history import Found, Generation
from supple.design.search.map_elites import MapElites
from supple.design.search.method_protocol import Candidate, Method
from supple.design.search.nsga2 import Nsga2
from supple.design.search.random_search import RandomSearch

__all__ = [
    "AgeFitness",
    "Candidate",
    "CmaEs",
    "CmaMe",
    "Descriptor",
    "Found",
    "Generation",
    "MapElites",
    "Method",
    "Nsga2",
    "RandomSearch",
    "Search",
]
