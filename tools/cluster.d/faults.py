"""What befalls a cluster whose nodes append: each fault leaves it whole, and notes what did not hold."""
import contextlib
import shutil
import signal
import threading
import time

from proxy import STEPS

# Whose commit waits for the standby; who is about to append.
WAITING = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
APPEND = " AND query LIKE '%.append($1%' AND pid <> pg_backend_pid()"
APPENDING = "FROM pg_stat_activity WHERE state = 'active'" + APPEND
# Who waits for the row that each append changes; who holds it.
HELD_UP = "FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
HOLDING = "FROM pg_stat_activity WHERE wait_event = 'PgSleep'"


class Stage:
    """Two servers, nodes over them, and who of the servers is what."""

    def __init__(self, pair, nodes):
        self.pair, self.nodes = pair, nodes
        self.primary, self.standby = "a", "b"
        self.found = []

    # What a fault is made of

    def number(self, statement, server=None):
        return int(self.pair.sql(server or self.primary, statement))

    def await_waiting(self):
        """A commit waits for the standby."""
        self.nodes.wait(lambda: self.number("SELECT count(*) " + WAITING) > 0, "a commit that waits")

    @contextlib.contextmanager
    def holding_row(self):
        """Nobody appends meanwhile, and what was appended before the standby has."""
        statement = "SELECT FROM %s.ledger FOR UPDATE; SELECT pg_sleep(60)" % self.nodes.schema
        holder = threading.Thread(target=self.pair.sql, args=(self.primary, statement, False))
        holder.start()
        self.nodes.wait(lambda: self.number("SELECT count(*) " + HOLDING) > 0, "the row")
        try:
            yield
        finally:
            self.number("SELECT count(pg_terminate_backend(pid)) " + HOLDING)
            holder.join()

    def append_behind_standby(self):
        """The standby is dead before an append begins to write, which then waits for it."""
        while True:
            with self.holding_row():
                self.nodes.wait(lambda: self.number("SELECT count(*) " + HELD_UP) > 0, "a call that waits for the row")
                # It may be a renewal.
                if self.number("SELECT count(*) " + HELD_UP + APPEND):
                    self.pair.kill(self.standby)
                    break
        self.await_waiting()

    def require_nothing_acknowledged(self, seconds, when, but=None):
        """Nobody is told yes meanwhile; what was said before is heard first."""
        time.sleep(0.5)
        before = self.nodes.acknowledged(but)
        time.sleep(seconds)
        if self.nodes.acknowledged(but) != before:
            self.found.append("something was acknowledged while " + when)

    def await_writes(self):
        """Behind what was acknowledged before and is not heard yet."""
        time.sleep(0.3)
        self.nodes.wait_for_acknowledgements(1)

    def size(self, server):
        return self.number("SELECT size FROM %s.ledger" % self.nodes.schema, server)

    def fail_over(self):
        """The standby leads, and the other one is made its standby; returns how long writes then stood still."""
        self.pair.promote(self.standby)
        self.primary, self.standby = self.standby, self.primary
        return self.make_standby()

    def make_standby(self):
        self.pair.copy(self.primary, self.standby)
        self.pair.start(self.standby)
        began = time.monotonic()
        self.pair.name_standby(self.primary, self.standby)
        self.nodes.wait_for_acknowledgements(1)
        return time.monotonic() - began

    # Faults

    def kills(self, times, chance):
        """The leader is killed; returns how long writes stood still, each time."""
        pauses = []
        for _ in range(times):
            self.nodes.wait_for_acknowledgements(3)
            time.sleep(chance.uniform(0, 0.05))
            began = time.monotonic()
            self.nodes.kill_leader()
            self.nodes.wait_for_acknowledgements(1)
            pauses.append(time.monotonic() - began)
        return pauses

    def stopped(self):
        """The leader is stopped past its lease; another leads; then it goes on and must give up."""
        nodes = self.nodes
        nodes.wait_for_acknowledgements(3)
        node = nodes.leader()
        node.signal(signal.SIGSTOP)
        nodes.wait(lambda: nodes.leader(but=node) is not None, "another leader")
        nodes.wait_for_acknowledgements(3, but=node)
        node.signal(signal.SIGCONT)
        nodes.wait(node.is_deposed, "a leader that gives up")

    def standing(self):
        """The standby stands still."""
        self.nodes.wait_for_acknowledgements(3)
        self.pair.signal(self.standby, signal.SIGSTOP)
        self.require_nothing_acknowledged(2, "the standby stood still")
        self.pair.signal(self.standby, signal.SIGCONT)
        self.nodes.wait_for_acknowledgements(1)

    def cuts(self, times):
        """The connection breaks at each step of an append."""
        for _ in range(times):
            for step in STEPS:
                self.nodes.wait_for_acknowledgements(2)
                fired = self.nodes.trap.arm(step)
                self.nodes.wait(fired.is_set, "an append that is cut: " + step)
                self.await_writes()
        return {step: times for step in STEPS}

    def terminations(self, times):
        """`pg_terminate_backend`: of an append that waits for the standby, and of whatever runs at the moment."""
        amid = 0
        for _ in range(times):
            self.nodes.wait_for_acknowledgements(2)
            self.pair.signal(self.standby, signal.SIGSTOP)
            try:
                self.await_waiting()
                self.number("SELECT count(pg_terminate_backend(pid)) " + WAITING)
            finally:
                self.pair.signal(self.standby, signal.SIGCONT)
            self.await_writes()
            # Whoever is seen may have ended a moment later.
            for _ in range(50):
                hit = self.number("SELECT count(pg_terminate_backend(pid)) " + APPENDING)
                amid += hit
                if hit:
                    break
            self.await_writes()
        return {"waiting": times, "amid": amid}

    def lost_wait(self, how):
        """A wait for the standby ends while that is dead; then the primary dies, and what only it had is gone.

        Returns how many events those were.
        """
        pair = self.pair
        self.nodes.wait_for_acknowledgements(3)
        self.append_behind_standby()
        if how == "cancelled":
            for _ in range(30):
                self.number("SELECT count(pg_cancel_backend(pid)) " + WAITING)
                time.sleep(0.05)
        else:
            pair.name_standby(self.primary, "")
        self.require_nothing_acknowledged(1.5, "the wait was ended: " + how)
        had = self.size(self.primary)
        pair.kill(self.primary)
        pair.start(self.standby)
        gone = had - self.size(self.standby)
        if gone <= 0:
            self.found.append("nothing was on the primary alone: no fault (%s)" % how)
        self.fail_over()
        return gone

    def closing(self):
        """The way to the first host accepts and closes; the primary is the second one."""
        if self.primary == "a":
            self.promotions(1)
        self.nodes.wait_for_acknowledgements(3)
        ways = [node.between for node in self.nodes.all]
        for between in ways:
            between.close("a")
            between.proxies["b"].drop()
        self.await_writes()
        for between in ways:
            between.go_on("a")

    def away(self, seconds):
        """No database for a while: who follows goes on, and nobody is started anew."""
        self.nodes.wait_for_acknowledgements(3)
        processes = [node.process.pid for node in self.nodes.all]
        said = len(self.nodes.said_of("away"))
        self.pair.kill(self.standby)
        self.pair.kill(self.primary)
        self.require_nothing_acknowledged(seconds, "the database was away")
        answered = len(self.nodes.said_of("away")) - said
        if answered < len(processes):
            self.found.append("nodes did not go on reading while the database was away")
        self.pair.start(self.primary)
        self.pair.start(self.standby)
        began = time.monotonic()
        self.nodes.wait_for_acknowledgements(1)
        pause = time.monotonic() - began
        if [node.process.pid for node in self.nodes.all] != processes:
            self.found.append("a node was started anew after the database was away")
        return {"seconds": seconds, "readsMeanwhile": answered, "writesAfter": round(pause, 2)}

    def promotions(self, times):
        """The primary is killed and the standby promoted."""
        pauses = []
        for _ in range(times):
            self.nodes.wait_for_acknowledgements(5)
            self.pair.kill(self.primary)
            pauses.append(self.fail_over())
        return pauses

    def two_primaries(self):
        """The standby is promoted by hand, and the old primary lives: first for all, then the leader sees only that
        one, and the others only the new one."""
        pair, nodes = self.pair, self.nodes
        nodes.wait_for_acknowledgements(3)
        leader, (old, new) = nodes.leader(), (self.primary, self.standby)
        pair.promote(new)
        # Nobody flushes what the old one commits: it waits for ever. The new one names nobody: it refuses.
        self.require_nothing_acknowledged(2, "the standby was promoted beside its primary")
        pair.copy(new, "c")
        pair.start("c")
        pair.name_standby(new, "c")
        # Who reaches both settles its doubt at the new one, and leads on: here the leader does not.
        cut = [(node.between, new if node is leader else old) for node in nodes.all]
        for between, server in cut:
            between.shut(server)
        nodes.wait_for_acknowledgements(5, but=leader)
        told = sum(words[0] == "acked" for words in leader.own)
        nodes.wait_for_acknowledgements(5, but=leader)
        beside = sum(words[0] == "acked" for words in leader.own) - told
        if beside:
            self.found.append("the old primary's leader acknowledged beside the new one's")
        pair.kill(old)
        self.primary, self.standby = new, old
        pair.copy(new, old)
        pair.start(old)
        pair.name_standby(new, old)
        pair.kill("c")
        shutil.rmtree(pair.data("c"))
        for between, server in cut:
            between.open(server)
        nodes.wait_for_acknowledgements(1)
        return {"acknowledgedByTheOld": beside}
