import Encodings
import Entitlements
import StoreSimulator
import Stores
import Testing

struct `A notification of the App Store` {
    static let start = AppStoreSample.start

    /// What is wrong with a notification: members of its payload and of its parts.
    static let rows: [(name: String, [String], SignalRefusal.Code?, path: String)] = [
        ("nothing", ["", "", ""], nil, ""),
        (
            "another app", [#""bundleId":"com.example.other""#, "", ""], .wrongBundle,
            "data.bundleId"
        ),
        ("another id in the store", [#""appAppleId":1"#, "", ""], .wrongApp, "data.appAppleId"),
        ("no id in the store", [#""appAppleId":null"#, "", ""], .wrongApp, "data.appAppleId"),
        (
            "an environment that is not accepted", [#""environment":"Xcode""#, "", ""],
            .wrongEnvironment, "data.environment"
        ),
        (
            "a transaction of another app", ["", #""bundleId":"com.example.other""#, ""],
            .wrongBundle, "data.signedTransactionInfo.bundleId"
        ),
        (
            "a transaction of another accepted app", ["", #""bundleId":"com.example.app2""#, ""],
            .disagreement, "data.bundleId"
        ),
        (
            "a transaction of another world", ["", #""environment":"Sandbox""#, ""],
            .disagreement, "data.environment"
        ),
        (
            "renewal info of another world", ["", "", #""environment":"Sandbox""#],
            .disagreement, "data.environment"
        ),
        (
            "renewal info of another purchase", ["", "", #""originalTransactionId":"1""#],
            .disagreement, "data.signedRenewalInfo"
        ),
        (
            "a transaction from the future", ["", #""signedDate":1830000000000"#, ""],
            .futureDate, "data.signedTransactionInfo.payload"
        ),
    ]

    // row 7.4
    @Test(arguments: rows)
    func `is refused whole if it disagrees with what it holds`(
        _ row: (name: String, [String], SignalRefusal.Code?, path: String)
    ) async throws {
        let store = try AppStoreSample.store()
        var payload = store.notificationPayload(
            "DID_RENEW",
            signedAt: Self.start,
            transaction: try store.transaction(start: Self.start, AppStoreSample.json(row.1[1])),
            renewalInfo: try store.renewalInfo(start: Self.start, AppStoreSample.json(row.1[2]))
        )
        payload = try Self.changed(payload, data: row.1[0])
        let verifier = try AppStoreSample.verifier {
            $0.bundleIDs.insert("com.example.app2")
        }
        let jws = try store.authority.sign(payload)
        let outcome = await verifier.notification(jws, now: AppStoreSample.now)
        #expect(outcome.refusal == row.2, "\(outcome)")
        if case .failure(let refusal) = outcome { #expect(refusal.path == row.path) }
    }

    /// Replaces members of `data`.
    private static func changed(_ payload: JSONValue, data changes: String) throws -> JSONValue {
        let changed = try AppStoreSample.json(changes).members ?? []
        let members = (payload.members ?? []).map { member in
            guard member.name == "data" else { return member }
            let kept = (member.value.members ?? []).filter { old in
                !changed.contains { $0.name == old.name }
            }
            return JSONMember("data", .object(kept + changed))
        }
        return .object(members)
    }

    @Test func `has its parts verified like itself`() async throws {
        let store = try AppStoreSample.store()
        let other = try SimulatedAppStore(
            authority: SigningAuthority(validity: AppStoreSample.validity)
        )
        var forged = try store.transaction(start: Self.start)
        forged[forged.count - 20] ^= 1
        let parts: [([UInt8], SignalRefusal.Code?)] = [
            (try store.transaction(start: Self.start), nil), (forged, .badSignature),
            (try other.transaction(start: Self.start), .untrustedRoot),
            (try store.renewalInfo(start: Self.start), .invalidValue),
            (Array("text".utf8), .malformed),
        ]
        for (part, code) in parts {
            let jws = try store.authority.sign(
                store.notificationPayload("DID_RENEW", signedAt: Self.start, transaction: part)
            )
            let outcome = try await AppStoreSample.verifier()
                .notification(jws, now: AppStoreSample.now)
            // A flipped bit of the last digits may break the base64url as well.
            #expect(
                outcome.refusal == code || (code == .badSignature && outcome.refusal == .malformed),
                "\(outcome)"
            )
        }
    }

    @Test(arguments: [
        (#""data":null"#, SignalRefusal.Code.missingField),
        (#""summary":{}"#, .disagreement), (#""notificationUUID":null"#, .invalidValue),
        (#""notificationUUID":"a\u0000b""#, .invalidValue),
        (#""notificationType":null"#, .invalidValue), (#""signedDate":null"#, .missingField),
    ])
    func `has what every notification has`(
        _ changes: String,
        _ code: SignalRefusal.Code
    )
        async throws
    {
        let store = try AppStoreSample.store()
        let payload = try store.notificationPayload(
            "TEST",
            signedAt: Self.start,
            AppStoreSample.json(changes)
        )
        // Without its type it does not show to be a notification at all, or is no good one.
        let outcome = try await AppStoreSample.verifier()
            .notification(store.authority.sign(payload), now: AppStoreSample.now)
        #expect(outcome.refusal == code, "\(outcome)")
    }

    @Test func `from production needs the app's id in the configuration`() async throws {
        let jws = try AppStoreSample.store().notification("DID_RENEW", start: Self.start)
        let sandbox = try AppStoreSample.store("Sandbox")
            .notification("DID_RENEW", start: Self.start)
        let verifier = try AppStoreSample.verifier { $0.appAppleID = nil }
        #expect(await verifier.notification(jws, now: AppStoreSample.now).refusal == .wrongApp)
        #expect(await verifier.notification(sandbox, now: AppStoreSample.now).refusal == nil)
        let production = try AppStoreSample.verifier { $0.environments = [.production] }
        #expect(
            await production.notification(sandbox, now: AppStoreSample.now).refusal
                == .wrongEnvironment
        )
    }

    @Test func `has a real one's size`() throws {
        let jws = try AppStoreSample.store().notification("DID_RENEW", start: Self.start)
        print("A simulated notification has \(jws.count) bytes")
        #expect((17_000...23_000).contains(jws.count))
    }
}
