import Encodings
import Entitlements
import StoreSimulator
import Testing

@testable import LedgerServer

/// A message that is not what it claims to be, and what it must be answered with.
struct RefusedSignal: Sendable, CustomTestStringConvertible {
    var name: String
    var status: Int
    var code: String
    /// The JWS that is posted.
    var make: @Sendable (SimulatedAppStore) throws -> [UInt8]

    var testDescription: String { name }

    init(
        _ name: String,
        _ status: Int,
        _ code: String,
        _ make: @escaping @Sendable (SimulatedAppStore) throws -> [UInt8]
    ) {
        self.name = name
        self.status = status
        self.code = code
        self.make = make
    }

    private static let start = AppStoreWorld.start
    private static let dot = UInt8(ascii: ".")

    /// A notification that would be taken.
    private static func good(_ store: SimulatedAppStore) throws -> [UInt8] {
        try store.notification("DID_RENEW", id: "bad", start: start)
    }

    private static func payload(
        _ store: SimulatedAppStore,
        _ changes: JSONValue = .object([])
    ) throws -> JSONValue {
        store.notificationPayload(
            "DID_RENEW",
            id: "bad",
            signedAt: start,
            transaction: try store.transaction(start: start),
            renewalInfo: try store.renewalInfo(start: start),
            changes
        )
    }

    /// The good payload under another header.
    private static func signed(
        _ store: SimulatedAppStore,
        algorithm: String? = "ES256",
        _ chain: (_ good: [[UInt8]]) -> [[UInt8]] = { $0 }
    ) throws -> [UInt8] {
        try store.authority.sign(
            Array(payload(store).description.utf8),
            as: SignedForm(algorithm: algorithm, chain: chain(store.authority.certificates))
        )
    }

    /// Any text as the payload.
    private static func signed(_ store: SimulatedAppStore, text: String) throws -> [UInt8] {
        try store.authority.sign(
            Array(text.utf8),
            as: SignedForm(chain: store.authority.certificates)
        )
    }

    /// The good notification of an authority with a defect, under the trusted root.
    private static func defective(
        _ store: SimulatedAppStore,
        _ change: (inout SigningAuthority.Defects) -> Void
    ) throws -> [UInt8] {
        var (store, defects) = (store, SigningAuthority.Defects())
        change(&defects)
        store.authority = try store.authority.renewed(
            validity: AppStoreWorld.validity,
            defects: defects
        )
        return try good(store)
    }

