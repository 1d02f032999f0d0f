import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import LMDBStorage
import LedgerAPI
import PostgresStorage
import Testing

@testable import LedgerOperations

/// What is told to others by a cluster: whoever leads next goes on where the one before ended (row Z9).
extension `A cluster's journal in PostgreSQL` {
    @Test func `tells all that happened in its order, whichever machine leads`() async throws {
        try await withTelling { first, second, _ in
            let hook = try first.add("a")
            // Whoever is answered that it is there is told, whichever machine leads.
            try second.share.follow()
            #expect(try second.webhooks.webhook(hook.id)?.url == hook.url)
            func grant(_ numbers: Range<Int>, at teller: TellingMachine) throws {
                for number in numbers {
                    #expect(try teller.machine.grant(number, to: number % 3).isAppended)
                }
            }
            try grant(0..<9, at: first)
            try first.tell()
            try first.share.share()
            try grant(9..<18, at: first)
            // Told, and nobody else knows.
            try first.tell()
            try grant(18..<27, at: first)
            // Noticed, and not told.
            try first.look()
            try await Self.change(first, second)
            try second.tell()
            try grant(27..<30, at: second)
            try second.tell()
            let before = Set(first.sent.map(\.id))
            #expect(!before.isDisjoint(with: second.sent.map(\.id)), "at least once")
            // What was known to be told is told by nobody else.
            #expect(!second.sent.map(\.id).contains(first.sent[0].id))
            let sent = first.sent + second.sent
            #expect(sent.allSatisfy { $0.webhook == hook.id && $0.isTaken && !$0.isResent })
            // Each under one id, with one body.
            let bodies = Dictionary(grouping: sent) { $0.id }
            #expect(bodies.values.allSatisfy { Set($0.map(\.body)).count == 1 })
            // A grant and what it changed for each that was new.
            let kept = try second.notices()
            #expect(kept.map(\.number) == Array(0..<UInt64(kept.count)))
            #expect(bodies.count == kept.count && kept.count >= 30)
            // By customers, as they came first.
            let order = try second.ids(of: kept)
            for stream in Set(sent.map(\.stream)) {
                var (met, own) = (Set<String>(), [String]())
                for one in sent where one.stream == stream && met.insert(one.id).inserted {
                    own.append(one.id)
                }
                #expect(own == order.filter { met.contains($0) })
            }
            #expect(Set(order) == Set(bodies.keys))
        }
    }

