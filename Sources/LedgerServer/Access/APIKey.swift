import Crypto
import Encodings
package import Entitlements
import EventLog

/// A key of an application, as it is stored: without its secret.
///
/// Its text is `el_<id>_<secret>`: 12 characters of an id, which is not secret, and the base64url
/// of 32 random bytes. `el_[a-z0-9]{12}_[A-Za-z0-9_-]{43}` finds it in a text.
package struct APIKey: Hashable, Sendable {
    /// 12 lower-case letters and digits.
    package let id: String
    /// What its owner calls it.
    package let name: String?
    package let scopes: ScopeSet
    package let createdAt: Instant
    /// The first instant at which it no longer works; nil: without end.
    package let expiresAt: Instant?
    /// SHA-256 of the key's text.
    ///
    /// The secret has 256 random bits, so no salt or slow hash is needed.
    let digest: [UInt8]

    /// Bytes that a name may have at most.
    package static let nameByteLimit = 128

    static let idLength = 12
    static let secretByteCount = 32
    /// Characters of the whole text: `el_`, id, `_`, secret.
    static let textLength = 59

    init(
        id: String,
        name: String?,
        scopes: ScopeSet,
        createdAt: Instant,
        expiresAt: Instant?,
        digest: [UInt8]
    ) {
        self.id = id
        self.name = name
        self.scopes = scopes
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.digest = digest
    }

    /// Makes a key; `text` is shown once and kept nowhere.
    ///
    /// - Precondition: there is a scope, and the name is valid.
    package static func make(
        name: String?,
        scopes: ScopeSet,
        createdAt: Instant,
        expiresAt: Instant?,
        using randomness: inout some RandomNumberGenerator
    ) -> (key: APIKey, text: String) {
        precondition(!scopes.isEmpty, "a key has a scope")
        precondition(name.map(isValidName) ?? true, "a name is checked before")
        let id = String(
            decoding: (0..<idLength).map { _ in
                idAlphabet[Int(randomness.next(upperBound: UInt64(idAlphabet.count)))]
            },
            as: UTF8.self
        )
        let secret = (0..<secretByteCount).map { _ in
            UInt8(truncatingIfNeeded: randomness.next())
        }
        let text = prefix + id + "_" + Base64.encode(secret.span, .url)
        let key = APIKey(
            id: id,
            name: name,
            scopes: scopes,
            createdAt: createdAt,
            expiresAt: expiresAt,
            digest: [UInt8](SHA256.hash(data: Array(text.utf8)))
        )
        return (key, text)
    }

    /// Whether a text can name a key: 1 to 128 bytes without control characters.
    package static func isValidName(_ text: String) -> Bool {
        text.utf8.count <= nameByteLimit && Identifier.isValid(text)
    }

    /// Whether a text has the form of an id.
    static func isID(_ text: some Collection<UInt8>) -> Bool {
        text.count == idLength
            && text.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
            }
    }

    /// The id in a key's text, or nil where it is not one.
    static func id(in text: [UInt8]) -> String? {
        guard text.count == textLength, text.starts(with: prefix.utf8),
            text[prefix.utf8.count + idLength] == UInt8(ascii: "_")
        else { return nil }
        let id = text[prefix.utf8.count..<prefix.utf8.count + idLength]
        return isID(id) ? String(decoding: id, as: UTF8.self) : nil
    }

    /// Whether a text with this digest is the key; the comparison's time tells nothing.
    func matches(_ presented: SHA256.Digest) -> Bool { presented == digest }

    static let prefix = "el_"
    /// Without `l`, `o`, `0` and `1`: people read ids aloud.
    private static let idAlphabet = Array("abcdefghijkmnpqrstuvwxyz23456789".utf8)
}
