import Encodings
import Entitlements
import StoreSimulator
import Stores
import Testing

/// Members of a transaction, and fields of what it comes to.
struct TransactionRow: Sendable, CustomTestStringConvertible {
    let changes: String
    let expected: [String]

    init(_ changes: String, _ expected: String...) {
        self.changes = changes
        self.expected = expected
    }

    var testDescription: String { changes }
}

struct `A transaction that is handed in` {
    static func submission(_ changes: String = "") async throws -> Submission {
        let jws = try AppStoreSample.store().transaction(
            start: AppStoreSample.start,
            AppStoreSample.json(changes)
        )
        let verified = try await AppStoreSample.verifier()
            .transaction(jws, now: AppStoreSample.now).get()
        let submission = AppStoreMapping.submission(for: verified)
        try AppStoreSample.check(submission)
        #expect(submission.evidence == jws)
        return submission
    }

    /// `field=value` for each field of a row's events.
    private static func fields(_ submission: Submission) -> [String] {
        submission.events.flatMap { event in
            [event.kind.name] + (event.dataJSON.members ?? []).map { "\($0.name)=\($0.value)" }
        }
    }

    static let rows: [TransactionRow] = [
        TransactionRow("", "purchase.completed", "priceMicros=9990000", "quantity=1"),
        TransactionRow(#""transactionReason":"RENEWAL""#, "purchase.renewed"),
        TransactionRow(#""transactionReason":null"#, "purchase.completed"),
        // Older transactions do not give their reason.
        TransactionRow(
            #""transactionReason":null,"originalTransactionId":"1""#,
            "purchase.renewed"
        ),
        TransactionRow(
            #""type":"Consumable","expiresDate":null,"quantity":7"#,
            "productKind=\"consumable\"",
            "quantity=7"
        ),
        TransactionRow(
            #""type":"Non-Consumable","expiresDate":null"#,
            "productKind=\"non_consumable\""
        ),
        TransactionRow(
            #""type":"Non-Renewing Subscription","expiresDate":null"#,
            "productKind=\"non_renewing\""
        ),
        // Trap 17: thousandths, for every currency.
        TransactionRow(
            #""price":230000,"currency":"JPY""#,
            "priceMicros=230000000",
            "currencyCode=\"JPY\""
        ),
        TransactionRow(#""price":0"#, "priceMicros=0"),
        // Trap 6
        TransactionRow(#""inAppOwnershipType":"FAMILY_SHARED""#, "ownership=\"family_shared\""),
        // Trap 11
        TransactionRow(#""offerType":1,"offerDiscountType":"FREE_TRIAL""#, "offer=\"trial\""),
        TransactionRow(#""offerType":1,"price":0"#, "offer=\"trial\""),
        TransactionRow(
            #""offerType":1,"offerDiscountType":"PAY_UP_FRONT""#,
            "offer=\"introductory\""
        ),
        TransactionRow(#""offerType":2"#, "offer=\"promotional\""),
        TransactionRow(#""offerType":3"#, "offer=\"code\""),
        TransactionRow(#""offerType":4"#, "offer=\"win_back\""),
        // Trap 5: the same transaction, now with a revocation.
        TransactionRow(
            #""revocationDate":1768003200000,"revocationReason":0"#,
            "purchase.completed",
            "revocation.refunded",
            "reason=\"other\""
        ),
        TransactionRow(
            #""revocationDate":1768003200000,"revocationReason":7,"revocationType":"NEW""#,
            "revocation.refunded",
            "reason=\"reason_7\""
        ),
        TransactionRow(
            #""revocationDate":1768003200000,"inAppOwnershipType":"FAMILY_SHARED""#,
            "revocation.revoked"
        ),
        TransactionRow(
            #""revocationDate":1768003200000,"revocationType":"FAMILY_REVOKE""#,
            "revocation.revoked"
        ),
        TransactionRow(
            #""revocationDate":1768003200000,"revocationType":"REFUND_PRORATED","#
                + #""revocationPercentage":33333"#,
            "revocation.refunded",
            "priceMicros=3329967"
        ),
    ]

    // row 2.3, row 6.3
    @Test(arguments: rows)
    func `says what it holds`(_ row: TransactionRow) async throws {
        let fields = try await Self.fields(Self.submission(row.changes))
        for expected in row.expected {
            #expect(fields.contains(expected), "\(expected) in \(fields)")
        }
        #expect(fields.contains("method=\"app_store_jws\""))
    }

    // Stores, rule 7
    @Test func `that another plan replaced ends when that is signed`() async throws {
        let submission = try await Self.submission(#""isUpgraded":true"#)
        #expect(
            submission.events.map(\.kind) == [
                .purchaseCompleted, .verificationPassed, .purchaseExpired,
            ]
        )
        let end = try #require(submission.events.last)
        #expect(
            end.data.text(.transactionID) == submission.events[0].data.text(.transactionID)
                && end.data.text(.reason) == "upgraded"
        )
        #expect(end.time == end.observedAt && end.observedAt == submission.events[0].observedAt)
    }

    /// Members that no field holds: left out, and the purchase stands.
    @Test(arguments: [
        #""price":9223372036854775807"#, #""price":"9.99""#, #""price":1e400"#,
        #""currency":"usd""#, #""quantity":0"#, #""quantity":-1"#,
        #""offerType":9,"offerDiscountType":"NEW""#, #""inAppOwnershipType":"NEW""#,
        #""storefront":7"#, #""transactionReason":"NEW""#, #""revocationPercentage":50000"#,
        #""isUpgraded":"yes""#, #""advancedCommerceInfo":{"items":[{"a":[1.5e3,null]}]}"#,
    ])
    func `is not lost for a value that is not known`(_ changes: String) async throws {
        let submission = try await Self.submission(changes)
        #expect(
            submission.events.map(\.kind) == [.purchaseCompleted, .verificationPassed]
        )
    }

    /// Stores, rule 6: what decides on access must make sense, or nothing is changed.
    @Test(arguments: [
        #""purchaseDate":null"#, #""purchaseDate":-1"#, #""purchaseDate":7258118400000"#,
        #""purchaseDate":1e300"#, #""expiresDate":null"#, #""expiresDate":0"#,
        #""expiresDate":"2026""#, #""revocationDate":1"#, #""revocationDate":9e18"#,
        #""type":"Something New""#, #""type":null"#,
        #""productId":"""#, #""productId":null"#, #""transactionId":"a\u0000""#,
    ])
    func `is noted if it makes no sense`(_ changes: String) async throws {
        let submission = try await Self.submission(changes)
        #expect(submission.events.map(\.kind) == [.signalNoted])
        #expect(submission.events.first?.data.text(.name) == "transaction")
        #expect(submission.events.first?.subject.kind == .purchase)
        #expect(submission.accounts.isEmpty)
    }

    @Test func `ends never if it ends after 2200`() async throws {
        let submission = try await Self.submission(#""expiresDate":7258118400000"#)
        let period = try #require(submission.events.first)
        #expect(period.kind == .purchaseCompleted && period.data[.expiresAt] == nil)
        let control = try await Self.submission(#""expiresDate":7258118399999"#)
        #expect(control.events.first?.data[.expiresAt] != nil)
    }

    // row CL1; Stores, rule 7
    @Test func `names its owner by a token in lower case`() async throws {
        let token = "7E3FB20B-4CDB-47CC-936D-99D65F608138"
        let submission = try await Self.submission(
            #""appAccountToken":"\#(token)","originalPurchaseDate":1700000000000,"#
                + #""originalTransactionId":"1""#
        )
        #expect(submission.accounts == ["7e3fb20b-4cdb-47cc-936d-99d65f608138"])
        for none in [
            "null", "7", "\"\"", "\"7e3fb20b\"", "\"00000000-0000-0000-0000-000000000000\"",
            "\"7e3fb20b-4cdb-47cc-936d-99d65f60813g\"", "\"7e3fb20b+4cdb-47cc-936d-99d65f608138\"",
        ] {
            let submission = try await Self.submission(#""appAccountToken":\#(none)"#)
            #expect(submission.accounts.isEmpty, "\(none)")
            #expect(submission.events.count == 2)
        }
    }

    @Test func `is one signal by its bytes`() async throws {
        let first = try await Self.submission()
        // Signed anew: another signature, and so other bytes.
        let second = try await Self.submission()
        #expect(first.id != second.id)
        #expect(first.id.hasPrefix("transaction/") && first.id.utf8.count == 12 + 64)
        #expect(first.events.map(\.data) == second.events.map(\.data))
    }

    @Test func `keeps what is not known yet`() async throws {
        let changes = try AppStoreSample.json(
            #""newField":{"a":[1.50,"x"]},"type":"New Kind","environment":"Production""#
        )
        let jws = try AppStoreSample.store().transaction(
            start: AppStoreSample.start,
            changes
        )
        let verified = try await AppStoreSample.verifier()
            .transaction(jws, now: AppStoreSample.now).get()
        #expect(verified.content.type == "New Kind")
        #expect(verified.content.json["newField"] == changes["newField"])
        #expect(verified.content.json["newField"]?["a"]?.array?.first == .number("1.50"))
    }
}

struct `Other things that the App Store signs` {
    @Test func `become what they say`() async throws {
        let store = try AppStoreSample.store()
        let verifier = try AppStoreSample.verifier()
        let renewal = try await verifier.renewalInfo(
            store.renewalInfo(
                start: AppStoreSample.start,
                AppStoreSample.json(
                    #""autoRenewStatus":0,"autoRenewProductId":"com.example.app.pro.year""#
                )
            ),
            now: AppStoreSample.now
        ).get()
        let changed = AppStoreMapping.submission(for: renewal)
        try AppStoreSample.check(changed)
        #expect(
            AppStoreSample.lines(changed) == [
                #"purchase.renewal_changed o1@P {"autoRenew":false,"#
                    + #""nextProductId":"com.example.app.pro.year"}"#
            ]
        )
        #expect(renewal.purchase?.originalID == "2000000100000001")
    }

    @Test func `are noted if they say nothing of a purchase`() async throws {
        let store = try AppStoreSample.store()
        let verifier = try AppStoreSample.verifier()
        let payload = JSONValue.members([
            "receiptType": "Production", "appAppleId": .integer(store.appAppleID),
            "bundleId": .string(store.bundleID),
            "receiptCreationDate": .integer(AppStoreSample.start.milliseconds),
            "originalApplicationVersion": "1.0", "appTransactionId": "704",
        ])
        let app = try await verifier.appTransaction(
            store.authority.sign(payload),
            now: AppStoreSample.now
        ).get()
        #expect(app.content.originalApplicationVersion == "1.0")
        let submission = AppStoreMapping.submission(for: app)
        try AppStoreSample.check(submission)
        #expect(
            AppStoreSample.lines(submission)
                == [#"signal.noted store/app_store@P {"name":"app_transaction"}"#]
        )
        let other = try AppStoreSample.verifier { $0.appAppleID = 1 }
        #expect(
            await other.appTransaction(app.jws, now: AppStoreSample.now).refusal == .wrongApp
        )
    }
}
