import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import LedgerAPI
import ModelSupport
import Testing

@testable import LedgerOperations

/// Changes of access as a chain: each begins with what the one before it ended with.
struct `Changes of access` {
    /// What a chain is found to lack; nil: it holds.
    ///
    /// `last`: what each customer may use in the end.
    private static func fault(
        in changes: [(
            customer: UInt64, at: Instant, before: EntitlementChanged.Access,
            after: EntitlementChanged.Access
        )],
        endingWith last: (UInt64) throws -> EntitlementChanged.Access?
    ) rethrows -> String? {
        var known: [UInt64: (at: Instant, access: EntitlementChanged.Access)] = [:]
        for change in changes {
            if let known = known[change.customer] {
                if known.access != change.before { return "does not follow on the one before" }
                if known.at > change.at { return "comes behind a later one" }
            }
            if change.before == change.after { return "changes nothing" }
            known[change.customer] = (change.at, change.after)
        }
        for (customer, known) in known {
            if let last = try last(customer), last != known.access { return "is not the last" }
        }
        return nil
    }

    private static func changes(
        _ notices: [Notice]
    ) -> [(
        customer: UInt64, at: Instant, before: EntitlementChanged.Access,
        after: EntitlementChanged.Access
    )] {
        notices.compactMap { notice in
            guard case .change(let change) = notice.content else { return nil }
            return (notice.stream, notice.at, change.before, change.after)
        }
    }

    // Whoever keeps the last `after` has what `show` says, whatever happened, in every order.
    @Test func `follow one on the other, and end with what holds`() async throws {
        var (count, missed, swapped) = (0, 0, 0)
        for seed in 1...RandomHistoriesSize.count {
            let history = RandomHistory(seed: seed)
            let log = history.log.filter { $0.kind != .customerErased }
            let start = log.map(\.recordedAt).min() ?? Sample.newYear
            try await NoticedLedger.with(
                environments: StoreEnvironment.allCases,
                catalogs: true,
                clock: TestClock(start)
            ) { noticed in
                var generator = SplitMix64(seed: seed)
                for recorded in log {
                    noticed.scratch.clock.now = recorded.recordedAt
                    _ = try noticed.ledger.appender.record(Submission(event: recorded.event))
                    // Some looks come late, and some while nothing happens.
                    if generator.chance(60) { try noticed.look() }
                }
                let end = start.advanced(byMilliseconds: 400 * Instant.millisecondsPerDay)
                try noticed.pass(to: end)
                let changes = Self.changes(noticed.notices)
                let access = { (customer: UInt64) in try Self.access(noticed, customer, at: end) }
                let fault = try Self.fault(in: changes, endingWith: access)
                #expect(fault == nil, "seed \(seed): \(fault ?? "")")
                count += changes.count
                // The control: a chain with one left out, or two in another order, does not hold.
                guard changes.count > 2 else { return }
                var shorter = changes
                shorter.remove(at: changes.count - 1)
                if try Self.fault(in: shorter, endingWith: access) != nil { missed += 1 }
                var other = changes
                other.reverse()
                if try Self.fault(in: other, endingWith: access) != nil { swapped += 1 }
            }
        }
        #expect(count > 40, "there was something to compare: \(count)")
        #expect(missed > 5 && swapped > 5, "what is wrong is found: \(missed), \(swapped)")
    }

    /// What a customer may use; nil: it is a name that links lead on from.
    private static func access(
        _ noticed: NoticedLedger,
        _ customer: UInt64,
        at instant: Instant
    ) throws -> EntitlementChanged.Access? {
        let questions = noticed.ledger.questions
        let size = try questions.size()
        for environment in StoreEnvironment.allCases {
            guard
                let name = try questions.customerName(ofStream: customer),
                try questions.number(of: name, in: environment) == customer
            else { continue }
            let state = try questions.show(
                CustomerQuestion(
                    customer: name,
                    environment: environment,
                    point: BitemporalPoint(at: instant, knownAt: .sequence(size))
                )
            ).json
            let features = (state["features"]?.members ?? [])
                .filter { $0.value["allowed"]?.bool == true }.map(\.name)
            return EntitlementChanged.Access(
                tier: try #require(state["tier"]?.string),
                features: features
            )
        }
        return nil
    }
}

/// How many random histories are tried.
private enum RandomHistoriesSize {
    /// In fewer too little changes.
    private static let least: UInt64 = 24
    static let count = max(
        least,
        ProcessInfo.processInfo.environment["ENTITLE_LEDGER_HISTORIES"].flatMap(UInt64.init) ?? 0
    )
}
