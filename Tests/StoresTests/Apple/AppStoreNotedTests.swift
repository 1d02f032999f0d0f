import Entitlements
import Stores
import Testing

struct `A notification that changes nothing` {
    // Trap 22, Stores, rule 5
    @Test func `is noted beside what is signed if its type is not known`() async throws {
        let submission = try await AppStoreSample.submission(
            "SOMETHING_NEW",
            "SUB",
            transaction: #""appAccountToken":"7e3fb20b-4cdb-47cc-936d-99d65f608138""#
        )
        let lines = AppStoreSample.lines(submission)
        #expect(lines.contains(#"signal.noted o1@S {"name":"something_new_sub"}"#))
        // What is signed in it counts as in any other.
        #expect(submission.events.map(\.kind).contains(.purchaseCompleted))
        #expect(submission.events.map(\.kind).contains(.verificationPassed))
        #expect(submission.accounts == ["7e3fb20b-4cdb-47cc-936d-99d65f608138"])
    }

    /// What makes no sense, with what the note says of it.
    private struct Nonsense: Sendable {
        var type: String
        var subtype: String?
        var transaction = ""
        var renewal = ""
        var detail: String
        /// Whether nothing else of the message counts.
        var isWhole = true
    }

    private static let nonsense = [
        // Trap 2, Stores, rule 6
        Nonsense(type: "DID_RENEW", transaction: #""expiresDate":5"#, detail: "expiresDate"),
        Nonsense(
            type: "EXPIRED",
            subtype: "VOLUNTARY",
            transaction: #""revocationDate":9999999999999999"#,
            detail: "revocationDate"
        ),
        Nonsense(
            type: "SUBSCRIBED",
            subtype: "INITIAL_BUY",
            transaction: #""type":"New""#,
            detail: "type"
        ),
        // Stores, rule 5: a known type whose own part is missing or absurd
        Nonsense(
            type: "DID_FAIL_TO_RENEW",
            transaction: #""expiresDate":9999999999999999"#,
            detail: "without end",
            isWhole: false
        ),
        Nonsense(
            type: "DID_FAIL_TO_RENEW",
            subtype: "GRACE_PERIOD",
            detail: "gracePeriodExpiresDate is missing",
            isWhole: false
        ),
        Nonsense(
            type: "DID_FAIL_TO_RENEW",
            subtype: "GRACE_PERIOD",
            renewal: #""gracePeriodExpiresDate":5"#,
            detail: "gracePeriod",
            isWhole: false
        ),
    ]

    @Test(arguments: nonsense)
    private func `is noted with a reason if it makes no sense`(
        _ nonsense: Nonsense
    ) async throws {
        let submission = try await AppStoreSample.submission(
            nonsense.type,
            nonsense.subtype,
            transaction: nonsense.transaction,
            renewal: nonsense.renewal
        )
        let signed: [EventKind] = [
            .purchaseCompleted, .verificationPassed, .signalNoted, .purchaseRenewalChanged,
        ]
        let kinds = submission.events.map(\.kind)
        #expect(kinds == (nonsense.isWhole ? [.signalNoted] : signed))
        let note = try #require(submission.events.first { $0.kind == .signalNoted })
        #expect(note.data.text(.detail)?.contains(nonsense.detail) == true)
        #expect(note.subject.kind == .purchase)
    }

    // Stores, rule 5
    @Test func `is noted beside the renewal info if that alone is signed`() async throws {
        let submission = try await AppStoreSample.submission(
            "DID_CHANGE_RENEWAL_PREF",
            "DOWNGRADE",
            transaction: nil
        )
        #expect(
            AppStoreSample.lines(submission) == [
                #"signal.noted o1@S {"name":"did_change_renewal_pref","#
                    + #""detail":"signedTransactionInfo is missing"}"#,
                #"purchase.renewal_changed o1@S {"autoRenew":true,"nextProductId":"pro"}"#,
            ]
        )
    }

    @Test func `is noted if it lacks the transaction that it is about`() async throws {
        for (type, subtype) in AppStoreMapping.knownTypes {
            let submission = try await AppStoreSample.submission(
                type,
                subtype.isEmpty ? nil : subtype,
                transaction: nil,
                renewal: nil
            )
            #expect(submission.events.map(\.kind) == [.signalNoted], "\(type) \(subtype)")
        }
    }
}
