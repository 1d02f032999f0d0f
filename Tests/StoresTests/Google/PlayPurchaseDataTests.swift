import Encodings
import Entitlements
import ModelSupport
import StoreSimulator
import Testing

@testable import Stores

struct `Purchase data that Google Play signed` {
    // row 7.3
    @Test func `gives what was bought for good, and proves who said so`() throws {
        let store = try PlaySample.store.get()
        let text = store.purchaseData(
            at: PlaySample.start,
            try PlaySample.json(#"{"purchaseToken":"t1","obfuscatedAccountId":"alice"}"#)
        )
        let submission = try PlaySample.submission(store.signed(text))
        #expect(
            PlaySample.lines(submission) == [
                #"purchase.completed t1@P {"transactionId":"GPA.3300-0000-0000-00001","#
                    + #""productId":"com.example.app.lifetime","productKind":"non_consumable","#
                    + #""quantity":1,"ownership":"purchased","account":"alice"}"#,
                #"verification.passed t1@P {"transactionId":"GPA.3300-0000-0000-00001","#
                    + #""method":"play_signature"}"#,
                // By its order RevenueCat calls it (P13).
                #"purchase.linked t1@P {"alias":"play_store/GPA.3300-0000-0000-00001"}"#,
            ]
        )
        #expect(submission.id.hasPrefix("purchase-data/"))
        #expect(submission.named.contains(.customer("alice")))
    }

    static let waiting = [
        #"{"autoRenewing":true}"#, #"{"purchaseState":4}"#, #"{"purchaseState":2}"#,
    ]

    // It does not say how long a subscription lasts: without end would be access for ever.
    @Test(arguments: waiting)
    func `of a subscription, or not paid yet, waits`(_ changes: String) throws {
        let store = try PlaySample.store.get()
        let text = store.purchaseData(at: PlaySample.start, try PlaySample.json(changes))
        let kinds = try PlaySample.submission(store.signed(text)).events.map(\.kind.name)
        #expect(kinds == ["purchase.pending"])
    }

    static let noted = [
        #"{"purchaseState":1}"#, #"{"purchaseState":"0x"}"#, #"{"purchaseTime":1}"#,
        #"{"productId":null}"#,
    ]

    @Test(arguments: noted)
    func `that cannot be used is kept`(_ changes: String) throws {
        let store = try PlaySample.store.get()
        let text = store.purchaseData(at: PlaySample.start, try PlaySample.json(changes))
        let kinds = try PlaySample.submission(store.signed(text)).events.map(\.kind.name)
        #expect(kinds == ["signal.noted"])
    }

    // Stores, rule 6: a time ahead of its arrival is absurd, but for a clock's error
    @Test func `that was bought more than a day ahead is kept, and gives nothing`() throws {
        let store = try PlaySample.store.get()
        func lines(after milliseconds: Int64) throws -> [String] {
            let bought = PlaySample.told.advanced(byMilliseconds: milliseconds)
            return PlaySample.lines(
                try PlaySample.submission(store.signed(store.purchaseData(at: bought)))
            )
        }
        let ahead = try lines(after: Instant.millisecondsPerDay + 1)
        #expect(ahead.count == 1 && ahead[0].contains("purchaseTime lies ahead"), "\(ahead)")
        let soon = try lines(after: Instant.millisecondsPerDay)
        #expect(soon.first?.hasPrefix("purchase.completed") == true, "\(soon)")
    }

