import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import LedgerAPI
import ModelSupport
import Synchronization
import Testing

/// Who gains and who loses by another catalog (row Z3).
struct `A population under another catalog` {
    /// What each customer, by number, gains and loses.
    private typealias Moves = [UInt64: [WhatIfLine.Change: Set<String>]]

    private static func question(
        _ document: JSONValue,
        _ at: Instant,
        _ environment: StoreEnvironment = .production,
        effective: Instant? = nil
    ) throws -> WhatIfQuestion {
        WhatIfQuestion(
            catalog: try Catalog(document: document),
            point: BitemporalPoint(at: at, knownAt: .everything),
            environment: environment,
            effective: effective
        )
    }

    /// A ledger that holds a random history, and the history as it stands there.
    private static func with(
        seed: UInt64,
        _ body: (Ledger, [RecordedEvent], [RandomQuestion]) throws -> Void
    ) async throws {
        let history = RandomHistory(seed: seed)
        let log = history.log.filter { $0.kind != .customerErased }
        let clock = TestClock(Instant(milliseconds: 1_893_456_000_000))
        try await ScratchLedger.with(clock: clock) { scratch in
            _ = try scratch.ledger.appender.record(log.map { Submission(event: $0.event) })
            try body(scratch.ledger, log, history.questions)
        }
    }

    // K1, K8: the catalog that is in force already.
    @Test func `that is the same moves nobody`() async throws {
        var (asked, customers) = (0, UInt64(0))
        for seed: UInt64 in 1...60 {
            try await Self.with(seed: seed) { ledger, _, questions in
                for question in questions {
                    let point = BitemporalPoint(at: question.at, knownAt: .everything)
                    guard let document = try ledger.questions.catalogDocument(at: point) else {
                        continue
                    }
                    let report = try ledger.questions.whatIf(
                        Self.question(document, question.at, question.environment)
                    )
                    #expect(report.gaining == 0 && report.losing == 0, "seed \(seed)")
                    #expect(report.tiers.isEmpty, "seed \(seed)")
                    asked += 1
                    customers += report.customers
                }
            }
        }
        #expect(asked > 100 && customers > 200, "there was something to compare")
    }

    // law 8, C4, K2, K3, K8, P12, T4
    @Test func `moves whom the obvious model says`() async throws {
        var (moved, customers) = (0, 0)
        for seed: UInt64 in 1...80 {
            let others = RandomHistory(seed: seed &+ 5000).log.compactMap(\.event.data.document)
            try await Self.with(seed: seed) { ledger, log, questions in
                for (number, question) in questions.enumerated() where !others.isEmpty {
                    let document = others[number % others.count]
                    let effective = number.isMultiple(of: 2) ? nil : questions[0].at
                    let prefix = Array(log.prefix(question.prefix))
                    var asked = try Self.question(
                        document,
                        question.at,
                        question.environment,
                        effective: effective
                    )
                    asked.point.knownAt = .sequence(UInt64(prefix.count))
                    let found = try Self.found(ledger, asked)
                    let expected = try Self.expected(
                        ledger,
                        prefix,
                        document,
                        effective ?? question.at,
                        question
                    )
                    #expect(found == expected.moves, "seed \(seed), question \(number)")
                    moved += found.count
                    customers += expected.customers
                }
            }
        }
        #expect(moved > 100 && customers > moved, "some were moved, some were not")
    }

