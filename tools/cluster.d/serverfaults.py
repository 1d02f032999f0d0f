"""What happens to three servers under clients that each wait, and to their PostgreSQL."""
import base64
import concurrent.futures
import itertools
import json
import os
import signal
import time

from harness.report import Fault

CLIENTS = 4
# Beyond it a call that is not acknowledged is a fault of its own.
PATIENCE = 90
# Seconds that the lease of a machine stands which nobody renews.
LEASE = 5
# Seconds after which a snapshot is old, where nothing else is configured.
SNAPSHOT_SECONDS = 2_592_000


def wait(condition, what, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Fault("waited %d s for %s" % (seconds, what))
        time.sleep(0.05)


def count(clients):
    return sum(len(client.acknowledged) for client in clients)


def ended(cluster, clients, times, end):
    """The leader ends again and again; how long at most nothing was acknowledged behind it each time, in seconds."""
    pauses = []
    for _ in range(times):
        before = count(clients)
        wait(lambda before=before: count(clients) >= before + 4, "acknowledgements")
        leader = cluster.leader()
        began = time.monotonic()
        end(leader)
        at = count(clients)
        wait(lambda at=at: count(clients) >= at + CLIENTS + 1, "writes behind an end")
        moments = sorted(
            moment for client in clients for _, _, moment in list(client.acknowledged) if moment > began)
        pauses.append(max(later - sooner for sooner, later in itertools.pairwise([began] + moments)))
        leader.start()
    return pauses


def stopped(cluster, clients):
    """The leader stands still past its lease, another one leads, then it goes on."""
    leader = cluster.leader()
    leader.signal(signal.SIGSTOP)
    wait(lambda: cluster.leader(but=leader.name) is not None, "another leader")
    before = count(clients)
    wait(lambda: count(clients) >= before + CLIENTS + 1, "writes by the other leader")
    leader.signal(signal.SIGCONT)
    wait(lambda: count(clients) >= before + 4 * CLIENTS, "writes behind the first one's return")


def away(cluster, clients, pair):
    """No database for a while: questions are answered, nothing is acknowledged; nobody is started anew."""
    for name in ("a", "b"):
        pair.signal(name, signal.SIGSTOP)
    try:
        # What PostgreSQL had committed before may be told yet: a machine that passed a call on waits five seconds
        # for its own copy first.
        before = None
        while before != (before := count(clients)):
            time.sleep(7.0)
        for machine in cluster.machines.values():
            says_its_age(cluster, machine)
        status, _, problem = cluster.machines["a"].ask(
            "POST", "/v1/customers/p/grants", cluster.key, {"grantId": "away", "tier": "pro"},
            {"Idempotency-Key": "away"}, timeout=60)
        if status < 500 or not problem.get("retryable"):
            raise Fault("without a database a change is answered with %d: %s" % (status, problem))
        if count(clients) != before:
            raise Fault("something was acknowledged without a database")
    finally:
        for name in ("a", "b"):
            pair.signal(name, signal.SIGCONT)
    wait(lambda: count(clients) >= before + 4 * CLIENTS, "writes with the database back")
    for machine in cluster.machines.values():
        wait(lambda machine=machine: "Age" not in asked(cluster, machine, "/v1/events?limit=1")[0], "answers without an age")


def asked(cluster, machine, path):
    """Headers and body of a question's answer."""
    status, headers, body = machine.ask("GET", path, cluster.key)
    if status != 200:
        raise Fault("server %s answers a question with %d" % (machine.name, status))
    return headers, body


def says_its_age(cluster, machine):
    """What a machine answers that hears of nobody is marked as old, and what it signs is old sooner (row Z17)."""
    headers, _ = asked(cluster, machine, "/v1/events?limit=1")
    if int(headers.get("Age", 0)) < LEASE:
        raise Fault("without a database server %s says an age of %s" % (machine.name, headers.get("Age")))
    _, snapshot = asked(cluster, machine, "/v1/customers/p/snapshot")
    payload = snapshot.split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    if claims["exp"] - claims["iat"] > SNAPSHOT_SECONDS - LEASE:
        raise Fault("without a database server %s signs for %d seconds" % (machine.name, claims["exp"] - claims["iat"]))


def refilled(cluster, chance):
    """A follower's directory loses what it has in three ways; each time it is filled again."""
    leader = cluster.leader()
    machine = next(one for one in cluster.machines.values() if one is not leader)
    for way in ("deleted", "truncated", "changed"):
        machine.kill()
        place = os.path.join(machine.ledger, "log", "data.mdb")
        if way == "deleted":
            os.remove(place)
        elif way == "truncated":
            os.truncate(place, os.path.getsize(place) // 2)
        else:
            with open(place, "r+b") as file:
                file.seek(chance.randrange(4096 * 3, os.path.getsize(place)))
                byte = file.read(1)
                file.seek(-1, os.SEEK_CUR)
                file.write(bytes([byte[0] ^ 0x55]))
        machine.start()


def keys_changed(cluster):
    """Keys that are made at two machines at once are everybody's; one that is revoked at a third is nobody's.

    Returns what is wrong."""
    machines = list(cluster.machines.values())

    def made(machine):
        return cluster.tool.ask_json(machine.ledger, "keys", "create", "--scope", "read")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        keys = list(pool.map(made, machines * 3))

    def taken(machine, key):
        return machine.ask("GET", "/v1/events?limit=1", key["key"])[0] == 200
    try:
        wait(lambda: all(taken(machine, key) for machine in machines for key in keys), "each key everywhere", 20)
        for machine, key in zip(machines, keys):
            cluster.tool.ask(machine.ledger, "keys", "revoke", key["id"])
        gone, kept = keys[:len(machines)], keys[len(machines):]
        wait(lambda: not any(taken(machine, key) for machine in machines for key in gone), "revoked keys", 20)
        if not all(taken(machine, key) for machine in machines for key in kept):
            return ["a key that nobody revoked counts no more"]
    except Fault as fault:
        return ["keys of several machines: %s" % fault]
    return []


def left(cluster, root, sql):
    """The cluster ends: one directory goes on alone, while the machines that run only read.

    `root`: of all that was recorded. `sql`: runs a statement at the primary. Returns what is wrong."""
    first, gone, last = cluster.machines.values()
    first.start()
    cluster.tool.ask(last.ledger, "cluster", "leave", "--end-cluster")
    found = []

    def grant():
        return first.ask("POST", "/v1/customers/p/grants", cluster.key, {"grantId": "late", "tier": "pro"},
                         {"Idempotency-Key": "late"})
    try:
        wait(lambda: grant()[2].get("code") == "read_only", "a machine that knows of the end", 20)
    except Fault as fault:
        found.append("%s: %s" % (fault, grant()))
    wait(lambda: "Age" in asked(cluster, first, "/v1/events?limit=1")[0], "an age where the ledger goes on elsewhere", 20)
    if first.ask("GET", "/v1/cluster", cluster.key)[2].get("fault") != "ended":
        found.append("a machine does not say that its cluster has ended")
    if first.ask("GET", "/v1/events?limit=1", cluster.key)[0] != 200:
        found.append("a machine of a cluster that ended answers no questions")
    status = cluster.status()
    if status["endedBy"] != last.name or status["leader"] is not None:
        found.append("the cluster says of its end: %s" % status)
    if cluster.tool.ask_json(last.ledger, "audit")["rootHash"] != root:
        found.append("what stands alone is not what the cluster had")
    cluster.tool.ask(last.ledger, "grant", "p", "--tier", "pro", "--reason", "alone")
    if cluster.tool.run(first.ledger, "cluster", "leave", "--end-cluster").returncode == 0:
        found.append("a second directory goes on")
    found += forgotten(cluster, sql, runs=first.name, gone=gone.name)
    first.stop()
    return found


def forgotten(cluster, sql, runs, gone):
    """A machine that was taken out is forgotten, one that runs is not, nor, unasked, one that has what the database
    lacks. Returns what is wrong."""
    def forget(name, *words):
        return cluster.tool.run_plain("cluster", "forget", name, "--postgres", cluster.postgres, *words).returncode
    found = []
    wait(lambda: forget(gone) == 0, "a machine to be forgotten", 60)
    if forget(runs) != 75:
        found.append("a machine that runs is forgotten")
    if forget(gone) != 64:
        found.append("a machine that is not there is forgotten")
    sql("INSERT INTO entitlement_ledger.node VALUES ('most', '', 1000000000, 0, now() - interval '1 hour')")
    if (forget("most"), forget("most", "--lose-what-it-has")) != (4, 0):
        found.append("a machine with what the database lost is forgotten unasked, or never")
    names = [node["node"] for node in cluster.status()["nodes"]]
    if gone in names or runs not in names:
        found.append("of the machines there are left: %s" % names)
    return found


def led_to_itself(cluster, pair, primary):
    """Who leads says an address that leads to another machine: what that one passes on comes back to it, and ends.

    Returns what is wrong."""
    leader = cluster.leader()
    machine = next(one for one in cluster.machines.values() if one is not leader)

    def point_to(address):
        # Whoever took the lease meanwhile says its own.
        pair.sql(primary, "UPDATE entitlement_ledger.ledger SET address = '%s' WHERE node = '%s'" % (address, leader.name))

    def grant():
        return machine.ask("POST", "/v1/customers/p/grants", cluster.key, {"grantId": "itself", "tier": "pro"},
                           {"Idempotency-Key": "itself"})
    found = []
    point_to(machine.address)
    try:
        wait(lambda: grant()[2].get("code") == "no_leader", "an end to what is passed on", 20)
        if grant()[0] != 503:
            found.append("what comes back to a machine is answered with %s" % (grant(),))
    except (Fault, OSError) as fault:
        found.append("what is led to itself: %s" % fault)
    finally:
        point_to(leader.address)
    try:
        # The control: with the right address it is recorded.
        wait(lambda: grant()[0] == 200, "a grant that is passed on", 20)
    except (Fault, OSError) as fault:
        found.append("what is led elsewhere again: %s" % fault)
    return found


def known(cluster):
    """Each machine knows of the others, and shows them to people. Returns what is wrong."""
    found = []
    for machine in cluster.machines.values():
        told = machine.ask("GET", "/v1/cluster", cluster.key)[2]
        shown = machine.ask("GET", "/console/nodes.json", cluster.key)[2]["cluster"]
        for one in (told, shown):
            if [node["node"] for node in one["nodes"]] != list(cluster.machines):
                found.append("server %s does not know of the others: %s" % (machine.name, one))
        if 'href="/console/nodes' not in machine.ask("GET", "/console/health", cluster.key)[2]:
            found.append("server %s: its page of health leads to no page of machines" % machine.name)
    return found
