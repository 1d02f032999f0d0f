import Encodings
import Entitlements
import EventLog
import Stores
import Testing

@testable import EntitlementLedger

/// What a store was asked for, that is handed in again: named by what it says, so that it may be so again
/// (E1, T2).
struct `An answer that is handed in again` {
    /// What RevenueCat says on a day of a subscription: that it renews, or does not.
    private static func answer(on day: Int64, renews: Bool) throws -> Submission {
        let answers = try RevenueCatStory.subscriber(
            [(1, "GPA.1", 1, 61)],
            on: day,
            renews ? "{}" : #"{"unsubscribe_detected_at":"\#(Sample.day(41))"}"#
        )
        return try #require(answers.first)
    }

    private static func willRenew(_ scratch: ScratchLedger) throws -> Bool? {
        try scratch.show("alice", at: Sample.day(50))["purchases"]?.array?.first?["willRenew"]?.bool
    }

    private static func isAppended(_ receipt: Receipt) -> Bool {
        if case .appended = receipt { true } else { false }
    }

    // Together and one by one, and the whole again
    @Test(arguments: [true, false])
    func `counts where its source has said something else since`(_ together: Bool) async throws {
        let answers = try [(40, true), (41, false), (42, true), (43, true)].map {
            try Self.answer(on: $0.0, renews: $0.1)
        }
        #expect(answers[0].id == answers[2].id)
        try await ScratchLedger.with { scratch in
            let appender = try scratch.ledger.appender
            func record() throws -> [Receipt] {
                together ? try appender.record(answers) : try answers.map(appender.record)
            }
            #expect(try record().map(Self.isAppended) == [true, true, true, false])
            #expect(try Self.willRenew(scratch) == true)
            let size = try scratch.ledger.questions.size()
            #expect(try !record().contains(where: Self.isAppended))
            #expect(try scratch.ledger.questions.size() == size)
            try scratch.reopenWithoutViews()
            #expect(try Self.willRenew(scratch) == true)
        }
    }

    // Decided before what it says no to is recorded
    @Test func `counts behind what comes with it`() async throws {
        try await ScratchLedger.with { scratch in
            let appender = try scratch.ledger.appender
            let answers = try [(40, true), (41, false), (42, true)].map {
                try Self.answer(on: $0.0, renews: $0.1)
            }
            #expect(Self.isAppended(try appender.record(answers[0])))
            #expect(try appender.record(Array(answers[1...])).map(Self.isAppended) == [true, true])
            #expect(try Self.willRenew(scratch) == true)
        }
    }

    // Z6; Storage: nothing more than a repeat, of whoever is erased
    @Test func `of an erased purchase gives its name no number again`() async throws {
        try await ScratchLedger.with { scratch in
            let ledger = scratch.ledger
            let vault = try ledger.appender.pipeline.vault
            let answer = try Self.answer(on: 40, renews: true)
            #expect(Self.isAppended(try ledger.appender.record(answer)))
            let names = answer.drafts.map { StreamName($0.subject, in: .production) }
            #expect(try names.allSatisfy { try vault.stream(of: $0) != nil })
            _ = try ledger.eraser.erase(
                ["alice"],
                Request(id: "e", source: Source.support, environment: .production),
                reading: StoredEvidenceNames()
            )
            guard case .duplicate = try ledger.appender.record(answer) else {
                Issue.record("it was recorded before")
                return
            }
            let other = Sample.ownedPurchase("bob", "app_store/9")
            _ = try ledger.appender.record(Sample.submissions(other))
            #expect(try names.allSatisfy { try vault.stream(of: $0) == nil })
        }
    }

    @Test func `is a repeat where what came since is older, or another source's`() async throws {
        try await ScratchLedger.with { scratch in
            let appender = try scratch.ledger.appender
            let first = try appender.record(try Self.answer(on: 41, renews: true))
            guard case .appended(let sequence, _) = first else {
                Issue.record("\(first)")
                return
            }
            #expect(Self.isAppended(try appender.record(try Self.answer(on: 40, renews: false))))
            let again = try Self.answer(on: 42, renews: true)
            #expect(try appender.record(again) == .duplicate(of: sequence))
            _ = try appender.record(
                Submission(
                    event: try Sample.event(
                        "off",
                        "purchase.renewal_changed",
                        "purchase/play_store/GPA.1",
                        data: #"{"autoRenew":false}"#,
                        time: Sample.day(43)
                    )
                )
            )
            let later = try Self.answer(on: 44, renews: true)
            #expect(try appender.record(later) == .duplicate(of: sequence))
            // The control: RevenueCat's own word.
            #expect(Self.isAppended(try appender.record(try Self.answer(on: 45, renews: false))))
            #expect(
                Self.isAppended(try appender.record(try Self.answer(on: 46, renews: true)))
            )
        }
    }
}
