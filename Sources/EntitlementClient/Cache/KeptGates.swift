import Crypto
import Encodings
import Entitlements

/// A gate map with the snapshot that vouches for it by its entity tag: the map itself is not signed.
struct KeptGates: Sendable {
    /// The snapshot's text.
    let snapshot: String
    /// The map as the server wrote it.
    let text: [UInt8]
    let tag: String
    let map: GateMap

    /// Takes a map that a verified snapshot speaks of; nil: it speaks of another, or it is no map.
    init?(_ text: [UInt8], vouchedBy snapshot: VerifiedSnapshot) {
        guard let tag = snapshot.entitlements.gateTag, tag.isSame(as: Self.tag(of: text)),
            // What the server signed is a map; a newer server's may be none of ours.
            let map = (try? JSONValue(parsing: text)).flatMap({ try? GateMap(json: $0) })
        else { return nil }
        self.snapshot = snapshot.text
        self.text = text
        self.tag = tag
        self.map = map
    }

    /// Reads what `bytes` gives, and verifies both.
    static func read(
        _ bytes: [UInt8],
        by keys: TrustedKeys,
        for subject: SnapshotSubject
    ) -> Result<KeptGates, SnapshotRefusal> {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else {
            return .failure(.malformed)
        }
        let text = String(decoding: bytes[..<end], as: UTF8.self)
        return UnverifiedSnapshot(text: text).verified(by: keys, for: subject).flatMap { snapshot in
            let map = Array(bytes[(end + 1)...])
            return KeptGates(map, vouchedBy: snapshot).map { .success($0) } ?? .failure(.claims)
        }
    }

    /// The snapshot, a line feed and the map.
    var bytes: [UInt8] { Array(snapshot.utf8) + [UInt8(ascii: "\n")] + text }

    /// Bytes of SHA-256 that an entity tag has.
    private static let tagByteCount = 16

    /// The entity tag by which the server names an answer: 128 bits of SHA-256 in hexadecimal.
    static func tag(of text: [UInt8]) -> String {
        Hexadecimal.encode(Array(SHA256.hash(data: text).prefix(tagByteCount)))
    }
}
