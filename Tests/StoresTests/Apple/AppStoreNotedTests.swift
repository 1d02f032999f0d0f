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

    // Trap 2, Stores, rule 6
    @Test(arguments: [
        ("DID_RENEW", nil, #""expiresDate":5"#, "", "expiresDate"),
        ("EXPIRED", "VOLUNTARY", #""revocationDate":9999999999999999"#, "", "revocationDate"),
        ("SUBSCRIBED", "INITIAL_BUY", #""type":"New""#, "", "type"),
    ])
    func `is noted with a reason if it makes no sense`(
        _ type: String,
        _ subtype: String?,
        _ transaction: String,
        _ renewal: String,
        _ detail: String
    ) async throws {
        let submission = try await AppStoreSample.submission(
            type,
            subtype,
            transaction: transaction,
            renewal: renewal
        )
        #expect(submission.events.map(\.kind) == [.signalNoted])
        let event = try #require(submission.events.first)
        #expect(event.data.text(.detail)?.contains(detail) == true)
        #expect(event.subject.kind == .purchase)
    }

    // Stores, rule 5: a known type whose own part is missing or absurd
    @Test(arguments: [
        ("DID_FAIL_TO_RENEW", nil, #""expiresDate":9999999999999999"#, "", "without end"),
        ("DID_FAIL_TO_RENEW", "GRACE_PERIOD", "", "", "gracePeriodExpiresDate is missing"),
        ("DID_FAIL_TO_RENEW", "GRACE_PERIOD", "", #""gracePeriodExpiresDate":5"#, "gracePeriod"),
    ])
    func `is noted with a reason beside what is signed`(
        _ type: String,
        _ subtype: String?,
        _ transaction: String,
        _ renewal: String,
        _ detail: String
    ) async throws {
        let submission = try await AppStoreSample.submission(
            type,
            subtype,
            transaction: transaction,
            renewal: renewal
        )
        #expect(
            submission.events.map(\.kind) == [
                .purchaseCompleted, .verificationPassed, .signalNoted, .purchaseRenewalChanged,
            ]
        )
        let note = try #require(submission.events.first { $0.kind == .signalNoted })
        #expect(note.data.text(.detail)?.contains(detail) == true)
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