    /// What the ledger says, by both of its ways: the report, and the lines.
    private static func found(_ ledger: Ledger, _ question: WhatIfQuestion) throws -> Moves {
        let lines = Mutex<[WhatIfLine]>([])
        let report = try ledger.questions.whatIf(question) { line in
            lines.withLock { $0.append(line) }
        }
        var moves: Moves = [:]
        for (entries, change) in [
            (report.gains, WhatIfLine.Change.gain), (report.losses, .loss),
        ] {
            let told = lines.withLock { $0 }.filter { $0.change == change }.map(\.entry)
            #expect(told.count == entries.count)
            for entry in entries {
                let name = entry.customer
                #expect(
                    told.contains { $0.customer == name && $0.feature == entry.feature }
                )
                let number = try ledger.questions.timeline(
                    of: #require(CustomerID(name)),
                    environment: question.environment,
                    size: ledger.questions.prefix(knownAt: question.point.knownAt)
                ).customer
                moves[number, default: [:]][change, default: []].insert(entry.feature)
            }
        }
        #expect(report.isComplete)
        return moves
    }

    /// What the model says of each customer, in a log with the other catalog in place of those that
    /// were published for its time or later.
    private static func expected(
        _ ledger: Ledger,
        _ log: [RecordedEvent],
        _ document: JSONValue,
        _ effective: Instant,
        _ question: RandomQuestion
    ) throws -> (moves: Moves, customers: Int) {
        var other = log.filter { $0.kind != .catalogPublished || $0.event.time < effective }
        other.append(
            RecordedEvent(
                sequence: UInt64(log.count),
                recordedAt: effective,
                event: Event(
                    id: "other",
                    source: Source.catalog,
                    subject: .catalog,
                    time: effective,
                    data: EventData(
                        recorded: .catalogPublished,
                        entries: [],
                        document: document
                    )
                )
            )
        )
        var moves: Moves = [:]
        var met: Set<UInt64> = []
        for name in customers(log, question.environment) {
            let number = try ledger.questions.timeline(
                of: name,
                environment: question.environment,
                size: UInt64(log.count)
            ).customer
            guard met.insert(number).inserted else { continue }
            let (before, after) = (allowed(log, name, question), allowed(other, name, question))
            for (change, features) in [
                (WhatIfLine.Change.gain, after.subtracting(before)),
                (.loss, before.subtracting(after)),
            ] where !features.isEmpty {
                moves[number, default: [:]][change] = features
            }
        }
        return (moves, met.count)
    }

    private static func allowed(
        _ log: [RecordedEvent],
        _ customer: CustomerID,
        _ question: RandomQuestion
    ) -> Set<String> {
        let answer = SlowModel(log: log).show(
            customer: customer.text,
            environment: question.environment,
            at: question.at
        )
        let features = answer["features"]?.members ?? []
        return Set(features.filter { $0.value["allowed"] == .bool(true) }.map(\.name))
    }

    private static func customers(
        _ log: [RecordedEvent],
        _ environment: StoreEnvironment
    ) -> Set<CustomerID> {
        var customers: Set<CustomerID> = []
        for event in log.map(\.event) where event.environment == environment {
            if let account = event.data.text(.account).flatMap({ CustomerID($0) }) {
                customers.insert(account)
            }
            guard case .customer(let id) = event.subject else { continue }
            customers.insert(id)
            customers.formUnion((event.data.texts(.from) ?? []).compactMap { CustomerID($0) })
            if let alias = event.data.text(.alias).flatMap({ CustomerID($0) }) {
                customers.insert(alias)
            }
        }
        return customers
    }

    @Test func `is counted whole where its lists are cut`() async throws {
        try await ScratchLedger.with { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.publish(
                try Sample.catalog(),
                effective: Sample.newYear,
                Request(id: "c", source: Source.catalog, environment: .production)
            )
            for number in 0..<20 {
                let lines = Sample.ownedPurchase("u\(number)", "app_store/\(number)")
                _ = try ledger.appender.record(Sample.submissions(lines))
            }
            var question = try Self.question(Self.poorer(), Sample.day(20))
            question.sampleLimit = 3
            let report = try ledger.questions.whatIf(question)
            #expect(report.customers == 20 && report.losing == 20 && report.gaining == 0)
            #expect(report.losses.count == 3 && !report.isComplete)
            let product = try #require(report.products.first)
            #expect(product.productID == "pro.month" && product.losing == 20)
            #expect(report.tiers.first?.customers == 20)
            // The same customers, however the work was shared out.
            #expect(try ledger.questions.whatIf(question) == report)
        }
    }

    /// A catalog whose month unlocks nothing.
    private static func poorer() throws -> JSONValue {
        let text = try Sample.catalog().description.replacing(
            #""unlocks":{"tier":"pro"}"#,
            with: #""unlocks":{}"#
        )
        return try Sample.json(text)
    }

    // P12: the leeway of a policy is that of the catalog in force at a period's end.
    @Test(arguments: [(1, 1), (32, 1), (nil, 0)] as [(Int64?, UInt64)])
    func `may differ in its policy alone`(_ effective: Int64?, _ gaining: UInt64) async throws {
        try await ScratchLedger.with { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.publish(
                try Sample.catalog(),
                effective: Sample.newYear,
                Request(id: "c", source: Source.catalog, environment: .production)
            )
            let lines = Sample.ownedPurchase("ann", "app_store/1")
            _ = try ledger.appender.record(Sample.submissions(lines))
            let generous = try Sample.catalog().description.replacing(
                #""policy":{"#,
                with: #""policy":{"renewalLeewaySeconds":7200,"#
            )
            // The month ends with 31 January.
            let at = Sample.day(32).advanced(byMilliseconds: 3_600_000)
            let report = try ledger.questions.whatIf(
                Self.question(
                    try Sample.json(generous),
                    at,
                    effective: effective.map { Sample.day($0) }
                )
            )
            #expect(report.gaining == gaining && report.losing == 0, "\(AnswerText(report))")
        }
    }

    // C4: a trial is what the catalog at its start made of it.
    @Test(arguments: [(1, 1), (3, 0)] as [(Int64, UInt64)])
    func `makes other trials of those that begin under it`(
        _ effective: Int64,
        _ gaining: UInt64
    ) async throws {
        try await ScratchLedger.with { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.publish(
                try Sample.catalog(),
                effective: Sample.newYear,
                Request(id: "c", source: Source.catalog, environment: .production)
            )
            let trial = Sample.line(
                "trial",
                "trial.started",
                "customer/ann",
                data: #"{"trialId":"week"}"#,
                time: Sample.day(2)
            )
            _ = try ledger.appender.record(Sample.submissions([trial]))
            let longer = try Sample.catalog().description.replacing(
                #""days":7"#,
                with: #""days":30"#
            )
            let report = try ledger.questions.whatIf(
                Self.question(
                    try Sample.json(longer),
                    Sample.day(20),
                    effective: Sample.day(effective)
                )
            )
            #expect(report.gaining == gaining, "\(AnswerText(report))")
            #expect(report.gains.allSatisfy { $0.reason == .trial })
        }
    }

    // Exit codes; row Z3
    @Test(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
    func `is asked for by the command`() async throws {
        try await CommandLedger.with { ledger in
            let lines = Sample.ownedPurchase("ann", "app_store/1")
            try ledger.record(lines)
            let same = try ledger.file("same.json", Sample.catalog().description)
            let poorer = try ledger.file("poorer.json", Self.poorer().description)
            let at = ["--at", "2026-01-20"]
            let nobody = try await ledger.run(["whatif", "--catalog", same, "--fail-on-loss"] + at)
            #expect(nobody.code == 0 && nobody.json?["losing"]?.integer == 0, "\(nobody.errors)")
            let output = ledger.folder + "/moves.ndjson"
            let asked = ["whatif", "--catalog", poorer, "--output", output] + at
            let some = try await ledger.run(asked)
            #expect(some.code == 0, "\(some.errors)")
            #expect(some.json?["losses"]?.array?.first?["customer"] == "ann")
            #expect(try await ledger.run(asked + ["--fail-on-loss"]).code == 1)
            let written = try String(contentsOfFile: output, encoding: .utf8)
            #expect(written.split(separator: "\n").count == 1 && written.contains("\"loss\""))
            let difference = try await ledger.run(["catalog", "diff", poorer] + at)
            #expect(difference.code == 0, "\(difference.errors)")
            let changed = difference.json?["products"]?.array ?? []
            #expect(changed.map { $0["id"] } == ["pro.month"])
            #expect(changed.first?["changed"] == .strings(["unlocks"]))
            #expect(difference.json?["affected"] == some.json)
        }
    }

    @Test(
        .enabled(if: EntitleCommand.isPresent, EntitleCommand.absence),
        arguments: [
            (["--catalog", "/nonexistent"], 66), ([], 64), (["--catalog", "bad"], 65),
            (["--catalog", "good", "--samples", "-1"], 64),
            (["--catalog", "good", "--samples", "100001"], 64),
            (["--catalog", "good", "--effective", "soon"], 64),
            (["--catalog", "good", "--output", "/nonexistent/x"], 73),
        ]
    )
    func `is asked for well or refused`(_ arguments: [String], _ code: Int) async throws {
        try await CommandLedger.with { ledger in
            let files = [
                "good": try ledger.file("good.json", Sample.catalog().description),
                "bad": try ledger.file("bad.json", #"{"tiers":["gold"],"features":1}"#),
            ]
            let outcome = try await ledger.run(["whatif"] + arguments.map { files[$0] ?? $0 })
            #expect(outcome.code == Int32(code) && outcome.problem != nil, "\(outcome.errors)")
        }
    }
}