    static let form = [
        RefusedSignal("two parts only", 400, "malformed") {
            Array(try good($0).split(separator: dot).prefix(2).joined(separator: [dot]))
        },
        RefusedSignal("no signature", 422, "not_signed") {
            Array(try good($0).split(separator: dot).prefix(2).joined(separator: [dot])) + [dot]
        },
        RefusedSignal("padded base64url", 400, "malformed") { try good($0) + Array("==".utf8) },
        RefusedSignal("a payload that nests too deeply", 400, "malformed") {
            let depth = 2_000
            let nest = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            return try signed($0, text: #"{"notificationType":"TEST","data":\#(nest)}"#)
        },
        RefusedSignal("a member twice", 400, "malformed") {
            try signed($0, text: #"{"notificationType":"TEST","notificationType":"REFUND"}"#)
        },
        RefusedSignal("a huge number", 400, "out_of_range") {
            let text = try payload($0).description
            let date = #""signedDate":\#(start.milliseconds)"#
            return try signed(
                $0,
                text: text.replacing(date, with: #""signedDate":-9223372036854775808"#)
            )
        },
        RefusedSignal("a gigantic certificate", 413, "too_large") {
            try signed($0) { _ in Array(repeating: Array(repeating: 7, count: 9_000), count: 3) }
        },
        RefusedSignal("a gigantic header", 413, "too_large") {
            try signed($0) { _ in Array(repeating: Array(repeating: 7, count: 20_000), count: 9) }
        },
        RefusedSignal("a gigantic payload", 413, "too_large") {
            let filler = String(repeating: "x", count: 250_000)
            return try $0.authority.sign(payload($0, .members(["filler": .string(filler)])))
        },
    ]

    static let signature = [
        RefusedSignal("alg none", 422, "not_signed") { try signed($0, algorithm: "none") },
        RefusedSignal("alg HS256", 422, "wrong_algorithm") { try signed($0, algorithm: "HS256") },
        RefusedSignal("alg RS256", 422, "wrong_algorithm") { try signed($0, algorithm: "RS256") },
        RefusedSignal("no alg", 422, "wrong_algorithm") { try signed($0, algorithm: nil) },
        RefusedSignal("a changed payload", 422, "bad_signature") {
            var parts = try good($0).split(separator: dot)
            parts[1] = try $0.notification("REFUND", id: "bad", start: start)
                .split(separator: dot)[1]
            return Array(parts.joined(separator: [dot]))
        },
        RefusedSignal("two certificates", 422, "bad_chain") { try signed($0) { Array($0[..<2]) } },
        RefusedSignal("four certificates", 422, "bad_chain") { try signed($0) { $0 + [$0[2]] } },
        RefusedSignal("the leaf thrice", 422, "untrusted_root") {
            try signed($0) { [$0[0], $0[0], $0[0]] }
        },
        RefusedSignal("certificates swapped", 422, "wrong_oid") {
            try signed($0) { [$0[1], $0[0], $0[2]] }
        },
        RefusedSignal("bytes that are no certificates", 422, "bad_chain") {
            try signed($0) { _ in [[1], [2], [3]] }
        },
        RefusedSignal("a leaf for another use", 422, "wrong_oid") {
            try defective($0) { $0.leafIsUnmarked = true }
        },
        RefusedSignal("an intermediate for another use", 422, "wrong_oid") {
            try defective($0) { $0.intermediateIsUnmarked = true }
        },
        RefusedSignal("a leaf that had expired", 422, "expired_certificate") {
            try defective($0) {
                $0.leafValidity =
                    start.plus(seconds: -86_400 * 20)..<start.plus(seconds: -86_400)
            }
        },
        RefusedSignal("somebody's root with Apple's name", 422, "untrusted_root") {
            var (store, defects) = ($0, SigningAuthority.Defects())
            defects.rootName = "Apple Root CA - G3"
            store.authority = try SigningAuthority(
                validity: AppStoreWorld.validity,
                defects: defects
            )
            return try good(store)
        },
    ]

    static let content = [
        RefusedSignal("another bundle", 422, "wrong_bundle") {
            var store = $0
            store.bundleID = "com.example.other"
            return try good(store)
        },
        RefusedSignal("another app", 422, "wrong_app") {
            var store = $0
            store.appAppleID += 1
            return try good(store)
        },
        RefusedSignal("another environment", 422, "wrong_environment") {
            var store = $0
            store.environment = "Xcode"
            return try good(store)
        },
        RefusedSignal("a date to come", 422, "future_date") {
            try $0.notification("DID_RENEW", id: "bad", start: noon.plus(seconds: 7200))
        },
        RefusedSignal("parts of two purchases", 422, "disagreement") {
            try $0.notification(
                "DID_RENEW",
                id: "bad",
                start: start,
                renewalInfo: .members(["originalTransactionId": "2000000100000002"])
            )
        },
        RefusedSignal("a nested part of another signer", 422, "untrusted_root") {
            let other = SimulatedAppStore(
                authority: try SigningAuthority(validity: AppStoreWorld.validity)
            )
            return try $0.authority.sign(
                $0.notificationPayload(
                    "DID_RENEW",
                    id: "bad",
                    signedAt: start,
                    transaction: other.transaction(start: start)
                )
            )
        },
        RefusedSignal("no date of signing", 400, "missing_field") {
            try $0.authority.sign(payload($0, .members(["signedDate": .null])))
        },
        RefusedSignal("a transaction in a notification's place", 400, "invalid_value") {
            try $0.transaction(start: start)
        },
    ]

    static let all = form + signature + content
}
