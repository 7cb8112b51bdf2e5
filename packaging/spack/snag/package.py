# A repository of its own: spack repo add packaging/spack; spack install snag
from spack.package import *


class Snag(CMakePackage):
    """Finds the executions of a parallel program's functions that do not belong in its trace, and says why."""

    # A checkout: spack dev-build snag@0.1.0, or spack develop --path CHECKOUT snag@0.1.0 in an environment.
    license("BSD-3-Clause")

    version("0.1.0")

    variant("mpi", default=True, description="the tracer of MPI programs, and snag analyze --together")
    variant("postgres", default=True, description="stores in PostgreSQL: its client, where snag runs")
    variant("adios2", default=False, description="read what TAU writes through ADIOS2")
    variant("page", default=False, description="the page of snag serve; npm needs its registry")

    generator("ninja")

    depends_on("c", type="build")
    depends_on("cmake@3.21:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("elfutils")
    depends_on("jansson")
    depends_on("libiberty +pic")
    depends_on("otf2")
    depends_on("sqlite")
    depends_on("xxhash")
    depends_on("yajl")
    depends_on("zlib-api")
    depends_on("zstd")
    # loaded when they are needed, and not to build
    depends_on("libzmq", type="run")
    depends_on("openblas", type="run")
    depends_on("postgresql", type="run", when="+postgres")
    depends_on("mpi", when="+mpi")
    depends_on("adios2 +sst", type="run", when="+adios2")
    depends_on("node-js@18:", type="build", when="+page")
    depends_on("npm", type="build", when="+page")

    def cmake_args(self):
        return [
            self.define("SNAG_TESTS", "OFF"),
            self.define("SNAG_WERROR", False),
            self.define_from_variant("SNAG_ENABLE_MPI", "mpi"),
            self.define("SNAG_PAGE", "ON" if "+page" in self.spec else "OFF"),
        ]

    def setup_run_environment(self, env):
        # what is looked for when it is needed
        optional = {"+postgres": "postgresql", "+adios2": "adios2"}
        for name in ["openblas", "libzmq"] + [optional[v] for v in optional if v in self.spec]:
            env.append_path("LD_LIBRARY_PATH", self.spec[name].prefix.lib)
