import Encodings
import Entitlements

/// The three parts of a compact JWS (RFC 7515, section 3.1), found in place; nothing is checked
/// but the form.
struct CompactJWS: Hashable, Sendable {
    /// The whole text.
    let bytes: [UInt8]
    /// Where the first `.` stands.
    let headerEnd: Int
    /// Where the second `.` stands.
    let payloadEnd: Int

    /// An ES256 signature's two numbers of 32 bytes (RFC 7518, section 3.4).
    static let signatureBytes = 64

    init(_ bytes: [UInt8]) throws(SignalRefusal) {
        guard bytes.count <= AppStoreLimits.jwsBytes else {
            throw SignalRefusal(
                .tooLarge,
                "",
                "expected at most \(AppStoreLimits.jwsBytes) bytes"
            )
        }
        let dot = UInt8(ascii: ".")
        guard let first = bytes.firstIndex(of: dot),
            let second = bytes[(first + 1)...].firstIndex(of: dot),
            !bytes[(second + 1)...].contains(dot)
        else {
            throw SignalRefusal(.malformed, "", "expected a compact JWS of three parts")
        }
        guard first <= AppStoreLimits.headerBytes else {
            throw SignalRefusal(
                .tooLarge,
                "header",
                "expected at most \(AppStoreLimits.headerBytes) bytes"
            )
        }
        self.bytes = bytes
        headerEnd = first
        payloadEnd = second
    }

    /// The first part, as text.
    var header: ArraySlice<UInt8> { bytes[..<headerEnd] }

    /// The second part, as text.
    var payload: ArraySlice<UInt8> { bytes[(headerEnd + 1)..<payloadEnd] }

    /// The first part as JSON.
    func decodedHeader() throws(SignalRefusal) -> JSONValue {
        try Self.json(decoded(0..<headerEnd, "header"), "header")
    }

    /// With the second part read.
    func decoded() throws(SignalRefusal) -> DecodedJWS {
        let payload = try decoded((headerEnd + 1)..<payloadEnd, "payload")
        return DecodedJWS(text: self, payload: payload, json: try Self.json(payload, "payload"))
    }

    /// The third part: the signature's two numbers.
    func decodedSignature() throws(SignalRefusal) -> [UInt8] {
        let range = (payloadEnd + 1)..<bytes.count
        guard !range.isEmpty else {
            throw SignalRefusal(.notSigned, "signature", "expected a signature")
        }
        guard let signature = Base64.decode(bytes.span.extracting(range), .url) else {
            throw SignalRefusal(.malformed, "signature", "expected canonical base64url")
        }
        guard signature.count == Self.signatureBytes else {
            throw SignalRefusal(
                .badSignature,
                "signature",
                "expected \(Self.signatureBytes) bytes"
            )
        }
        return signature
    }

    private func decoded(_ range: Range<Int>, _ path: String) throws(SignalRefusal) -> [UInt8] {
        guard let text = Base64.decode(bytes.span.extracting(range), .url) else {
            throw SignalRefusal(.malformed, path, "expected canonical base64url")
        }
        return text
    }

    private static func json(_ text: [UInt8], _ path: String) throws(SignalRefusal) -> JSONValue {
        let json: JSONValue
        do throws(JSONFault) {
            json = try JSONValue(parsingStoreText: text)
        } catch {
            throw SignalRefusal(.malformed, path, "\(error.message) at byte \(error.offset)")
        }
        guard case .object = json else {
            throw SignalRefusal(.malformed, path, "expected a JSON object")
        }
        return json
    }
}
