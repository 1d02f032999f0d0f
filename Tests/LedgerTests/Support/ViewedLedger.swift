import Encodings
import Entitlements
import EventLog
import Foundation
import ModelSupport
import Testing

@testable import EntitlementLedger

/// A ledger in memory, but for its views.
struct ViewedLedger {
    let log = MemoryLog()
    let vault: MemoryVault
    let path: String

    init(_ path: String) throws {
        self.path = path
        vault = try MemoryVault(randomness: .system)
    }

    /// Opens it; `changes` are made to what is read of the log.
    func open(isReadOnly: Bool = false, _ changes: AlteredLog.Changes = .init()) throws -> Ledger {
        try Ledger(
            identity: LedgerIdentity(id: Array(repeating: 1, count: 16), origin: "x/log"),
            log: AlteredLog(log, changes),
            vault: vault,
            options: Ledger.Options(
                viewsPath: path,
                bootID: "test",
                isReadOnly: isReadOnly,
                clock: { Sample.day(40) }
            )
        )
    }

    /// A catalog, and purchases of so many customers, in runs of the index.
    func fill(customers: Range<Int>, publishing: Bool) throws {
        let ledger = try open()
        if publishing {
            _ = try ledger.appender.publish(
                try Sample.catalog(),
                effective: Sample.newYear,
                Request(id: "c", source: Source.catalog, environment: .production)
            )
        }
        for number in customers {
            let lines = Sample.ownedPurchase("u\(number)", "app_store/\(number)")
            _ = try ledger.appender.record(Sample.submissions(lines))
        }
        try ledger.close()
    }
}

/// What a ledger answers; the same from its views as from its log.
struct Answers: Equatable {
    var texts: [String] = []

    init(_ ledger: Ledger, customers: some Sequence<Int>) throws {
        for number in customers {
            let state = try ledger.questions.show(
                CustomerQuestion(
                    customer: "u\(number)",
                    environment: .production,
                    point: BitemporalPoint(at: Sample.day(20), knownAt: .everything)
                )
            ).json
            texts.append(state.description)
            let feature = state["features"]?.members?.first?.name ?? "export"
            texts.append(
                try ledger.questions.can(
                    "u\(number)",
                    feature,
                    environment: .production,
                    at: Sample.day(20)
                ).description
            )
            guard !ledger.isReadOnly else { continue }
            // E1: each signal is known.
            let lines = Sample.ownedPurchase("u\(number)", "app_store/\(number)")
            texts += try ledger.appender.record(Sample.submissions(lines)).map { "\($0)" }
        }
    }
}
