"""The database of a cluster comes back as it was earlier: nobody leads, and the machine that has most goes on."""
import json
import time

from harness.report import Fault
from serverfaults import wait

NAME = "entitlement_ledger"
KEEP = """
DO $$ DECLARE t text; BEGIN
  CREATE SCHEMA kept;
  FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = '%s' LOOP
    EXECUTE format('CREATE TABLE kept.%%I AS TABLE %s.%%I', t, t);
  END LOOP;
END $$""" % (NAME, NAME)
RESTORE = """
DO $$ DECLARE t text; BEGIN
  FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'kept' ORDER BY 1 LOOP
    EXECUTE format('LOCK TABLE %s.%%I', t);
  END LOOP;
  FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'kept' LOOP
    EXECUTE format('DELETE FROM %s.%%I', t);
    EXECUTE format('INSERT INTO %s.%%I TABLE kept.%%I', t, t);
  END LOOP;
  DROP SCHEMA kept CASCADE;
END $$""" % (NAME, NAME, NAME)


def restored(cluster, pair, primary):
    """Returns what is wrong."""
    pair.sql(primary, KEEP)
    granted = ["behind-%d" % number for number in range(20)]
    for name in granted:
        granting(cluster, name)
    key = cluster.tool.ask_json(cluster.machines["b"].ledger, "keys", "create", "--scope", "read")["key"]
    wait(lambda: is_level(cluster), "all to be equally far")
    size = cluster.status()["sequence"]
    pair.sql(primary, RESTORE)
    found, term = [], cluster.status()["term"]
    for machine in cluster.machines.values():
        wait(lambda machine=machine: standing(machine, cluster.key) == ("other_history", False, size),
             "server %s to say that the database lost something" % machine.name, 30)
        if not knows(machine, cluster.key, granted[-1]):
            found.append("server %s does not answer from what it has" % machine.name)
    # Longer than a lease: nobody takes it.
    time.sleep(6)
    leading = [standing(machine, cluster.key)[1] for machine in cluster.machines.values()]
    if any(leading) or cluster.status()["term"] != term:
        found.append("somebody leads a database that lost something")
    for machine in cluster.machines.values():
        machine.stop()
    check = cluster.tool.run_plain("cluster", "check", "--postgres", cluster.postgres, "--json")
    codes = [finding["code"] for finding in json.loads(check.stdout)["findings"]]
    if check.returncode != 1 or codes != ["restored"]:
        found.append("the check of a database that lost something: %d, %s" % (check.returncode, codes))
    most = cluster.machines["b"]
    words = ("cluster", "init", "--postgres", cluster.postgres, "--node", "b", "--address", most.address)
    cluster.tool.ask(most.ledger, *words, "--from", "b")
    if cluster.tool.run(most.ledger, *words, "--from", "b").returncode == 0:
        found.append("a database that lost nothing is replaced")
    for machine in cluster.machines.values():
        machine.start()
    granting(cluster, "at-last")
    wait(lambda: is_level(cluster), "all to be equally far")
    for machine in cluster.machines.values():
        if not all(knows(machine, cluster.key, name) for name in [*granted, "at-last"]):
            found.append("server %s lost what was acknowledged before the database did" % machine.name)
        if machine.ask("GET", "/v1/events?limit=1", key)[0] != 200:
            found.append("a key that was made before counts no more at server %s" % machine.name)
    return found


def granting(cluster, name):
    def done():
        status, _, _ = cluster.machines["c"].ask(
            "POST", "/v1/customers/%s/grants" % name, cluster.key, {"grantId": name, "tier": "pro"},
            {"Idempotency-Key": name})
        return status in (200, 201)
    wait(done, "a grant", 30)


def knows(machine, key, name):
    status, _, answer = machine.ask("GET", "/v1/customers/%s" % name, key)
    return status == 200 and answer.get("tier") == "pro"


def is_level(cluster):
    """Whether every machine has all that the cluster has."""
    status = cluster.status()
    return all(node["sequence"] == status["sequence"] for node in status["nodes"])


def standing(machine, key):
    status, _, answer = machine.ask("GET", "/v1/cluster", key)
    if status != 200:
        raise Fault("server %s does not say how it stands: %d" % (machine.name, status))
    return answer.get("fault"), answer["leading"], answer["sequence"]