    @Test func `keeps who is told, what is dead and what is asked for, whichever machine leads`()
        async throws
    {
        try await withTelling { first, second, _ in
            let (good, bad, silent, gone) = (
                try first.add("a"), try first.add("b"), try first.add("c"), try first.add("d")
            )
            for number in 0..<4 { #expect(try first.machine.grant(number).isAppended) }
            _ = try first.webhooks.changing {
                try first.webhooks.disable(silent.id, because: .asked)
            }
            // One takes nothing for days, one nothing any more.
            var now = SystemClock.now()
            for _ in 0..<10 {
                try first.tell(at: now) { _, id in
                    id == bad.id ? 500 : id == gone.id ? 410 : 200
                }
                now = now.advanced(byMilliseconds: 2 * Instant.millisecondsPerDay)
            }
            let changed = try first.webhooks.changing {
                try first.webhooks.rotateSecret(of: good.id, at: SystemClock.now())
            }
            let rotated = try #require(changed)
            #expect(try first.machine.grant(4).isAppended)
            try first.tell { _, id in id == bad.id ? 503 : 200 }
            try first.share.share()
            let before = try first.webhooks.all()
            let dead = try first.webhooks.deliveries(of: bad.id, .dead, limit: .max)
            let waiting = try first.webhooks.deliveries(of: bad.id, .waiting, limit: .max)
            #expect(dead?.isEmpty == false && waiting?.isEmpty == false)
            try await Self.change(first, second)
            #expect(try second.webhooks.all() == before)
            #expect(try second.webhooks.deliveries(of: bad.id, .dead, limit: .max) == dead)
            #expect(try second.webhooks.deliveries(of: bad.id, .waiting, limit: .max) == waiting)
            #expect(try second.webhooks.webhook(gone.id)?.disabledBecause == .gone)
            let secrets = try second.webhooks.secrets(of: rotated, at: SystemClock.now())
            #expect(secrets.first?.text == rotated.secret && secrets.count == 2)
            // What was told by the other machine is told once more where somebody asks for it.
            let id = try #require(first.sent.first { $0.webhook == good.id }?.id)
            let again = try second.webhooks.changing {
                try second.webhooks.resend(to: good.id, messages: [Name(id)])
            }
            #expect(again?.resent == 1)
            _ = try second.webhooks.changing { try second.webhooks.enable(silent.id) }
            // And asked for before it is known.
            try await Self.changeBack(second, first)
            try first.tell()
            #expect(first.sent.contains { $0.id == id && $0.isResent && $0.webhook == good.id })
            let heard = Set(first.sent.filter { $0.webhook == silent.id && $0.isTaken }.map(\.id))
            #expect(heard == Set(try first.ids(of: first.notices())))
        }
    }

    // What time changes stands in no event: it is told once, and not forgotten.
    @Test func `tells what time changes, whichever machine leads`() async throws {
        try await withTelling { first, second, _ in
            _ = try first.add("a")
            let now = SystemClock.now()
            func hours(_ count: Int64) -> Instant {
                now.advanced(byMilliseconds: count * Instant.millisecondsPerDay / 24)
            }
            #expect(try first.machine.grant(0, until: hours(1)).isAppended)
            #expect(try first.machine.grant(1, until: hours(3)).isAppended)
            try first.look()
            let begun = try first.notices().count
            try first.look(at: hours(2))
            #expect(try first.notices().count == begun + 1)
            try first.share.share()
            try await Self.change(first, second)
            try second.look(at: hours(4))
            let ids = try second.ids(of: second.notices())
            #expect(ids.count == begun + 2 && Set(ids).count == ids.count)
            #expect(Array(ids.prefix(begun + 1)) == (try first.ids(of: first.notices())))
        }
    }

    // A machine that hung writes late.
    @Test func `holds nothing that a machine writes which tells no more`() async throws {
        try await withTelling { first, second, journal in
            let hook = try first.add("a")
            #expect(try first.machine.grant(0).isAppended)
            try first.tell()
            try first.share.share()
            let known = try journal.deliveryStamp()
            // Noticed under numbers that the other machine gives to others, and one that it does not come to.
            let end = SystemClock.now().advanced(byMilliseconds: Instant.millisecondsPerDay)
            for number in 1..<4 {
                #expect(try first.machine.grant(number, until: end).isAppended)
            }
            try first.look(at: end)
            let own = try first.notices()
            _ = try first.webhooks.disable(hook.id, because: .asked)
            try await Self.change(first, second)
            #expect(try second.machine.grant(4).isAppended)
            _ = try second.add("b")
            try second.tell()
            try second.share.share()
            let (stamp, state) = (try journal.deliveryStamp(), try journal.deliveryState())
            let pages = try journal.noticePages(from: 0, limit: .max)
            #expect { try first.share.share() } throws: {
                ($0 as? LogStorageFault)?.code == .noLeader
            }
            #expect(try !first.share.isLeading)
            #expect { try first.add("c") } throws: { ($0 as? LogStorageFault)?.code == .noLeader }
            // Nor does it begin again in its term.
            #expect { try first.share.lead(in: first.term) } throws: {
                ($0 as? LogStorageFault)?.code == .noLeader
            }
            var late = DeliveriesChange(stamp: [1])
            (late.state, late.pages, late.cutFrom) = ([2], [NoticePage(first: 99, bytes: [3])], 0)
            #expect(try !journal.write(late, insteadOf: known))
            #expect(try !journal.write(late, insteadOf: nil))
            #expect(try journal.deliveryStamp() == stamp)
            #expect(try journal.deliveryState() == state)
            #expect(try journal.noticePages(from: 0, limit: .max) == pages)
            // It has what the other one has, in place of its own.
            try first.share.follow()
            #expect(try first.webhooks.all() == second.webhooks.all())
            #expect(try first.notices() == second.notices())
            #expect(try first.notices().count < own.count)
        }
    }

    @Test func `finds out what became of a write whose answer is lost`() async throws {
        try await withLossy { first, second, lossy, _ in
            #expect(try first.machine.grant(0).isAppended)
            try first.look()
            lossy.loseOne()
            #expect(throws: JournalFault.self) { try first.share.share() }
            // Who copies what stands by then misses nothing of what is written behind it.
            try second.share.follow()
            #expect(try second.notices() == first.notices())
            #expect(try first.machine.grant(1).isAppended)
            try first.look()
            try first.share.share()
            #expect(try first.share.isLeading)
            try second.share.follow()
            #expect(try second.webhooks.all() == first.webhooks.all())
            #expect(try second.notices() == first.notices())
            #expect(try first.notices().count >= 2)
        }
    }

    @Test func `forgets pages of notices, and cuts them, from a number on`() async throws {
        try await withTelling { _, _, journal in
            func write(_ change: (inout DeliveriesChange) -> Void) throws {
                var made = DeliveriesChange(stamp: [UInt8.random(in: 0...255), 1])
                change(&made)
                let known = try journal.deliveryStamp()
                #expect(try journal.write(made, insteadOf: known))
                #expect(try journal.deliveryStamp() == made.stamp)
            }
            func pages() throws -> [UInt64] {
                try journal.noticePages(from: 0, limit: .max).map(\.first)
            }
            // Their order is the numbers', not that of the digits.
            let firsts: [UInt64] = [0, 10, 20, 255, 256, 1000]
            try write { $0.pages = firsts.map { NoticePage(first: $0, bytes: [1]) } }
            #expect(try pages() == firsts)
            #expect(try journal.deliveryState() == nil)
            try write { $0.forgetBefore = 0 }
            #expect(try pages() == firsts)
            // What begins before it and ends behind it stays.
            try write { $0.forgetBefore = 15 }
            #expect(try pages() == [10, 20, 255, 256, 1000])
            try write { $0.cutFrom = 256 }
            #expect(try pages() == [10, 20, 255])
            try write { $0.state = [7] }
            #expect(try pages() == [10, 20, 255])
            #expect(try journal.deliveryState() == [7])
            #expect(try journal.noticePages(from: 11, limit: 1).map(\.first) == [20])
        }
    }

    // Who served alone before goes on with those who are told.
    @Test func `begins with those who were told by one machine`() async throws {
        try await withTelling { first, second, journal in
            first.webhooks.close()
            let alone = try TellingMachine(first.machine, at: first.path, in: nil)
            let hook = try alone.add("a")
            #expect(try alone.machine.grant(0).isAppended)
            try alone.look()
            let notices = try alone.notices()
            alone.webhooks.close()
            #expect(try journal.deliveryStamp() == nil)
            let sharing = try TellingMachine(first.machine, at: first.path, in: journal)
            try sharing.share.lead(in: 0)
            try sharing.share.leave()
            sharing.webhooks.close()
            try second.share.follow()
            #expect(try second.webhooks.webhook(hook.id)?.url == hook.url)
            #expect(try second.notices() == notices && !notices.isEmpty)
        }
    }

    // Who is told is told by the one directory that goes on.
    @Test func `goes on with those who are told where it ends`() async throws {
        try await withMachines { machines in
            let first = machines[0]
            first.begin()
            try await eventually("a leader") { first.node.isLeading }
            let journal = PostgresDeliveries(PostgresServers.place(), schema: machines.schema)
            let telling = try TellingMachine(first, at: machines.path("a"), in: journal)
            try telling.share.lead(in: telling.term)
            let hook = try telling.add("a")
            #expect(try first.grant(0).isAppended)
            try telling.tell()
            #expect(try first.grant(1).isAppended)
            try telling.look()
            let notices = try telling.notices()
            let untold = Set(try telling.ids(of: notices)).subtracting(telling.sent.map(\.id))
            try telling.share.leave()
            telling.webhooks.close()
            await machines.end()
            _ = try machines.leave("b")
            let options = OpenLedger.Options(key: .file(machines.path("b") + "/key"))
            try OpenLedger(at: machines.path("b"), options: options).lend(warn: { _ in }) { open in
                let webhooks = try Webhooks(ofLedgerAt: machines.path("b"), open.ledger)
                defer { webhooks.close() }
                #expect(try webhooks.webhook(hook.id)?.url == hook.url)
                #expect(try webhooks.store.notices(from: 0, limit: .max) == notices)
                let plan = try DeliveryPlan(of: hook.id, webhooks, from: nil, at: SystemClock.now())
                let told = plan?.lanes.flatMap { lane in lane.map(\.message.id) } ?? []
                #expect(Set(told) == untold && !untold.isEmpty)
            }
        }
    }

    /// Has the other machine lead and tell, where the one before ends in the middle of something.
    static func change(
        _ first: TellingMachine,
        _ second: TellingMachine
    ) async throws {
        await first.machine.halt()
        try await eventually("the other one to lead") { second.machine.node.isLeading }
        try second.share.lead(in: second.term)
    }

    /// Has a machine tell again that hung.
    private static func changeBack(
        _ second: TellingMachine,
        _ first: TellingMachine
    ) async throws {
        try first.share.follow()
        try first.share.leave()
        #expect(try !first.share.isLeading)
        try first.share.lead(in: second.term + 1)
        #expect { try second.add("z") } throws: { ($0 as? LogStorageFault)?.code == .noLeader }
    }

    /// Lends a machine that leads and tells, another one that follows, and what they hold in common.
    func withTelling(
        _ body: (TellingMachine, TellingMachine, PostgresDeliveries) async throws -> Void
    ) async throws {
        try await withMachines { machines in
            let (first, second) = (machines[0], machines[1])
            first.begin()
            try await eventually("a leader") { first.node.isLeading }
            second.begin()
            let journal = PostgresDeliveries(PostgresServers.place(), schema: machines.schema)
            let telling = try [first, second].map {
                try TellingMachine($0, at: machines.path($0.name), in: journal)
            }
            defer { for one in telling { one.webhooks.close() } }
            try telling[0].share.lead(in: telling[0].term)
            try await body(telling[0], telling[1], journal)
        }
    }

    /// Lends a machine that tells over a database which may be away, one that follows, and what they hold in common.
    func withLossy(
        _ body: (TellingMachine, TellingMachine, LossyDeliveries, PostgresDeliveries) async throws
            -> Void
    ) async throws {
        try await withTelling { first, second, journal in
            let lossy = LossyDeliveries(journal)
            try first.share.leave()
            first.webhooks.close()
            let first = try TellingMachine(first.machine, at: first.path, in: lossy)
            defer { first.webhooks.close() }
            try first.share.lead(in: first.term)
            _ = try first.add("a")
            try await body(first, second, lossy, journal)
        }
    }
}
