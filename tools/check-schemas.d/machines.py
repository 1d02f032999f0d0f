"""What the command says of a cluster, where there is a PostgreSQL."""

import os
import subprocess
import sys

from harness.start import ROOT


def clustered(schemas, entitle):
    """A cluster before anybody led in it, and behind its end, which its one machine saw."""
    folder = "/tmp/elcs-%d" % os.getpid()
    pair = [sys.executable, "-B", os.path.join(ROOT, "tools", "cluster.d", "pair.py"), folder]
    if subprocess.run([*pair, "start", "--while", str(os.getpid())], check=False).returncode == 69:
        print("cluster status: there is no PostgreSQL")
        schemas.used.add("cluster-status")
        return
    try:
        postgres = "host=%s,%s port=5432,5433 user=postgres dbname=postgres target_session_attrs=read-write" % (
            folder, folder)
        ledger = entitle.tool.make("machine")
        entitle.tool.ask(ledger, "cluster", "init", "--postgres", postgres, "--node", "a",
                         "--address", "http://127.0.0.1:1")
        asked = ("cluster", "status", "--postgres", postgres, "--json")
        before = entitle.plain(*asked)
        entitle.tool.ask(ledger, "cluster", "leave", "--end-cluster")
        schemas.check("cluster-status", before + entitle.plain(*asked), "cluster status --json")
    finally:
        subprocess.run([*pair, "remove"], check=False)
