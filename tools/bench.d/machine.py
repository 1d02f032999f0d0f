"""What figures were measured on."""

import os
import platform
import re
import subprocess


def output(*words, folder=None):
    """The first line that a command prints; None where it does not work."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, cwd=folder, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return (done.stdout.strip() or done.stderr.strip()).split("\n")[0] or None


def file_system(folder):
    """The kind of file system that a folder stands on (proc_pid_mounts(5))."""
    best = ("", "unknown")
    with open("/proc/self/mounts", encoding="utf-8") as file:
        for line in file:
            _, point, kind = line.split()[:3]
            inside = os.path.realpath(folder).startswith(point.rstrip("/") + "/")
            if inside and len(point) >= len(best[0]):
                best = (point, kind)
    return best[1]


def load():
    return round(os.getloadavg()[0], 2)


def description(root, scratch):
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = re.findall(r"model name\s*: (.*)", file.read())
    commit = output("git", "rev-parse", "HEAD", folder=root)
    if commit and output("git", "status", "--porcelain", "--untracked-files=no", folder=root):
        commit += " and changes"
    return {
        "processor": names[0] if names else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memoryBytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "kernel": platform.release(), "fileSystem": file_system(scratch),
        "loadBefore": load(), "commit": commit,
        "versions": {"Swift": output("swift", "--version"),
                     "OpenSSL": output("openssl", "version")}}


def is_busy(machine):
    """Whether others kept the cores from what was measured, before it began."""
    return machine["loadBefore"] > machine["cores"] / 2


def text_of(machine):
    versions = [version for version in machine["versions"].values() if version]
    return "%s, %d cores, %d GiB, Linux %s, %s, load %s before, %s after\n%s\ncommit %s" % (
        machine["processor"], machine["cores"], machine["memoryBytes"] >> 30, machine["kernel"],
        machine["fileSystem"], machine["loadBefore"], machine["loadAfter"], "; ".join(versions),
        machine["commit"] or "unknown")
