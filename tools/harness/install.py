"""What is missing, installed; C files, compiled."""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile

from harness.report import Fault, Missing, say


def install(command, *packages):
    """Installs what is missing where apt is there and may be used; whether it is there then."""
    if shutil.which(command):
        return True
    if not shutil.which("apt-get") or os.geteuid() != 0:
        return False
    say("installing %s" % " ".join(packages))
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    # Checks run beside one another; apt takes one at a time.
    with open(os.path.join(tempfile.gettempdir(), "entitle-apt.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for words in (
                ["update", "-q"], ["install", "-q", "-y", "--no-install-recommends", *packages]):
            subprocess.run(["apt-get", *words], env=environment, stdout=sys.stderr, check=False)
    return shutil.which(command) is not None


def compiled(source, folder, *words):
    """Compiles a C file into a folder; the path of what it became."""
    compiler = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)
    if not compiler:
        if not install("gcc", "gcc", "libc6-dev"):
            raise Missing("there is no C compiler")
        compiler = "gcc"
    name = os.path.basename(source)
    target = os.path.join(folder, name + ".out")
    done = subprocess.run(
        [compiler, "-O2", source, "-o", target, *words], capture_output=True, text=True,
        check=False)
    if done.returncode:
        raise Fault("%s does not compile: %s" % (name, done.stderr[-300:]))
    return target
