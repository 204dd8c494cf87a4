"""For all tests: those of random inputs are not judged by the clock, which runs on while other work has the machine."""

from hypothesis import HealthCheck, settings

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
