import Encodings
import Entitlements
import EventLog
import LedgerAPI

/// Shows what an event was read from, with what a redaction leaves of it.
///
/// Signed texts (compact JWS, RFC 7515) are read wherever they stand in one another and shown as
/// what they say, without certificates and signature: nothing is left that could be handed in.
struct EvidenceMask {
    private let redaction: ExportRedaction
    /// Members of payloads that name no person: all that `names` leaves.
    private let impersonal: Set<Name>

    /// Signed texts within one another that are read.
    private static let depthLimit = 8

    /// `impersonal`: members of payloads that name no person.
    init(_ redaction: ExportRedaction, impersonal: Set<Name>) {
        self.redaction = redaction
        self.impersonal = impersonal
    }

    /// A received body; text that is no JSON is shown where nothing is hidden, bytes as base64.
    func content(_ bytes: [UInt8]) -> JSONValue {
        switch redaction {
        case .none:
            return String(validating: bytes, as: UTF8.self).map { .string($0) }
                ?? .members(["base64": .string(Base64.encode(bytes.span))])
        case .all: return .null
        case .signatures, .names:
            if let signed = signedText(bytes[...], depth: 0) { return signed }
            guard let json = try? JSONValue(parsingStoreText: bytes) else { return .null }
            return shown(json, depth: 0)
        }
    }

    private func shown(_ value: JSONValue, depth: Int) -> JSONValue {
        switch value {
        case .object(let members): .object(shown(members, depth: depth))
        case .array(let elements): .array(elements.map { shown($0, depth: depth) })
        case .string(let text): signedText(Array(text.utf8)[...], depth: depth) ?? value
        default: value
        }
    }

    /// Members that may be shown, then how many may not.
    private func shown(_ members: [JSONMember], depth: Int) -> [JSONMember] {
        guard redaction == .names else {
            return members.filter { !Self.cut.contains($0.name) }
                .map { JSONMember($0.name, shown($0.value, depth: depth)) }
        }
        let known = members.filter { impersonal.contains($0.name) }
        return known.map { JSONMember($0.name, shown($0.value, depth: depth)) }
            + [JSONMember("masked", .integer(members.count - known.count))]
    }

    /// What a compact JWS says; nil for other texts.
    private func signedText(_ text: ArraySlice<UInt8>, depth: Int) -> JSONValue? {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = json(parts[0]), header.members != nil else {
            return nil
        }
        guard depth < Self.depthLimit, let payload = json(parts[1]) else { return .null }
        return .members([
            "header": shown(header, depth: depth + 1), "payload": shown(payload, depth: depth + 1),
        ])
    }

    private func json(_ part: ArraySlice<UInt8>) -> JSONValue? {
        guard let bytes = Base64.decode(part, .url) else { return nil }
        return try? JSONValue(parsingStoreText: bytes)
    }

    /// Members of a signed text's header that hold the certificates that signed.
    private static let cut: Set<Name> = ["x5c", "x5u", "jwk", "signature"]
}
