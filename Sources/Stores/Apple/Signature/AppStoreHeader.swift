import Encodings
import Entitlements

/// What the first part of an App Store JWS says: how it is signed, and by whom.
struct AppStoreHeader: Hashable, Sendable {
    /// DER, in the order of `x5c`: leaf, intermediate, root (RFC 7515, section 4.1.6).
    let certificates: [[UInt8]]

    /// The one algorithm that the App Store signs with.
    private static let algorithm = "ES256"

    init(_ json: JSONValue) throws(SignalRefusal) {
        try Self.checkAlgorithm(json)
        // What must be understood and is not is refused (RFC 7515, section 4.1.11).
        guard json["crit"] == nil else {
            throw SignalRefusal(.malformed, "header.crit", "expected no critical extensions")
        }
        certificates = try Self.certificates(json)
    }

    private static func checkAlgorithm(_ json: JSONValue) throws(SignalRefusal) {
        let path = "header.alg"
        guard let algorithm = json["alg"]?.string else {
            throw SignalRefusal(.wrongAlgorithm, path, "expected \(algorithm)")
        }
        guard algorithm != "none" else {
            throw SignalRefusal(.notSigned, path, "expected \(Self.algorithm)")
        }
        guard algorithm == Self.algorithm else {
            throw SignalRefusal(.wrongAlgorithm, path, "expected \(Self.algorithm)")
        }
    }

    private static func certificates(_ json: JSONValue) throws(SignalRefusal) -> [[UInt8]] {
        let path = "header.x5c"
        guard let value = json["x5c"] else {
            throw SignalRefusal(.notSigned, path, "expected the certificates")
        }
        guard let items = value.array, items.count == AppStoreLimits.certificateCount else {
            throw SignalRefusal(
                .badChain,
                path,
                "expected \(AppStoreLimits.certificateCount) certificates"
            )
        }
        var certificates: [[UInt8]] = []
        for (index, item) in items.enumerated() {
            certificates.append(try certificate(item, "\(path)[\(index)]"))
        }
        return certificates
    }

    private static func certificate(
        _ item: JSONValue,
        _ path: String
    ) throws(SignalRefusal) -> [UInt8] {
        guard let text = item.string else {
            throw SignalRefusal(.badChain, path, "expected base64")
        }
        guard text.utf8.count / 4 * 3 <= AppStoreLimits.certificateBytes else {
            throw SignalRefusal(
                .tooLarge,
                path,
                "expected at most \(AppStoreLimits.certificateBytes) bytes"
            )
        }
        guard let certificate = Base64.decode(text) else {
            throw SignalRefusal(.badChain, path, "expected canonical base64")
        }
        return certificate
    }
}
