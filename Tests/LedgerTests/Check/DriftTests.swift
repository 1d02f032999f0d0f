import Encodings
import Entitlements
import EventLog
import LedgerAPI
import ModelSupport
import PostingIndex
import Testing

@testable import EntitlementLedger

/// Live views held against a fold of the log (row Z13).
struct `A drift check` {
    private static let count = 12
    private static let at = Sample.day(20)

    /// Lends a ledger of customers who each own a month.
    private static func with(_ body: (ScratchLedger) throws -> Void) async throws {
        try await ScratchLedger.with { scratch in
            try fill(scratch.ledger)
            try body(scratch)
        }
    }

    private static func fill(_ ledger: Ledger) throws {
        _ = try ledger.appender.publish(
            try Sample.catalog(),
            effective: Sample.newYear,
            Request(id: "c", source: Source.catalog, environment: .production)
        )
        for number in 0..<count {
            let lines = Sample.ownedPurchase("u\(number)", "app_store/\(number)")
            _ = try ledger.appender.record(Sample.submissions(lines))
        }
    }

    private static func check(
        _ ledger: Ledger,
        _ sample: CustomerSample = CustomerSample(count: nil)
    ) throws -> DriftReport {
        try ledger.auditor.drift(of: sample, environment: .production, at: at)
    }

    /// Asks for all, so that views remember answers.
    private static func ask(_ ledger: Ledger) throws {
        for number in 0..<count {
            let name: CustomerID = "u\(number)"
            let access = try ledger.questions.foldAccess(
                of: name,
                environment: .production,
                at: at,
                isWritten: true
            )
            let can = try ledger.questions.can(name, "export", environment: .production, at: at)
            #expect(can == access.allows("export"))
        }
    }

    // Control of all that follow.
    @Test func `of views that are right finds nothing`() async throws {
        try await Self.with { scratch in
            try Self.ask(scratch.ledger)
            let report = try Self.check(scratch.ledger)
            #expect(report.isOK && report.customers == Self.count, "\(report.answer)")
            #expect(report.cached == Self.count)
        }
    }

    // law 4, law 8
    @Test func `of random histories finds nothing`() async throws {
        var (customers, cached) = (0, 0)
        for seed: UInt64 in 1...40 {
            let history = RandomHistory(seed: seed)
            let log = history.log.filter { $0.kind != .customerErased }
            let clock = TestClock(Instant(milliseconds: 1_893_456_000_000))
            try await ScratchLedger.with(clock: clock) { scratch in
                _ = try scratch.ledger.appender.record(log.map { Submission(event: $0.event) })
                for question in history.questions {
                    _ = try scratch.ledger.questions.can(
                        question.customer,
                        "f1",
                        environment: question.environment,
                        at: question.at
                    )
                    for environment in StoreEnvironment.allCases {
                        let report = try scratch.ledger.auditor.drift(
                            of: CustomerSample(count: nil),
                            environment: environment,
                            at: question.at
                        )
                        #expect(report.isOK, "seed \(seed): \(report.answer)")
                        customers += report.customers
                        cached += report.cached
                    }
                }
            }
        }
        #expect(customers > 200 && cached > 20, "there was something to compare")
    }