    @Test func `altered, foreign, or unsigned is refused`() throws {
        let store = try PlaySample.store.get()
        let text = store.purchaseData(at: PlaySample.start)
        let signed = try store.signed(text)
        func refusal(_ changes: [JSONMember]) throws -> SignalRefusal? {
            let names = Set(changes.map(\.name))
            let kept = (signed.members ?? []).filter { !names.contains($0.name) }
            return try PlaySample.refusal(.object(kept + changes))
        }
        #expect(try refusal([]) == nil)
        let altered = text.replacing("lifetime-1", with: "lifetime-2")
        #expect(altered != text)
        #expect(try refusal([JSONMember("purchaseData", .string(altered))])?.code == .badSignature)
        #expect(
            try refusal([JSONMember("purchaseData", .string(text + " "))])?.code == .badSignature
        )
        #expect(try refusal([JSONMember("signature", "AAAA")])?.code == .badSignature)
        #expect(try refusal([JSONMember("signature", "%")])?.code == .notSigned)
        #expect(try refusal([JSONMember("signature", "")])?.code == .notSigned)
        #expect(try refusal([JSONMember("signature", .null)])?.code == .malformed)
        let long = String(repeating: "a", count: UnverifiedPlayPurchase.dataByteLimit + 1)
        #expect(try refusal([JSONMember("purchaseData", .string(long))])?.code == .tooLarge)
        // Another store's key.
        let other = try SimulatedPlayStore().signed(text)
        #expect(try PlaySample.refusal(other)?.code == .badSignature)
        // Signed well, for another app.
        var foreign = store
        foreign.packageName = "com.example.other"
        let theirs = try store.signed(foreign.purchaseData(at: PlaySample.start))
        #expect(try PlaySample.refusal(theirs)?.code == .wrongBundle)
        #expect(try PlaySample.refusal(store.signed("[]"))?.code == .wrongBundle)
        #expect(try PlaySample.refusal(store.signed("{"))?.code == .malformed)
    }

    // The verdicts of awa/go-iap. Its key has 1 024 bits, which no configuration takes.
    @Test(.enabled(if: Vectors.arePresent, "\(Vectors.absence)"))
    func `is judged as a peer judges it`() throws {
        let file = try Vectors.json("google/signature/go-iap-verify-signature.json")
        let cases = try #require(file["cases"]?.array)
        #expect(cases.count == 5)
        var accepted = 0
        for entry in cases {
            let name = entry["name"]?.string ?? ""
            let text = try #require(entry["publicKeyBase64SPKI"]?.string)
            #expect(PlayLicenseKey(base64: text) == nil, "\(name): a short key is taken")
            let key = PlayLicenseKey(base64: text, bitMinimum: 1024)
            let signature = entry["signatureBase64"]?.string.flatMap { Base64.decode($0) }
            let data = Array(try #require(entry["signedData"]?.string).utf8)
            let isValid = key.flatMap { key in signature.map { key.accepts($0, over: data) } }
            #expect((isValid ?? false) == entry["expectedValid"]?.bool, "\(name)")
            if isValid == true { accepted += 1 }
        }
        #expect(accepted == 1)
    }

    // The forms of two sample apps: what Google signs of them counts once it is signed, and what a sample's own
    // server says of a subscription is no message of Google's.
    @Test(.enabled(if: Vectors.arePresent, "\(Vectors.absence)"))
    func `of sample apps is taken where it is signed`() throws {
        let store = try PlaySample.store.get()
        for name in ["purchase_info", "transaction_details"] {
            let bytes = try Vectors.bytes("google/anjlab/\(name).json")
            let signed = try store.signed(String(decoding: bytes, as: UTF8.self))
            #expect(
                try PlaySample.submission(signed).events.map(\.kind.name) == [
                    "purchase.completed", "verification.passed", "purchase.linked",
                ]
            )
            #expect(try PlaySample.refusal(JSONValue(parsing: bytes)) != nil, "unsigned")
        }
        for name in ["purchase_history_response", "sku_subscription"] {
            let bytes = try Vectors.bytes("google/anjlab/\(name).json")
            let signed = try store.signed(String(decoding: bytes, as: UTF8.self))
            #expect(try PlaySample.refusal(signed)?.code == .wrongBundle)
        }
        let statuses = [
            "accounthold", "basic", "canceled", "empty", "graceperiod", "premium", "unrecognized",
            "unrecognizedbasic",
        ]
        for name in statuses + ["invalid"] {
            let bytes = try Vectors.bytes("google/classytaxi/\(name).json")
            let read = PlayMapping.facts(
                ofAnswer: bytes,
                packageNames: [Name(store.packageName)],
                now: PlaySample.told
            )
            guard case .failure(let refusal) = read else {
                Issue.record("\(name) is taken")
                continue
            }
            #expect(refusal.code == (name == "invalid" ? .malformed : .missingField), "\(name)")
        }
    }

    @Test func `is judged again by the app's key`() async throws {
        let store = try PlaySample.store.get()
        let submission = try PlaySample.submission(
            store.signed(store.purchaseData(at: PlaySample.start))
        )
        let evidence = try #require(submission.evidence)
        let event = submission.events[0]
        func verdict(
            _ evidence: [UInt8],
            _ configuration: PlayConfiguration?
        ) async -> EvidenceVerdict {
            await StoredEvidenceVerifier(appStore: nil, playStore: configuration)
                .verdict(on: evidence, of: event, recordedAt: PlaySample.told)
        }
        let configuration = try PlaySample.configuration()
        #expect(await verdict(evidence, configuration) == .verified)
        #expect(await verdict(evidence, nil) == .unchecked)
        let other = try store.signed(
            store.purchaseData(at: PlaySample.start, try PlaySample.json(#"{"quantity":2}"#))
        )
        #expect(
            await verdict(Array(other.description.utf8), configuration)
                == .refused(code: "other_signal")
        )
        let keyless = PlayConfiguration(packageNames: [Name(store.packageName)])
        #expect(await verdict(evidence, keyless) == .refused(code: "bad_signature"))
        #expect(await verdict(Array("{}".utf8), configuration) == .unsigned)
    }
}
