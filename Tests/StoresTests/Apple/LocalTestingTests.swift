import Encodings
import Entitlements
import ModelSupport
import StoreSimulator
import Stores
import Testing

struct `Local testing` {
    /// A message that nobody has signed, as StoreKit Test's are for us.
    private static func unsigned(_ payload: JSONValue) throws -> [UInt8] {
        try AppStoreSample.authority.get().sign(
            Array(payload.description.utf8),
            as: SignedForm(headerBytes: Array(#"{"alg":"ES256"}"#.utf8))
        )
    }

    @Test func `stays in a world of its own`() async throws {
        let store = try AppStoreSample.store("LocalTesting")
        let jws = try Self.unsigned(store.transactionPayload(start: AppStoreSample.start))
        let verifier = LocalTestingVerifier(bundleIDs: [store.bundleID])
        let verified = try await verifier.transaction(jws, now: AppStoreSample.now).get()
        let submission = AppStoreMapping.submission(for: verified)
        try AppStoreSample.check(submission)
        #expect(submission.environment == .local)
        // Nobody has verified anything, and the log says so.
        let verdict = submission.events.first { $0.kind == .verificationPassed }
        #expect(verdict?.data.text(.method) == "manual")
        for word in ["Production", "Sandbox"] {
            let other = try Self.unsigned(
                AppStoreSample.store(word).transactionPayload(start: AppStoreSample.start)
            )
            let outcome = await verifier.transaction(other, now: AppStoreSample.now)
            #expect(outcome.refusal == .wrongEnvironment)
        }
        let elsewhere = LocalTestingVerifier(bundleIDs: ["com.example.other"])
        #expect(await elsewhere.transaction(jws, now: AppStoreSample.now).refusal == .wrongBundle)
    }

    @Test func `is refused by the verifier of the App Store, however it is configured`()
        async throws
    {
        let store = try AppStoreSample.store("Xcode")
        let verifier = try AppStoreSample.verifier()
        let signed = try store.transaction(start: AppStoreSample.start)
        #expect(
            await verifier.transaction(signed, now: AppStoreSample.now).refusal
                == .wrongEnvironment
        )
        #expect(throws: InputFault.self) {
            try AppStoreSample.verifier { $0.environments = [.production, .local] }
        }
    }

    // Stores, rule 6
    @Test func `is not said of days to come`() async throws {
        let store = try AppStoreSample.store("Xcode")
        let jws = try Self.unsigned(store.transactionPayload(start: AppStoreSample.start))
        let verifier = LocalTestingVerifier(bundleIDs: [store.bundleID])
        let day = Instant.millisecondsPerDay
        for (lead, code) in [(day, nil), (day + 1, SignalRefusal.Code.futureDate)] {
            let now = AppStoreSample.start.advanced(byMilliseconds: -lead)
            #expect(await verifier.transaction(jws, now: now).refusal == code)
        }
    }

    @Test(.enabled(if: Vectors.arePresent, Comment(rawValue: Vectors.absence)))
    func `reads what Xcode writes`() async throws {
        let verifier = LocalTestingVerifier(
            bundleIDs: ["com.example.naturelab.backyardbirds.example"]
        )
        let transaction = try await verifier.transaction(
            AppStoreVectorCase.text("apple/xcode/xcode-signed-transaction"),
            now: AppStoreSample.now
        ).get()
        // Fractions of a millisecond are cut off.
        #expect(transaction.content.purchaseDate?.milliseconds == 1_697_679_936_049)
        let submission = AppStoreMapping.submission(for: transaction)
        #expect(submission.events.map(\.kind) == [.purchaseCompleted, .verificationPassed])
        #expect(transaction.purchase?.description == "app_store/0")
        let app = try await verifier.appTransaction(
            AppStoreVectorCase.text("apple/xcode/xcode-signed-app-transaction"),
            now: AppStoreSample.now
        ).get()
        // The year 1 stands for an absent date.
        #expect(app.content.originalPurchaseDate == nil)
    }

    /// The decoded payloads of Apple's libraries, read as their own tests read them: unsigned.
    @Test(.enabled(if: Vectors.arePresent, Comment(rawValue: Vectors.absence)))
    func `reads every payload of the peers, and keeps all of it`() async throws {
        let verifier = LocalTestingVerifier(bundleIDs: ["com.example"])
        let transaction = try Vectors.json("apple/models/signedTransaction.json")
        let names: [(String, AppStoreSignalKind)] = [
            ("signedTransaction", .transaction), ("signedTransactionWithRevocation", .transaction),
            ("signedRenewalInfo", .renewalInfo), ("appTransaction", .appTransaction),
            ("signedNotification", .notification), ("signedSummaryNotification", .notification),
            ("signedConsumptionRequestNotification", .notification),
            ("signedRescindConsentNotification", .notification),
        ]
        for (name, kind) in names {
            let json = try Self.filled(Vectors.json("apple/models/\(name).json"))
            let outcome = await verifier.signal(
                try Self.unsigned(json),
                expecting: kind,
                now: AppStoreSample.now
            )
            let signal = try outcome.get()
            let submission = AppStoreMapping.submission(for: signal, body: [])
            try AppStoreSample.check(submission)
            switch signal {
            case .notification(let found): #expect(found.content.json == json)
            case .transaction(let found): #expect(found.content.json == json)
            case .renewalInfo(let found): #expect(found.content.json == json)
            case .appTransaction(let found): #expect(found.content.json == json)
            }
        }
        #expect(transaction["advancedCommerceInfo"] != nil)
    }

    /// The peers write words where nested messages stand.
    private static func filled(_ json: JSONValue) throws -> JSONValue {
        guard let members = json.members else { return json }
        let models = [
            "signedTransactionInfo": "signedTransaction", "signedRenewalInfo": "signedRenewalInfo",
            "signedAppTransactionInfo": "appTransaction",
        ]
        return .object(
            try members.map { member in
                guard let model = models[member.name] else {
                    return JSONMember(member.name, try filled(member.value))
                }
                let jws = try unsigned(Vectors.json("apple/models/\(model).json"))
                return JSONMember(member.name, .string(String(decoding: jws, as: UTF8.self)))
            }
        )
    }
}