    // Z15: from an instant on another catalog says what is sold.
    @Test func `of answers that a catalog overtook finds nothing`() async throws {
        try await Self.with { scratch in
            let ledger = scratch.ledger
            let lines = Sample.ownedPurchase("old", "app_store/old", until: "\(Sample.day(10))")
            _ = try ledger.appender.record(Sample.submissions(lines))
            let more = #"{"id":"pro.year","kind":"auto_renewable","unlocks":{"tier":"pro"}},"#
            let document = try Sample.catalog().description
                .replacing(#""products":["#, with: #""products":["# + more)
            let hour: Int64 = 3_600_000
            _ = try ledger.appender.publish(
                Sample.json(document),
                effective: Self.at.advanced(byMilliseconds: hour),
                Request(id: "d", source: Source.catalog, environment: .production)
            )
            let asked = try ledger.questions.foldAccess(
                of: "old",
                environment: .production,
                at: Self.at,
                isWritten: true
            )
            #expect(!asked.allows("export"))
            for (passed, cached) in [(hour - 1, 1), (hour, 0)] {
                let report = try ledger.auditor.drift(
                    of: CustomerSample(count: nil),
                    environment: .production,
                    at: Self.at.advanced(byMilliseconds: passed)
                )
                #expect(report.isOK && report.cached == cached, "\(report.answer)")
            }
        }
    }

    // What is recorded meanwhile is no drift: an alert that is false is worse than none.
    @Test func `tells of nothing while events come in and answers are asked for`() async throws {
        try await ScratchLedger.with { scratch in
            try Self.fill(scratch.ledger)
            let ledger = scratch.ledger
            try Self.ask(ledger)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for number in 0..<80 {
                        let purchase = "purchase/app_store/\(number % 3)"
                        let refund = Sample.line(
                            "refund-\(number)",
                            number.isMultiple(of: 2)
                                ? "revocation.refunded" : "revocation.reversed",
                            purchase,
                            time: Sample.day(10)
                        )
                        _ = try ledger.appender.record(Sample.submissions([refund]))
                        try Self.ask(ledger)
                    }
                }
                var compared = 0
                for _ in 0..<20 {
                    let report = try Self.check(ledger)
                    #expect(report.isOK, "\(report.answer)")
                    compared += report.cached
                }
                #expect(compared > 0)
                try await group.waitForAll()
            }
            try Self.ask(ledger)
            let report = try Self.check(ledger)
            #expect(report.isOK && report.cached == Self.count)
        }
    }

    @Test(arguments: [true, false])
    func `finds a kept answer that is another`(_ isText: Bool) async throws {
        try await Self.with { scratch in
            let ledger = scratch.ledger
            try Self.ask(ledger)
            let stream = try #require(try Self.stream(of: "u3", ledger))
            let hash = ledger.questions.accessCache.hash(of: "u3", .production)
            let cached = try #require(ledger.questions.accessCache[hash])
            var features = try #require(cached.features)
            let usable = Set(features.filter(\.value.isUsable).keys)
            #expect(!usable.isEmpty)
            if isText { features["export"] = nil }
            ledger.questions.accessCache.keep(
                CachedAccess(
                    usable: isText ? usable : [],
                    features: isText ? features : nil,
                    from: Self.at,
                    validUntil: nil,
                    size: ledger.questions.views.end,
                    streams: [stream]
                ),
                of: hash,
                since: ledger.questions.accessCache.epoch
            )
            let report = try Self.check(ledger)
            #expect(report.differences.map(\.kind) == [.cache])
            #expect(report.differences.first?.stream == stream)
        }
    }

    // A posting that is well-formed and wrong: no checksum tells.
    @Test func `finds an event that is missing from a stream of the views`() async throws {
        try await Self.with { scratch in
            let stream = try #require(try Self.stream(of: "u5", scratch.ledger))
            try Self.plant(scratch, missing: stream)
            try scratch.reopen()
            let report = try Self.check(scratch.ledger)
            #expect(report.differences.map(\.kind) == [.view])
            #expect(report.differences.first?.stream == stream)
            _ = try scratch.ledger.auditor.rebuild()
            #expect(try Self.check(scratch.ledger).isOK)
        }
    }

    // What the command says, and its exit code.
    @Test(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence), arguments: [true, false])
    func `is made by the command, with exit 3 for a difference`(_ isPlanted: Bool) async throws {
        try await ScratchLedger.with { scratch in
            try Self.fill(scratch.ledger)
            if isPlanted {
                let stream = try #require(try Self.stream(of: "u5", scratch.ledger))
                try Self.plant(scratch, missing: stream)
            } else {
                try scratch.close()
            }
            let command = ["drift", "--ledger", scratch.path, "--json"]
            let all = try await EntitleCommand.run(command + ["--all"])
            #expect(all.code == (isPlanted ? 3 : 0), "\(all.errors)")
            #expect(all.problemCode == (isPlanted ? "drift" : nil))
            #expect(all.json?["ok"] == .bool(!isPlanted))
            #expect(all.json?["differences"]?.array?.count == (isPlanted ? 1 : 0))
            #expect(all.json?["customers"]?.integer == Int64(Self.count))
            let some = try await EntitleCommand.run(command + ["--sample", "1"])
            #expect(some.json?["customers"]?.integer == 1, "\(some.errors)")
            for wrong in [["--sample", "0"], ["--all", "--sample", "1"]] {
                #expect(try await EntitleCommand.run(command + wrong).code == 64)
            }
        }
    }

    // A sample after a sample reaches everybody.
    @Test(arguments: [1, 5, 12, 100])
    func `rolls on until everybody was looked at`(_ count: Int) async throws {
        try await Self.with { scratch in
            var start: UInt64 = 0
            var (customers, checks) = (0, 0)
            repeat {
                let sample = CustomerSample(from: start, count: count)
                let report = try Self.check(scratch.ledger, sample)
                #expect(report.population == Self.count)
                #expect(report.customers == min(count, Self.count))
                customers += report.customers
                checks += 1
                start = report.next
            } while start != 0 && checks < 100 && customers < Self.count
            #expect(customers >= Self.count && checks == (Self.count + count - 1) / count)
            // Around the end, and from beyond it.
            for start in [try scratch.ledger.auditor.highestSampleStart(), .max] {
                let sample = CustomerSample(from: start, count: Self.count)
                #expect(try Self.check(scratch.ledger, sample).customers == Self.count)
            }
        }
    }

    private static func stream(of customer: CustomerID, _ ledger: Ledger) throws -> UInt64? {
        try ledger.questions.vault.stream(
            of: StreamName(
                environment: StoreEnvironment.production.rawValue,
                subject: Subject.customer(customer).description
            )
        )
    }

    /// Closes a ledger and writes views from which a stream's entries are missing: they are written
    /// under the vault's secret.
    private static func plant(_ scratch: ScratchLedger, missing stream: UInt64) throws {
        let size = try scratch.ledger.questions.size()
        var entries: [IndexEntry] = []
        try scratch.ledger.questions.log.scan(from: 0, upTo: size) { header, record in
            entries.append(try header.indexEntry(record))
            return true
        }
        let seal = ViewSeal(
            ledgerID: scratch.ledger.identity.id,
            secret: try #require(scratch.ledger.questions.vault.viewSecret)
        )
        try scratch.close()
        let directory = ViewDirectory(path: scratch.viewsPath, seal: seal)
        let (generation, tables) = try #require(try directory.openCurrent())
        var postings = Postings(reservingFor: entries.count)
        for entry in entries { postings.append(entry) }
        postings.streams.removeAll { $0.key == stream }
        postings.sort()
        let run = try generation.makeRun(postings, of: 0..<size, root: tables.position.root)
        let altered = IndexTables(runs: [run], position: tables.position)
        try generation.keep(altered, isDurable: true)
    }
}
