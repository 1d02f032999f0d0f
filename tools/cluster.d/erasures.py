"""Erasures of a cluster, while whoever makes them is killed, stands still, or is away.

Some customers are granted something each, and then erased one after the other; each erasure is asked for under one
id until it is answered. In the end no machine may know one of them, whoever led meanwhile, and every machine's
directory must pass its audit (servers.py).
"""
import http.client
import signal
import threading
import time

from harness.report import Fault

# Customers whom nobody erases: the judge must see them.
KEPT = "kept"
# The first of the erasures of a run, by what happens meanwhile.
STEPS = ("stopped", "offline")


class Erasures:
    """Who is to go, and what was said of each."""

    def __init__(self, cluster, wait, kills):
        self.cluster, self.wait = cluster, wait
        self.under_kill = ["killed-%d" % number for number in range(kills)]
        self.customers = self.under_kill + list(STEPS)
        self.generations = []
        self.offline_named = None

    def begin(self):
        """Grants something to each, so that there is something to erase."""
        for customer in self.customers + [KEPT]:
            self.until_answered("POST", "/v1/customers/%s/grants" % customer,
                                {"grantId": customer, "tier": "pro"}, "grant-" + customer)

    def until_answered(self, method, path, body, key):
        """Asks the machines in turn, again under the same id, until one answers."""
        end, said = time.monotonic() + 90, None
        while time.monotonic() < end:
            for machine in self.cluster.machines.values():
                try:
                    said = machine.ask(method, path, self.cluster.key, body, {"Idempotency-Key": key})
                except (OSError, http.client.HTTPException, ValueError) as error:
                    said = error
                    continue
                if said[0] in (200, 201):
                    return said[2]
                if said[0] < 500:
                    raise Fault("%s %s: %s" % (method, path, said))
            time.sleep(0.05)
        raise Fault("%s %s is not answered: %s" % (method, path, said))

    def erase(self, customer):
        """Erases one; its receipt."""
        answer = self.until_answered("DELETE", "/v1/customers/" + customer, None, "erase-" + customer)
        if answer["outcome"] != "erased":
            raise Fault("the erasure of %s comes to %s" % (customer, answer["outcome"]))
        self.generations.append(answer["receipt"]["generation"])
        return answer["receipt"]

    def erase_while(self, customer, act):
        """Erases one while something is done."""
        faults = []

        def erase():
            try:
                self.erase(customer)
            except Fault as fault:
                faults.append(str(fault))
        thread = threading.Thread(target=erase, daemon=True)
        thread.start()
        act()
        thread.join(120)
        if thread.is_alive() or faults:
            raise Fault("the erasure of %s is not answered: %s" % (customer, faults))

    def kill_within(self, chance):
        """Kills who leads at some moment of each erasure."""
        for customer in self.under_kill:
            self.wait(lambda: self.cluster.leader() is not None, "a leader")
            leader = self.cluster.leader()

            def kill(leader=leader):
                time.sleep(chance.random() * 0.12)
                leader.kill()
            self.erase_while(customer, kill)
            leader.start()

    def stop_within(self, chance):
        """Who leads stands still inside an erasure until another one has finished it."""
        leader = self.cluster.leader()

        def stop():
            time.sleep(chance.random() * 0.06)
            leader.signal(signal.SIGSTOP)
            self.wait(lambda: self.cluster.leader(but=leader.name) is not None, "another leader")
            time.sleep(1.0)
            leader.signal(signal.SIGCONT)
        self.erase_while(STEPS[0], stop)

    def without_one(self):
        """A machine is off during an erasure, is named, and knows of it as soon as it answers."""
        leader = self.cluster.leader()
        machine = next(one for one in self.cluster.machines.values() if one is not leader)
        machine.kill()
        receipt = self.erase(STEPS[1])
        self.offline_named = machine.name in receipt["machines"]
        machine.start()
        if self.knows(machine, STEPS[1]):
            raise Fault("server %s was off during an erasure, and knows who was erased" % machine.name)

    def knows(self, machine, customer):
        """Whether a machine tells anything of a customer."""
        path = "/v1/customers/%s/events" % customer
        # The question leaves a trace, which is noted where somebody leads.
        end, status = time.monotonic() + 30, 503
        while status == 503 and time.monotonic() < end:
            status, _, answer = machine.ask("GET", path, self.cluster.key)
            time.sleep(0.02)
        if status not in (200, 404):
            raise Fault("server %s answers %s with %d: %s" % (machine.name, path, status, answer))
        return status == 200 and len(answer) > 0

    def judge(self):
        """What is wrong in the end; empty: nothing."""
        found = ["server %s knows %s, who was erased" % (machine.name, customer)
                 for machine in self.cluster.machines.values() for customer in self.customers
                 if self.knows(machine, customer)]
        if self.generations != sorted(set(self.generations)):
            found.append("two erasures had one generation of keys: %s" % self.generations)
        if not self.offline_named:
            found.append("a receipt does not name the machine that was off")
        return found

    def kept_is_seen(self):
        """The judge's control: somebody who was not erased is known everywhere."""
        return all(self.knows(machine, KEPT) for machine in self.cluster.machines.values())
