"""How a tool begins: where its parts stand, and the Python environment that has its packages."""

import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ENVIRONMENT = os.path.join(ROOT, ".venv")


def start(tool, packages=False):
    """Lets a tool import the modules of its folder, `TOOL.d`; with packages, as of
    `enter_environment`."""
    sys.path.insert(0, os.path.abspath(tool) + ".d")
    if packages:
        enter_environment(tool)


def enter_environment(tool):
    """Goes on in the Python environment of the tools' packages, which is made if it is missing."""
    if os.path.realpath(sys.prefix) == os.path.realpath(ENVIRONMENT):
        return
    python = os.path.join(ENVIRONMENT, "bin", "python")
    if not os.path.exists(python):
        subprocess.run(
            [os.path.join(ROOT, "tools", "setup"), "--tests"], stdout=sys.stderr, check=True)
    os.execv(python, [python, "-B", os.path.abspath(tool), *sys.argv[1:]])
