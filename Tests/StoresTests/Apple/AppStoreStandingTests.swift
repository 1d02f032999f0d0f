import Encodings
import Entitlements
import StoreSimulator
import Testing

@testable import Stores

/// What an answer on how subscriptions stand says of grace, retry and end.
struct `How a subscription stands` {
    private static let day: Int64 = 86_400_000
    private static let end = AppStoreSample.start.advanced(byMilliseconds: 30 * day)

    /// The events of an answer that was signed some days behind the end.
    private static func events(
        _ renewal: String,
        days: Int64 = 5,
        other: Bool = false
    ) async throws -> [EventDraft] {
        let store = SimulatedAppStore(authority: try AppStoreSample.authority.get())
        let now = end.advanced(byMilliseconds: days * day)
        let signed = JSONMember("signedDate", .integer(now.milliseconds))
        let changes = try JSONValue(parsing: Array(renewal.utf8)).members ?? []
        let transaction = try store.transaction(
            start: AppStoreSample.start,
            .object([signed] + (other ? [JSONMember("originalTransactionId", "2000000999")] : []))
        )
        let renewalInfo = try store.renewalInfo(
            start: AppStoreSample.start,
            .object([signed] + changes)
        )
        let answer = JSONValue.members([
            "data": .array([
                .members([
                    "lastTransactions": .array([
                        .members([
                            "signedTransactionInfo": .string(
                                String(decoding: transaction, as: UTF8.self)
                            ),
                            "signedRenewalInfo": .string(
                                String(decoding: renewalInfo, as: UTF8.self)
                            ),
                        ])
                    ])
                ])
            ])
        ])
        let outcomes = await AppStoreImport.outcomes(
            of: answer,
            verifier: try AppStoreSample.verifier(),
            now: now
        )
        return try #require(try outcomes.last?.get()).drafts
    }

    private static func at(_ days: Int64) -> Int64 { end.milliseconds + days * day }

    @Test func `tells grace while it lasts`() async throws {
        let events = try await Self.events(
            #"{"gracePeriodExpiresDate":\#(Self.at(16)),"isInBillingRetryPeriod":true}"#
        )
        #expect(events.map(\.kind) == [.purchaseRenewalChanged, .purchaseGraceStarted])
        #expect(events.last?.time == Self.end)
        #expect(events.last?.data.instant(.graceUntil)?.milliseconds == Self.at(16))
    }

    @Test func `tells of a retry behind the grace, or at once`() async throws {
        let behind = try await Self.events(
            #"{"gracePeriodExpiresDate":\#(Self.at(3)),"isInBillingRetryPeriod":true}"#
        )
        #expect(
            behind.map(\.kind) == [
                .purchaseRenewalChanged, .purchaseGraceStarted, .purchaseRetryStarted,
            ]
        )
        #expect(behind.last?.time.milliseconds == Self.at(3))
        #expect(behind.last?.observedAt.milliseconds == Self.at(5))
        let atOnce = try await Self.events(#"{"isInBillingRetryPeriod":true}"#)
        #expect(atOnce.map(\.kind) == [.purchaseRenewalChanged, .purchaseRetryStarted])
        #expect(atOnce.last?.time == Self.end)
        // Stores, rule 7: there may have been a grace, and whoever told of it did so since (P4).
        let saidAt = try #require(atOnce.last?.observedAt)
        let grace = AppStoreSample.start.saidWeakly(until: Self.end.advanced(byMilliseconds: 16))
        #expect(saidAt < grace && grace < AppStoreSample.start)
    }

    // Stores, rule 7: no earlier than it is said
    @Test func `tells of the end, with its reason`() async throws {
        let events = try await Self.events(#"{"expirationIntent":1,"autoRenewStatus":0}"#)
        #expect(events.map(\.kind) == [.purchaseRenewalChanged, .purchaseExpired])
        #expect(events.last?.time.milliseconds == Self.at(5))
        #expect(events.last?.data.text(.reason) == "voluntary")
        // It has not ended yet.
        let before = try await Self.events(#"{"expirationIntent":1,"autoRenewStatus":0}"#, days: -5)
        #expect(before.map(\.kind) == [.purchaseRenewalChanged])
    }

    @Test func `says nothing of another purchase's end`() async throws {
        let events = try await Self.events(
            #"{"expirationIntent":1,"gracePeriodExpiresDate":\#(Self.at(16))}"#,
            other: true
        )
        #expect(events.map(\.kind) == [.purchaseRenewalChanged])
    }

    // Stores, rule 6
    @Test func `with an absurd date is noted`() async throws {
        let events = try await Self.events(#"{"gracePeriodExpiresDate":-1}"#)
        #expect(events.map(\.kind) == [.signalNoted])
    }
}
