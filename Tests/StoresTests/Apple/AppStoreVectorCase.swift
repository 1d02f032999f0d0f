import Encodings
import Entitlements
import ModelSupport
import StoreSimulator
import Stores
import SwiftASN1

/// One case of the vectors, judged by a verifier that is set up as the case says.
struct AppStoreVectorCase {
    let id: String
    let jws: [UInt8]
    let kind: AppStoreSignalKind
    let verifier: any AppStoreSignalVerifier
    /// Whether the vectors say that it is to be accepted.
    let isValid: Bool

    /// After every message of the vectors that is to be accepted was signed.
    static let now = Instant(milliseconds: 1_793_000_000_000)

    /// A case of `cases-jws.json`.
    init(_ json: JSONValue) throws {
        id = json["id"]?.string ?? ""
        if let text = json["inline"]?.string {
            jws = Array(text.utf8)
        } else {
            jws = try Self.text("apple/\(json["file"]?.string ?? "")")
        }
        kind = Self.kinds[json["kind"]?.string ?? ""] ?? .notification
        isValid = json["expected"]?.string == "valid"
        let bundleIDs = Set([json["bundleId"]?.string].compactMap { $0 })
        switch json["environment"]?.string {
        case "Xcode", "LocalTesting": verifier = LocalTestingVerifier(bundleIDs: bundleIDs)
        case let word:
            verifier = try AppStoreVerifier(
                AppStoreConfiguration(
                    bundleIDs: bundleIDs,
                    appAppleID: json["appAppleId"]?.integer,
                    environments: [word == "Production" ? .production : .sandbox],
                    roots: [Self.root(json["root"]?.string ?? "")]
                )
            )
        }
    }

    private static let kinds: [String: AppStoreSignalKind] = [
        "notification": .notification, "transaction": .transaction, "renewal": .renewalInfo,
        "appTransaction": .appTransaction,
    ]

    /// A file without the line feed at its end.
    static func text(_ path: String) throws -> [UInt8] {
        var bytes = try Vectors.bytes(path)
        while bytes.last == 0x0A { bytes.removeLast() }
        return bytes
    }

    /// A root certificate as DER, from DER or PEM.
    static func root(_ path: String) throws -> [UInt8] {
        let bytes = try Vectors.bytes("apple/" + path)
        guard path.hasSuffix(".pem") else { return bytes }
        return try PEMDocument(pemString: String(decoding: bytes, as: UTF8.self)).derBytes
    }

    /// What our verifier says.
    func outcome() async -> Result<VerifiedAppStoreSignal, SignalRefusal> {
        await verifier.signal(jws, expecting: kind, now: Self.now)
    }
}

extension Result where Failure == SignalRefusal {
    /// The code of a refusal, nil for what is accepted.
    var refusal: SignalRefusal.Code? {
        if case .failure(let refusal) = self { refusal.code } else { nil }
    }
}
